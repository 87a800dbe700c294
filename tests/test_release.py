import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from honestybench.errors import DataError, ReleaseError, UnknownNameError
from honestybench.release import Manifest, card_place, content_id, read_manifest

LLM = "made-up-llm"


@pytest.fixture(scope="module")
def release(small_release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("built") / "release"
    small_release.write(folder)
    return folder


@pytest.fixture
def value(release: Path) -> Any:
    return json.loads((release / "manifest.json").read_text())


def test_the_release_id_is_the_hash_of_the_canonical_content() -> None:
    # printf '{"a":"é","b":1}' | sha256sum
    assert content_id({"b": 1, "a": "é"}) == "aa58fba8483623bed37c1b02edfccbdd9a53123837c20bfa4cb4049993a2872e"


def test_a_manifest_survives_its_file(small_release: ModuleType, release: Path, value: Any) -> None:
    manifest = read_manifest(release)
    assert manifest.to_json() == (release / "manifest.json").read_text()
    assert set(value) == {"content", "environment", "release_id"}
    assert manifest.configs == ("questions", LLM)
    assert manifest.splits(LLM) == ("train", "in_domain", "ood", "mmlu")
    assert manifest.aliases(LLM) == {"test": ("in_domain", "ood")}
    assert [shard["rows"] for shard in manifest.select(LLM)] == [2, 4, 6, 1]


def test_the_environment_is_outside_the_release_id(value: Any) -> None:
    content = value["content"]
    here, there = Manifest.of(content, {"cpu": "a"}), Manifest.of(content, {"cpu": "b"})
    assert here.release_id == there.release_id == value["release_id"]
    assert Manifest.of({**content, "config_hash": "other"}, {}).release_id != here.release_id


def test_the_default_config_comes_first(value: Any) -> None:
    assert Manifest.of({**value["content"], "default_config": LLM}, {}).configs == (LLM, "questions")


def test_an_alias_reads_the_splits_there_are(value: Any) -> None:
    content = value["content"]
    content["shards"] = [shard for shard in content["shards"] if shard["split"] in ("ood", "mmlu")]
    assert Manifest.of(content, {}).aliases(LLM) == {"test": ("ood",)}
    content["shards"] = [shard for shard in content["shards"] if shard["split"] == "mmlu"]
    manifest = Manifest.of(content, {})
    assert manifest.aliases(LLM) == {}
    with pytest.raises(UnknownNameError, match=r"known: mmlu$"):
        manifest.select(LLM, "test")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "cannot be read"),
        ('{"content": {', "cannot be read"),
        ("[]", "manifest must be an object"),
        ("{}", "manifest.content is missing; manifest.environment is missing; manifest.release_id is missing"),
        ('{"content": NaN}', "NaN is not JSON"),
        ('{"release_id": "\\ud800"}', "surrogates"),
        ("[" * 100_000, "cannot be read"),
        ('{"content": 1' + "0" * 5000 + "}", "cannot be read"),
    ],
)
def test_a_manifest_that_is_none_is_one_clear_error(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ReleaseError) as caught:
        read_manifest(tmp_path)
    assert fault in str(caught.value) and str(tmp_path) in str(caught.value) and "Remedy" in str(caught.value)


def test_bytes_that_are_no_text_are_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(ReleaseError, match="cannot be read"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("name", ["missing", "file"])
def test_no_release_is_one_clear_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReleaseError, match=r"Remedy"):
        read_manifest(tmp_path / name)


def set_at(*path: str | int, to: object) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = to

    return change


def drop(*path: str | int) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for key in path[:-1]:
            content = content[key]
        del content[path[-1]]

    return change


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (drop("judge"), "manifest.content.judge is missing"),
        (drop("sources", "nq", "spdx"), "manifest.content.sources.nq.spdx is missing"),
        (drop("shards", 0, "sha256"), "manifest.content.shards[0].sha256 is missing"),
        (set_at("partial", to="no"), "manifest.content.partial must be bool, not 'no'"),
        (set_at("shards", 0, "rows", to=True), "manifest.content.shards[0].rows must be int, not True"),
        (set_at("counts", "nq", to=[]), "manifest.content.counts.nq must be an object"),
        (set_at("shards", to={}), "manifest.content.shards must be a list"),
        (set_at("sources", "nq", "note", to=1), "manifest.content.sources.nq.note must be str or null, not 1"),
        (set_at("schema_version", to="0"), "schema version '0', but this honestybench reads '1'"),
        (set_at("default_config", to="nope"), "the default config 'nope' has no shard"),
        (set_at("shards", 0, "path", to="../../secret"), "are not numbered in order: ../../secret"),
        (set_at("shards", 0, "split", to="dev"), "unknown split 'dev'"),
        (set_at("shards", 0, "config", to=".."), "config '..' must be lower case"),
    ],
)
def test_a_manifest_out_of_contract_names_the_place(
    value: Any, tmp_path: Path, change: Callable[[Any], None], fault: str
) -> None:
    change(value["content"])
    (tmp_path / "manifest.json").write_text(json.dumps(value))
    with pytest.raises(ReleaseError) as caught:
        read_manifest(tmp_path)
    assert fault in str(caught.value)


def test_all_faults_are_told_at_once_up_to_twenty(value: Any, tmp_path: Path) -> None:
    for source in value["content"]["sources"].values():
        source.clear()
    (tmp_path / "manifest.json").write_text(json.dumps(value))
    with pytest.raises(ReleaseError) as caught:
        read_manifest(tmp_path)
    # Seven sources with five keys each.
    assert str(caught.value).count("is missing") == 20
    assert "and 15 more" in str(caught.value)


@pytest.mark.parametrize("odd", [{1, 2}, float("nan"), Path("x")])
def test_content_that_is_no_json_is_refused(value: Any, odd: object) -> None:
    with pytest.raises(DataError, match="plain JSON"):
        Manifest.of({**value["content"], "judge": {"odd": odd}}, {})


def test_equal_content_in_another_key_order_is_the_same_release(value: Any) -> None:
    shuffled = dict(reversed(copy.deepcopy(value["content"]).items()))
    assert Manifest.of(shuffled, {}).to_json() == Manifest.of(value["content"], {}).to_json()


def test_the_card_stands_in_the_release_or_beside_a_package(release: Path, tmp_path: Path) -> None:
    assert card_place(release) == (release.resolve() / "README.md", "data")
    shutil.copytree(release, tmp_path / "package" / "sample")
    (tmp_path / "package" / "__init__.py").write_text("")
    place = tmp_path.resolve() / "package" / "README.md"
    assert card_place(tmp_path / "package" / "sample") == (place, "sample/data")
