import json
from pathlib import Path
from types import ModuleType

import pytest

from honestybench.cli.main import main
from honestybench.engine.scripted import ScriptedEngine
from honestybench.passes.table import PASSES
from honestybench.submission import read_system

LLM = "made-up-llm"


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.fixture
def release(small_release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small release, as if the scripted engine had answered it; relative paths are inside a scratch folder."""
    llm = small_release.content(small_release.records())["llms"][LLM]
    small_release.write(tmp_path / "release", llms={LLM: {**llm, "provenance": ScriptedEngine(LLM).provenance}})
    monkeypatch.chdir(tmp_path)
    return tmp_path / "release"


def test_probabilities_are_written_with_their_mass_and_train_confidences_beside(
    release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(
        capsys,
        *("passes", release, "--engine", "scripted", "--out", LLM, "--only", "p_true"),
        *("--train-labels", "2", "--train-out", "train.jsonl"),
    )
    assert (code, err) == (0, "")
    assert f"{LLM}/p_true: " in out and "mean P(yes) + P(no) 0." in out
    assert read_system(release.parent / LLM / "p_true" / "system.yaml").sees == "answer"
    rows = [json.loads(line) for line in (release.parent / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [sorted(row) for row in rows] == [["confidence", "id"]] * 2


def test_a_pass_that_cannot_be_read_is_refused_and_the_others_are_written(
    release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(
        capsys, "passes", release, "--engine", "scripted", "--out", LLM, "--only", "verbalized_0,p_yes"
    )
    # None of the scripted engine's ten words is a confidence.
    assert code == 1 and "verbalized_0: 100.0% of the replies" in err and "--only" not in out
    assert [path.name for path in (release.parent / LLM).iterdir()] == ["p_yes"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--only", "p_yess"], "did you mean 'p_yes'"),
        (["--only", "p_yes", "--model", "another"], "not the weights that answered the release"),
        (["--only", "p_yes", "--train-labels", "2"], "--train-out go together"),
        (["--only", "p_yes,p_true", "--train-labels", "2", "--train-out", "t.jsonl"], "for one pass"),
        (["--only", "verbalized_10"], "10 are needed"),
        (["--only", "p_yes", "--allow-unparsed", "2"], "between 0 and 1"),
        (["--only", "p_yes", "--llm", "another"], "another"),
    ],
)
def test_wrong_usage_writes_nothing(
    arguments: list[str], told: str, release: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, "passes", release, "--engine", "scripted", "--out", LLM, *arguments)
    assert (code, out) == (2, "") and told in err
    assert [path.name for path in release.parent.iterdir()] == ["release"]


def test_the_help_lists_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "passes", "--help")
    assert code == 0 and [name for name in PASSES if name not in out] == []
