from pathlib import Path

import pytest
from click.testing import CliRunner

from honestybench import SAMPLE
from honestybench.cli.recalibrate import recalibrate
from honestybench.errors import SubmissionError, UsageError
from honestybench.submission import read_system


def run(*arguments: object) -> tuple[BaseException | None, str]:
    result = CliRunner().invoke(recalibrate, [str(each) for each in arguments])
    return result.exception, result.output


def test_a_baseline_of_the_sample_by_default_names(tmp_path: Path) -> None:
    error, output = run(SAMPLE, "--of", "prob", "--method", "platt", "--labels", 20, "--out", tmp_path)
    assert error is None
    folder = tmp_path / "prob-platt-20"
    assert output.startswith(f"{folder}: 408 confidences, 3 x 20 labels")
    assert len(list(folder.glob("confidences-seed[012].jsonl"))) == 3
    assert read_system(folder / "system.yaml").labels_used == 20
    error, output = run(SAMPLE, "--of", "prob", "--method", "beta", "--out", tmp_path, "--name", "mine")
    assert error is None and "1 x 40 labels" in output
    assert (tmp_path / "mine" / "confidences.jsonl").is_file()
    assert run(SAMPLE, "--of", "prob", "--method", "beta", "--out", tmp_path)[0] is None
    assert (tmp_path / "prob-beta-all").is_dir()


@pytest.mark.parametrize("given", [[], ["--of", "prob", "--confidences"], ["--confidences"], ["--train-confidences"]])
def test_one_confidence_must_be_named(given: list[str], tmp_path: Path) -> None:
    file = tmp_path / "confidences.jsonl"
    file.write_text("", encoding="utf-8")
    options = [*given, file] if given else []
    error, _ = run(SAMPLE, "--method", "platt", "--out", tmp_path, *options)
    assert isinstance(error, UsageError) and "give --of, or --confidences" in str(error)


def test_another_llms_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "release.json").write_text("{}", encoding="utf-8")
    error, _ = run(SAMPLE, "--of", "prob", "--method", "platt", "--out", tmp_path)
    assert isinstance(error, SubmissionError)
