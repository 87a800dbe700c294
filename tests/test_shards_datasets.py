"""What `datasets.load_dataset` makes of a release: from its folder, after a rebuild, and by the package's name."""

import os
from pathlib import Path
from types import ModuleType

import pyarrow.compute as pc
import pytest

from honestybench.errors import UsageError
from honestybench.release import read_manifest
from honestybench.schema import ANNOTATED_SCHEMA, QUESTIONS_SCHEMA
from honestybench.shards import read_table, write_sample
from honestybench.verify import verify_release

LLM = "made-up-llm"


@pytest.fixture(scope="module")
def release(small_release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("built") / "honestybench"
    small_release.write(folder)
    return folder


def load(folder: Path, cache: Path, *arguments: str, **options: object):  # type: ignore[no-untyped-def]
    datasets = pytest.importorskip("datasets")
    return datasets.load_dataset(str(folder), *arguments, cache_dir=str(cache), **options)


def test_datasets_reads_equal_rows_and_types(release: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    for config, schema in (("questions", QUESTIONS_SCHEMA), (LLM, ANNOTATED_SCHEMA)):
        loaded = load(release, tmp_path, config)
        assert sorted(loaded) == ["in_domain", "mmlu", "ood", "test", "train"]
        for split, dataset in loaded.items():
            assert dataset.features == datasets.Features.from_arrow_schema(schema)
            assert dataset.to_list() == read_table(release, config, split).to_pylist()
    assert loaded["ood"].features["sampling_correctness"] == datasets.List(datasets.Value("int8"), length=20)


def test_datasets_default_config_filters_and_columns(release: Path, tmp_path: Path) -> None:
    assert load(release, tmp_path, split="ood").column_names == QUESTIONS_SCHEMA.names
    filters = [("source", "==", "popqa")]
    chosen = load(release, tmp_path, LLM, split="test", filters=filters, columns=["id", "source", "self_consistency"])
    table = read_table(release, LLM, "ood", columns=["id", "source", "self_consistency"])
    assert chosen.num_rows == 3
    assert chosen.to_list() == table.filter(pc.field("source") == "popqa").to_pylist()


def test_datasets_sees_a_rebuilt_release(small_release: ModuleType, tmp_path: Path) -> None:
    out, cache = tmp_path / "honestybench", tmp_path / "cache"
    small_release.write(out)
    assert load(out, cache, LLM, split="ood").num_rows == 6
    small_release.write(out, small_release.records()[:8])
    # The eight first records by source and id: hotpotqa 2, mmlu 1, nq 2, pararel 2, popqa 1.
    assert load(out, cache, LLM, split="ood").num_rows == 1


def test_datasets_sees_one_changed_label_in_a_file_of_equal_size(small_release: ModuleType, tmp_path: Path) -> None:
    out, cache = tmp_path / "honestybench", tmp_path / "cache"
    sizes, labels = [], []
    for label in (0, 1):
        small_release.write(out, change=lambda row, label=label: row | {"greedy_correctness": label})
        sizes.append([(shard["size_bytes"], shard["arrow_bytes"]) for shard in read_manifest(out).select(LLM)])
        labels.append(load(out, cache, LLM, split="ood")["greedy_correctness"][0])
    assert sizes[0] == sizes[1]
    assert labels == [0, 1]


def test_the_embedded_sample_loads_by_the_package_name(
    small_release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    package = tmp_path / "checkout" / "honestybench"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    for records in (small_release.records()[:8], small_release.records()):
        small_release.write(tmp_path / "built", records, default_config=LLM)
        write_sample(tmp_path / "built", package)
    assert verify_release(package / "sample") == []
    assert not (package / "sample" / "README.md").exists()
    assert sorted(path.name for path in package.iterdir()) == ["README.md", "__init__.py", "sample"]
    monkeypatch.chdir(tmp_path / "checkout")
    loaded = datasets.load_dataset("honestybench", cache_dir=str(tmp_path / "cache"))
    assert {split: dataset.num_rows for split, dataset in loaded.items()} == {
        "train": 2,
        "in_domain": 4,
        "ood": 6,
        "mmlu": 1,
        "test": 10,
    }
    assert loaded["test"].column_names == ANNOTATED_SCHEMA.names


def test_a_sample_needs_a_package(release: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no Python package here"):
        write_sample(release, tmp_path)
    assert os.listdir(tmp_path) == []
