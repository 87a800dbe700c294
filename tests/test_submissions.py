"""The committed submissions are what the commands write from the committed sample, and score as their cards say."""

from datetime import date
from pathlib import Path

import pytest

from honestybench import SAMPLE
from honestybench.baselines import BASELINES, write_baselines
from honestybench.labels import labels_of_release, write_labels
from honestybench.passes.table import PASSES
from honestybench.release import only_llm
from honestybench.scorecard import read_comparison, rounded
from honestybench.scoring import score_all
from honestybench.scoring.recheck import differences, verify_submission

SUBMISSIONS = Path(__file__).resolve().parent.parent / "submissions"
SYSTEMS = sorted(path.parent for path in SUBMISSIONS.glob("*/*/system.yaml"))
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
    assert set(written) == set(BASELINES) <= held <= {*BASELINES, *PASSES}
    names = ["release.json", "labels.parquet", *(f"{name}/confidences.jsonl" for name in BASELINES)]
    assert [name for name in names if (tmp_path / name).read_bytes() != (committed / name).read_bytes()] == []
