"""`honestybench elical` as people call it, on a tiny LLM."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from honestybench.elical.config import STAGES, SYSTEMS

Run = Callable[..., subprocess.CompletedProcess[str]]
QUICK = ("--epochs", "2", "--batch-size", "32")


@pytest.fixture()
def call(checkout: Path, tmp_path: Path) -> Run:
    """Run the command in a folder of its own, as a process."""

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
        return subprocess.run(
            [sys.executable, "-c", MAIN, "elical", *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


MAIN = "from honestybench.cli.main import main; main()"


@pytest.mark.slow
def test_both_stages_and_prediction(call: Run, release: Path, tmp_path: Path) -> None:
    first = call("train", release, "--stage", "elicit", "--out", "elicited", *QUICK)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("elicited: 120 questions, 0 labels, epoch ")
    second = call(
        "train", release, "--stage", "calibrate", "--start", "elicited", "--labels", "30", "--out", "done", *QUICK
    )
    assert second.returncode == 0, second.stderr
    assert second.stdout.startswith("done: 30 questions, 30 labels, epoch ")
    third = call("predict", "done", release, "--out", "rows/elical-30")
    assert (third.returncode, third.stdout) == (0, "rows/elical-30: 90 confidences\n"), third.stderr
    again = call("train", release, "--stage", "elicit", "--out", "elicited", *QUICK)
    assert again.stdout == first.stdout


@pytest.mark.slow
def test_a_grid(call: Run, release: Path, tmp_path: Path) -> None:
    done = call(
        *("run", release, "--out", "models", "--submissions", "rows", "--labels", "20,all", "--seeds", "0"),
        *("--systems", "eli-only-head,elical-head,ridge-probe", *QUICK),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "rows: 5 rows; score them with `honestybench score-all .`\n"
    assert "elical-head-20, seed 0" in done.stderr
    assert sorted(path.name for path in (tmp_path / "rows").iterdir()) == [
        *("eli-only-head", "elical-head-20", "elical-head-all", "ridge-probe-20", "ridge-probe-all"),
    ]


def test_help_names_stages_and_systems(call: Run) -> None:
    # Without blanks: the help is wrapped, at hyphens too.
    train, run = ("".join(call(command, "--help").stdout.split()) for command in ("train", "run"))
    for name, stage in STAGES.items():
        assert name + ":" + "".join(stage.summary.split()) in train
    assert ",".join(SYSTEMS) in run


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("train", "RELEASE", "--stage", "calibrate", "--out", "x"), "calibrate needs a model to start from"),
        (("train", "RELEASE", "--stage", "elicit", "--out", "x", "--targets-from", "21"), "20 sampled answers"),
        (
            ("train", "RELEASE", "--stage", "elicit", "--out", "x", "--lora-layers", "-1"),
            "lora_layers must be at least 0",
        ),
        (("train", "RELEASE", "--stage", "cal-only", "--out", "x", "--labels", "5000"), "use 1 to 120"),
        (("train", "RELEASE", "--stage", "elicit", "--out", "x", "--prompt", "paper-qa"), "NAME=FILE"),
        (("train", "nowhere", "--stage", "elicit", "--out", "x"), "nowhere"),
        (("predict", "nowhere", "RELEASE", "--out", "x"), "no trained model here"),
        (("run", "RELEASE", "--out", "x", "--submissions", "y", "--labels", "ten"), "no whole number"),
        (("run", "RELEASE", "--out", "x", "--submissions", "y", "--systems", "elicall"), "did you mean 'elical'"),
    ],
)
def test_wrong_calls_are_told_in_one_line(call: Run, release: Path, arguments, told: str, tmp_path: Path) -> None:
    done = call(*(release if each == "RELEASE" else each for each in arguments))
    assert done.returncode in (1, 2)
    assert told in done.stderr and "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == []
