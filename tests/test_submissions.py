"""The committed submissions are what the commands write from the committed sample, and score as their cards say."""

from datetime import date
from pathlib import Path

import pytest

from honestybench import SAMPLE
from honestybench.baselines import BASELINES, write_baselines
from honestybench.labels import labels_of_release, write_labels
from honestybench.passes.table import PASSES
from honestybench.recalibrate import stored_base, write_recalibrated
from honestybench.release import only_llm
from honestybench.scorecard import read_comparison, rounded
from honestybench.scoring import score_all
from honestybench.scoring.recheck import differences, verify_submission

SUBMISSIONS = Path(__file__).resolve().parent.parent / "submissions"
SYSTEMS = sorted(path.parent for path in SUBMISSIONS.glob("*/*/system.yaml"))
RECALIBRATED = {
    "prob-platt-40": ("prob", "platt"),
    "consistency_semantic-platt-40": ("consistency_semantic", "platt"),
    "consistency_semantic-isotonic-40": ("consistency_semantic", "isotonic"),
}
LLMS = sorted(path.parent for path in SUBMISSIONS.glob("*/release.json"))


@pytest.mark.parametrize("folder", SYSTEMS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_the_card_is_what_scoring_gives(folder: Path) -> None:
    assert verify_submission(folder) == []


@pytest.mark.parametrize("folder", LLMS, ids=lambda folder: folder.name)
def test_the_comparison_is_what_scoring_gives(folder: Path) -> None:
    _, comparison = score_all(folder)
    assert list(differences(read_comparison(folder / "comparison.json"), rounded(comparison), "")) == []


def test_labels_and_baselines_are_those_of_the_sample(tmp_path: Path) -> None:
    llm = only_llm(SAMPLE)
    committed = SUBMISSIONS / llm
    write_labels(labels_of_release(SAMPLE), tmp_path)
    written = write_baselines(SAMPLE, llm, tmp_path, date.today())
    held = {path.parent.name for path in committed.glob("*/confidences.jsonl")}
    assert set(written) == set(BASELINES) <= held <= {*BASELINES, *PASSES, *RECALIBRATED}
    names = ["release.json", "labels.parquet", *(f"{name}/confidences.jsonl" for name in BASELINES)]
    assert [name for name in names if (tmp_path / name).read_bytes() != (committed / name).read_bytes()] == []


@pytest.mark.parametrize("name", RECALIBRATED)
def test_recalibrated_rows_are_those_of_the_sample(name: str, tmp_path: Path) -> None:
    llm, (of, method) = only_llm(SAMPLE), RECALIBRATED[name]
    base = stored_base(SAMPLE, llm, of)
    write_recalibrated(SAMPLE, llm, base, method, tmp_path / name, n_labels=40, n_seeds=1, today=date.today())
    found = (tmp_path / name / "confidences.jsonl").read_text(encoding="utf-8")
    assert found == (SUBMISSIONS / llm / name / "confidences.jsonl").read_text(encoding="utf-8")
