"""`honestybench gate RELEASE`: is the judge good enough for anything to be trained on its verdicts?"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import click
from rich.console import Console
from rich.table import Table

from honestybench.annotate.lexical import LexicalJudge
from honestybench.metrics.discrimination import auroc, auroc_interval, undefined_reason
from honestybench.records import QAExample
from honestybench.release import only_llm
from honestybench.shards import read_table

MIN_QUESTIONS = 200
CONSISTENCY_RANGE = (0.1, 0.9)
QUESTION_COLUMNS = ("id", "source", "split", "question", "answers", "cluster")
COLUMNS = (*QUESTION_COLUMNS, "greedy_response", "greedy_correctness", "self_consistency")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """What the gate measured, and its verdict.

    `accuracy` is the share of right greedy answers and `self_consistency` the mean, both in [0, 1];
    `auroc` says how well self-consistency ranks right greedy answers above wrong ones, `interval` is
    its 95 % interval. Undefined numbers are None. `reasons` names every condition that does not hold.
    """

    n_questions: int
    accuracy: float | None
    self_consistency: float | None
    auroc: float | None
    interval: tuple[float, float] | None
    verdict: Literal["passed", "failed", "not measured"]
    reasons: tuple[str, ...]


def measure_gate(correct: Sequence[int | None], self_consistency: Sequence[float | None]) -> GateReport:
    """Measure the gate on paired labels (1, 0) and self-consistencies (in [0, 1]).

    A question where either is None, because verdicts could not be parsed, is left out. The gate is
    passed when, on at least 200 questions, mean self-consistency lies in 0.1 to 0.9 and the whole
    AUROC interval lies above 0.5; with fewer questions it is not measured.
    """
    pairs = [
        (label, value)
        for label, value in zip(correct, self_consistency, strict=True)
        if label is not None and value is not None
    ]
    labels, values = [label for label, _ in pairs], [value for _, value in pairs]
    mean = sum(values) / len(values) if values else None
    interval = auroc_interval(values, labels)
    reasons = _unmet(len(pairs), mean, interval, undefined_reason(labels))
    few = len(pairs) < MIN_QUESTIONS
    return GateReport(
        n_questions=len(pairs),
        accuracy=sum(labels) / len(labels) if labels else None,
        self_consistency=mean,
        auroc=auroc(values, labels),
        interval=interval,
        verdict="not measured" if few else "failed" if reasons else "passed",
        reasons=reasons,
    )


def _unmet(
    n_questions: int, mean: float | None, interval: tuple[float, float] | None, undefined: str | None
) -> tuple[str, ...]:
    if n_questions < MIN_QUESTIONS:
        return (f"{n_questions} of {MIN_QUESTIONS} questions",)
    reasons = []
    low, high = CONSISTENCY_RANGE
    if mean is None or not low <= mean <= high:
        reasons.append(f"mean self-consistency lies outside {low} to {high}")
    if interval is None:
        reasons.append(f"the AUROC has no interval: {undefined or 'too few answers of a class, or no spread'}")
    elif interval[0] <= 0.5:
        reasons.append("the AUROC interval does not lie above 0.5")
    return tuple(reasons)


@click.command(epilog="Example: `honestybench gate build/release --json`")
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--llm", help="The answering LLM (the annotated config); may be left out where there is one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@click.pass_context
def gate(ctx: click.Context, release: Path, llm: str | None, as_json: bool) -> None:
    """Measure whether the verdicts of the release in the folder RELEASE are fit to train on.

    Free-form questions of every split count, training questions too; MMLU is left out, where chance
    alone makes answers agree. Exits with 1 when the gate is failed, with 0 when it is passed or when
    there are too few questions to measure it.
    """
    llm = llm or only_llm(release)
    rows = [row for row in read_table(release, llm, columns=COLUMNS).to_pylist() if row["split"] != "mmlu"]
    report = measure_gate([row["greedy_correctness"] for row in rows], [row["self_consistency"] for row in rows])
    strict = _strict_accuracy(rows)
    if as_json:
        click.echo(json.dumps({"llm": llm, **asdict(report), "strict_accuracy": strict}))
    else:
        Console().print(_table(llm, report, strict))
    ctx.exit(1 if report.verdict == "failed" else 0)


def _strict_accuracy(rows: Sequence[dict[str, Any]]) -> float | None:
    """Compute the share of greedy answers with a gold alias on word borders, on the rows with a label."""
    judge = LexicalJudge()
    labels = []
    for row in rows:
        if row["greedy_correctness"] is not None and row["self_consistency"] is not None:
            fields = {name: row[name] for name in QUESTION_COLUMNS}
            example = QAExample(**fields | {"answers": tuple(row["answers"])})
            labels.append(judge.strict_correct(example, row["greedy_response"]).verdict == "yes")
    return sum(labels) / len(labels) if labels else None


def _table(llm: str, report: GateReport, strict: float | None) -> Table:
    table = Table(title=f"Gate: {llm}", show_header=False)
    reasons = f" ({'; '.join(report.reasons)})" if report.reasons else ""
    interval = "" if report.interval is None else f" [{report.interval[0]:.3f}, {report.interval[1]:.3f}]"
    for name, text in (
        ("questions (without MMLU)", str(report.n_questions)),
        ("greedy accuracy", _number(report.accuracy)),
        ("greedy accuracy, strict", _number(strict)),
        ("mean self-consistency", _number(report.self_consistency)),
        ("AUROC of self-consistency [95 %]", _number(report.auroc) + interval),
        ("verdict", report.verdict + reasons),
    ):
        table.add_row(name, text)
    return table


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
