import hashlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from honestybench.schema import ANNOTATED_SCHEMA

LLM = "made-up-llm"


@pytest.fixture(scope="module")
def release(small_release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("built") / "release"
    small_release.write(folder)
    return folder


@pytest.fixture
def description(release: Path) -> Any:
    return json.loads((release / "croissant.json").read_text())


def test_every_shard_stands_there_with_its_hash(release: Path, description: Any) -> None:
    files = {each["contentUrl"]: each for each in description["distribution"] if each["@type"] == "cr:FileObject"}
    assert set(files) == {path.relative_to(release).as_posix() for path in release.rglob("*.parquet")}
    for name, file in files.items():
        data = (release / name).read_bytes()
        assert (file["sha256"], file["contentSize"]) == (hashlib.sha256(data).hexdigest(), f"{len(data)} B")


def test_every_column_is_a_field_with_its_type(description: Any) -> None:
    fields = {field["name"]: field for field in description["recordSet"][1]["field"]}
    assert list(fields) == ANNOTATED_SCHEMA.names
    assert fields["question"]["dataType"] == "sc:Text" and "isArray" not in fields["question"]
    assert (fields["answers"]["dataType"], fields["answers"]["arrayShape"]) == ("sc:Text", "-1")
    verdicts = fields["sampling_correctness"]
    assert (verdicts["dataType"], verdicts["isArray"], verdicts["arrayShape"]) == ("sc:Integer", True, "20")
    assert fields["self_consistency"]["dataType"] == "sc:Float"


def test_mlcroissant_accepts_it_and_reads_the_rows(release: Path) -> None:
    mlc = pytest.importorskip("mlcroissant", reason="mlcroissant is heavy and no dependency: pip install mlcroissant")
    dataset = mlc.Dataset(str(release / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    rows = list(dataset.records(LLM))
    # Thirteen questions in tests/fixtures/release/questions.jsonl.
    assert len(rows) == 13
    assert {row[f"{LLM}/greedy_finish_reason"] for row in rows} == {b"stop"}
