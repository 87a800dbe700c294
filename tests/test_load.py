import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

import honestybench
from honestybench.errors import MissingExtraError, ReleaseError, UnknownNameError
from honestybench.schema import ANNOTATED_SCHEMA, QUESTIONS_SCHEMA

LLM = "made-up-llm"
HEAVY = ("torch", "vllm", "datasets", "pandas", "sklearn", "ray", "scipy", "huggingface_hub", "transformers")


@pytest.fixture(scope="module")
def release(small_release: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("built") / "release"
    small_release.write(folder, default_config=LLM)
    return folder


@pytest.mark.parametrize(
    "module", ["honestybench", "honestybench.shards", "honestybench.verify", "honestybench.cli.main"]
)
def test_an_import_is_light(module: str) -> None:
    code = f"import sys, {module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_default_config_and_all_its_splits_are_loaded(release: Path) -> None:
    table = honestybench.load(release=release)
    assert isinstance(table, pa.Table)
    assert table.schema.equals(ANNOTATED_SCHEMA)
    assert table.num_rows == 13


def test_a_config_and_a_split_are_chosen_by_name(release: Path) -> None:
    table = honestybench.load("questions", "ood", release=str(release))
    assert table.schema.equals(QUESTIONS_SCHEMA)
    assert set(table["source"].to_pylist()) == {"popqa", "squad", "webquestions"}


def test_the_embedded_sample_is_the_default(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Path(honestybench.__file__).parent / "sample" == honestybench.SAMPLE
    monkeypatch.setattr(honestybench, "SAMPLE", release)
    assert honestybench.load(split="test").num_rows == 10


def test_a_dataset_has_the_same_rows(release: Path) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = honestybench.load(split="ood", release=release, as_dataset=True)
    assert isinstance(dataset, datasets.Dataset)
    assert dataset.to_list() == honestybench.load(split="ood", release=release).to_pylist()


def test_without_datasets_the_remedy_is_told(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"'datasets'.*pip install datasets"):
        honestybench.load(release=release, as_dataset=True)


@pytest.mark.parametrize("names", [("nope", None), (None, "dev"), ("", None)])
def test_unknown_names_are_refused(release: Path, names: tuple[str | None, str | None]) -> None:
    with pytest.raises(UnknownNameError, match="known: "):
        honestybench.load(*names, release=release)


def test_a_folder_without_a_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no release here"):
        honestybench.load(release=tmp_path)
