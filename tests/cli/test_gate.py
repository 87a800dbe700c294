import json
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

import honestybench.cli.gate as gate_module
from honestybench.cli.gate import gate, measure_gate
from honestybench.errors import UnknownNameError

# 200 questions; self-consistency .9 where right and .1 where wrong, but for 10 of each swapped.
LABELS = [1] * 100 + [0] * 100
VALUES = [0.9] * 90 + [0.1] * 10 + [0.1] * 90 + [0.9] * 10


def test_gate_is_passed() -> None:
    report = measure_gate(LABELS, VALUES)
    assert (report.verdict, report.reasons, report.n_questions) == ("passed", (), 200)
    assert report.accuracy == 0.5
    assert report.self_consistency == pytest.approx(0.5)
    # .9 x .9 of the pairs are won and .9 x .1 + .1 x .9 tied: .81 + .18 / 2.
    assert report.auroc == pytest.approx(0.9)
    assert report.interval is not None and 0.5 < report.interval[0] < 0.9 < report.interval[1] < 1


def test_unparsed_questions_are_left_out() -> None:
    report = measure_gate([*LABELS, None, 1], [*VALUES, 0.5, None])
    assert report == measure_gate(LABELS, VALUES)


def test_few_questions_are_not_measured() -> None:
    report = measure_gate(LABELS[1:], VALUES[1:])
    assert (report.verdict, report.reasons) == ("not measured", ("199 of 200 questions",))
    assert measure_gate([], []).verdict == "not measured"


@pytest.mark.parametrize(
    ("labels", "values", "words"),
    [
        (LABELS, [0.95 if value == 0.9 else 0.9 for value in VALUES], "mean self-consistency"),
        (LABELS, [value / 10 for value in VALUES], "mean self-consistency"),
        (LABELS, [0.3, 0.7] * 100, "does not lie above 0.5"),
        # Ranked the wrong way round: the interval excludes 0.5 from below.
        (LABELS, [1 - value for value in VALUES], "does not lie above 0.5"),
        ([0] * 200, VALUES, "all 200 answers wrong"),
        (LABELS, [0.5] * 200, "no interval"),
    ],
)
def test_gate_is_failed_with_the_reason(labels: list[int], values: list[float], words: str) -> None:
    report = measure_gate(labels, values)
    assert report.verdict == "failed"
    assert any(words in reason for reason in report.reasons)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(gate, arguments)
    return result.exit_code, result.output


def expected_pairs(records: list) -> list[tuple[int, float]]:
    counted = [record for record in records if record.example.split != "mmlu"]
    pairs = [(record.greedy_correctness, record.self_consistency) for record in counted]
    return [(label, value) for label, value in pairs if label is not None and value is not None]


def test_command_reads_a_release_without_mmlu(small_release: ModuleType, tmp_path: Path) -> None:
    small_release.write(tmp_path / "release")
    pairs = expected_pairs(small_release.records())
    assert 0 < len(pairs) < len(small_release.records())
    exit_code, output = run(str(tmp_path / "release"), "--json")
    report = json.loads(output)
    assert (exit_code, report["verdict"], report["n_questions"]) == (0, "not measured", len(pairs))
    assert report["self_consistency"] == pytest.approx(sum(value for _, value in pairs) / len(pairs))
    assert report["accuracy"] == pytest.approx(sum(label for label, _ in pairs) / len(pairs))
    # The made-up answers ("answer 3") hold no gold.
    assert report["strict_accuracy"] == 0
    exit_code, output = run(str(tmp_path / "release"), "--llm", small_release.LLM)
    assert exit_code == 0
    assert f"{len(pairs)} of 200 questions" in output


def test_command_exits_with_1_when_the_gate_is_failed(
    small_release: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_release.write(tmp_path / "release")
    monkeypatch.setattr(gate_module, "MIN_QUESTIONS", 2)
    exit_code, output = run(str(tmp_path / "release"))
    assert exit_code == 1
    assert "failed" in output


def test_unknown_llm_names_the_known_one(small_release: ModuleType, tmp_path: Path) -> None:
    small_release.write(tmp_path / "release")
    result = CliRunner().invoke(gate, [str(tmp_path / "release"), "--llm", "other"])
    assert isinstance(result.exception, UnknownNameError) and result.exception.exit_code == 2
    assert small_release.LLM in str(result.exception)
