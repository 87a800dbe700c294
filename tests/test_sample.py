"""The embedded sample: all embedded questions, whole, small, and judged as today's rules judge."""

from pathlib import Path

import pytest

import honestybench
from builders import BUILDERS
from builders.settings import Build
from honestybench.annotate.lexical import LexicalJudge
from honestybench.cli.gate import measure_gate
from honestybench.records import QAExample
from honestybench.schema import QUESTIONS_SCHEMA
from honestybench.verify import verify_release

PACKAGE = Path(honestybench.__file__).parent
SAMPLE = PACKAGE / "sample"


@pytest.fixture(scope="module")
def rows() -> list[dict]:
    return honestybench.load().to_pylist()


def test_it_verifies_and_is_small() -> None:
    assert verify_release(SAMPLE) == []
    size = sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file())
    assert size + (PACKAGE / "README.md").stat().st_size <= 3_000_000


def test_it_holds_every_embedded_question(rows: list[dict]) -> None:
    build = Build(profile_name="sample", out=SAMPLE, work=SAMPLE.with_name("work"), engine="scripted")
    embedded = {example.id: example for example in build.examples}
    # 40 of nine sources, TriviaQA's 18, MMLU's 30, and HotpotQA's 40 training questions: 408 + 40.
    assert len(embedded) == 448
    assert {row["id"] for row in rows} == embedded.keys()
    for row in rows:
        example = embedded[row["id"]]
        for name in QUESTIONS_SCHEMA.names:
            stored = tuple(row[name]) if isinstance(row[name], list) else row[name]
            assert stored == getattr(example, name), (row["id"], name)
    assert honestybench.load("questions").num_rows == 448
    assert {row["source"] for row in rows} == BUILDERS.keys()


def test_its_verdicts_are_those_of_the_rules_as_they_stand(rows: list[dict]) -> None:
    """A rule that judges otherwise needs a new version and a new sample."""
    judge = LexicalJudge()
    for row in rows:
        example = QAExample(
            **{name: tuple(row[name]) if isinstance(row[name], list) else row[name] for name in QUESTIONS_SCHEMA.names}
        )
        greedy, sampled = row["greedy_response"], row["sampling_response"]
        assert row["greedy_correctness"] == judge.correct(example, greedy).label
        assert row["sampling_correctness"] == [judge.correct(example, answer).label for answer in sampled]
        assert row["consistency_judgement"] == [judge.consistent(example, greedy, answer).label for answer in sampled]


def test_the_gate_passes_on_it(rows: list[dict]) -> None:
    free_form = [row for row in rows if row["split"] != "mmlu"]
    assert len(free_form) == 418
    report = measure_gate(
        [row["greedy_correctness"] for row in free_form], [row["self_consistency"] for row in free_form]
    )
    assert report.verdict == "passed", report
