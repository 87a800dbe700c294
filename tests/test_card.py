import json
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from honestybench.card import CITATION, render_card
from honestybench.release import Manifest, read_manifest

LLM = "made-up-llm"
NASTY = "a|b `code` <script>alert(1)</script> [link](http://x) **bold** _it_ \\| &amp; $x$ ~s~ # é\nnext line ---"


@pytest.fixture(scope="module")
def release(small_release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("built") / "release"
    small_release.write(folder)
    return folder


@pytest.fixture
def content(release: Path) -> Any:
    return json.loads((release / "manifest.json").read_text())["content"]


def header(card: str) -> Any:
    assert card.startswith("---\n")
    return yaml.safe_load(card.split("---\n")[1])


def cells(card: str) -> list[str]:
    """The text of every table cell and list item as a Markdown reader sees it."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(card.split("---\n", 2)[2])
    texts = []
    for before, token in pairwise(tokens):
        if token.type == "inline" and before.type in ("td_open", "paragraph_open", "heading_open"):
            assert all(
                child.type
                in ("text", "code_inline", "link_open", "link_close", "softbreak", "strong_open", "strong_close")
                for child in token.children or []
            )
            texts.append("".join(child.content for child in token.children or []))
    return texts


def test_the_yaml_names_every_config_once_and_one_default(release: Path) -> None:
    head = header((release / "README.md").read_text())
    assert [config["config_name"] for config in head["configs"]] == ["questions", LLM]
    assert [config.get("default", False) for config in head["configs"]] == [True, False]
    assert [info["config_name"] for info in head["dataset_info"]] == ["questions", LLM]
    assert all("splits" not in info for info in head["dataset_info"])
    assert head["license"] == ["cc-by-sa-4.0", "other"]
    assert head["size_categories"] == "n<1K"


def test_every_glob_finds_the_files_of_its_split(release: Path) -> None:
    for config in header((release / "README.md").read_text())["configs"]:
        found = {}
        for files in config["data_files"]:
            globs = [files["path"]] if isinstance(files["path"], str) else files["path"]
            found[files["split"]] = [path.name.split("-")[0] for glob in globs for path in release.glob(glob)]
        one_each = {split: [split] for split in ("train", "in_domain", "ood", "mmlu")}
        assert found == {**one_each, "test": ["in_domain", "ood"]}


def test_datasets_and_the_hub_library_read_the_yaml(release: Path) -> None:
    datasets = pytest.importorskip("datasets")
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCard

    data = DatasetCard.load(release / "README.md").data
    configs = MetadataConfigs.from_dataset_card_data(data)
    assert configs.get_default_config_name() == "questions"
    sizes = datasets.info.DatasetInfosDict.from_dataset_card_data(data)[LLM]
    files = list((release / "data" / LLM).iterdir())
    assert sizes.download_size == sum(file.stat().st_size for file in files)


def test_the_release_id_stands_in_the_yaml_of_each_config(release: Path) -> None:
    release_id = read_manifest(release).release_id
    head = header((release / "README.md").read_text())
    assert [config["description"] for config in head["configs"]] == [f"release {release_id}"] * 2


def test_a_card_elsewhere_points_at_the_data(release: Path) -> None:
    card = render_card(read_manifest(release), data_prefix="sample/data")
    paths = [files["path"] for files in header(card)["configs"][0]["data_files"]]
    assert paths[0] == "sample/data/questions/train-*.parquet"
    assert paths[-1] == ["sample/data/questions/in_domain-*.parquet", "sample/data/questions/ood-*.parquet"]


def test_splits_without_rows_are_not_named(content: Any) -> None:
    content["shards"] = [shard for shard in content["shards"] if shard["split"] == "train"]
    card = render_card(Manifest.of(content, {}))
    assert [files["split"] for files in header(card)["configs"][0]["data_files"]] == ["train"]
    assert "`test`" not in card


@pytest.mark.parametrize(
    ("rows", "category"), [(999, "n<1K"), (1_000, "1K<n<10K"), (100_000, "100K<n<1M"), (1_000_000, "1M<n<10M")]
)
def test_the_size_category_is_the_hubs(content: Any, rows: int, category: str) -> None:
    for shard in content["shards"]:
        shard["rows"] = rows if shard["split"] == "ood" else 0
    assert header(render_card(Manifest.of(content, {})))["size_categories"] == category


def test_tables_hold_the_manifests_numbers(release: Path) -> None:
    card = (release / "README.md").read_text()
    # Counted by hand in tests/fixtures/release/questions.jsonl.
    assert "| `popqa` | 0 | 0 | 3 | 0 |" in card
    assert "| total | 2 | 4 | 6 | 1 |" in card
    assert "| `duplicate` | repeats an earlier example of its source and split: same question, same golds | 1 |" in card
    # webquestions: one row, 41 verdicts, 21 of them unparsed (the fixture's thirteenth row): 21 / 41 = 51.22 %.
    assert "| `webquestions` | 41 | 21 | 51.22% |" in card
    assert "0" * 64 in card
    assert CITATION in card and "arXiv:2510.17509" in card


def test_only_a_partial_build_says_so(content: Any) -> None:
    assert "partial build" in render_card(Manifest.of(content, {}))
    assert "partial build" not in render_card(Manifest.of({**content, "partial": False}, {}))


def test_text_from_data_is_shown_as_it_is(content: Any) -> None:
    for key in ("title", "spdx", "attribution", "url", "note"):
        content["sources"]["nq"][key] = NASTY
    content["llms"][LLM]["name"] = content["llms"][LLM]["description"] = NASTY
    content["judge"] = {NASTY: NASTY}
    content["prompts"] = {NASTY: {"sha256": "0"}}
    flat = " ".join(NASTY.split())
    seen = cells(render_card(Manifest.of(content, {})))
    assert seen.count(flat) == 6
    assert f"Answers by {flat}: {flat}." in seen
    assert f"{flat}: {flat}" in seen


@pytest.mark.parametrize("key", ["a|b", "a`b", "<b>", "a_b", " "])
def test_names_of_prompts_are_shown_as_they_are(content: Any, key: str) -> None:
    content["prompts"] = {key: {"sha256": "0"}}
    assert cells(render_card(Manifest.of(content, {})))[-9:].count(key.strip()) == 1


def test_odd_addresses_become_text_not_links(content: Any) -> None:
    content["sources"]["nq"]["url"] = "javascript:alert(1)"
    assert "<javascript" not in render_card(Manifest.of(content, {}))


def test_the_yaml_of_a_small_manifest_is_the_golden_one(content: Any) -> None:
    content["shards"] = [
        {
            "path": f"data/{config}/{split}-00000-of-00001.parquet",
            "config": config,
            "split": split,
            "rows": 700,
            "size_bytes": size_bytes,
            "arrow_bytes": 10 * size_bytes,
            "sha256": "0" * 64,
        }
        for config, split, size_bytes in (("questions", "ood", 1000), (LLM, "train", 200), (LLM, "ood", 30))
    ]
    manifest = Manifest.of(content, {})
    golden = (Path(__file__).parent / "golden" / "card_header.yaml").read_text()
    assert render_card(manifest).split("---\n")[1] == golden.replace("RELEASE_ID", manifest.release_id)
