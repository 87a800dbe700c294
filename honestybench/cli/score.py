"""`honestybench score FILE`: every metric of one confidence file, as a table or as a score card."""

import json
from pathlib import Path

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from honestybench import SAMPLE
from honestybench.cli.validate import FILE, echo_faults
from honestybench.errors import UsageError
from honestybench.labels import labels_of_file, labels_of_release
from honestybench.metrics import HEADLINE_METRIC, METRICS
from honestybench.scorecard import EceNull, Headline, ScoreCard, TrackScore, Value, rounded
from honestybench.scoring import score_read
from honestybench.submission import read_confidences

BUILT = tuple(name for name, spec in METRICS.items() if spec.compute)
NOTES = {METRICS[HEADLINE_METRIC].label: "95 %", METRICS["ece_10"].label: "null"}
"""Heading -> that of the column after it: the interval, and what ECE-10 5 % of perfectly calibrated systems exceed."""

WIDEST = 1000
"""No table is wider, in characters."""


@click.command(epilog="Example: `honestybench score confidences.jsonl --labels my_labels.jsonl`")
@click.argument("file", type=FILE)
@click.option("--release", type=click.Path(path_type=Path), help="The release whose questions FILE answers.")
@click.option("--llm", help="The answering LLM; may be left out where the release has one.")
@click.option("--labels", type=FILE, help='Or your own labels: lines {"id", "source", "correct"}, or Parquet.')
@click.option("--json", "as_json", is_flag=True, help="Print the score card as JSON instead of tables.")
def score(file: Path, release: Path | None, llm: str | None, labels: Path | None, as_json: bool) -> None:
    """Score FILE, JSON Lines of {"id", "confidence"}, against a release or your own labels.

    Without --release and --labels the embedded sample is the release. A faulty file is rejected as by
    `honestybench validate`, and nothing is scored.
    """
    if labels and (release or llm):
        raise UsageError("--labels goes without --release and --llm", remedy="choose one of the two")
    if not (release or labels):
        click.echo(f"no --release and no --labels: scored against the embedded sample, {SAMPLE}", err=True)
    known = labels_of_file(labels) if labels else labels_of_release(release or SAMPLE, llm)
    result = read_confidences(file, known.known)
    echo_faults(file, result)
    card = score_read(file, result, known)
    if as_json:
        click.echo(json.dumps(rounded(card), ensure_ascii=False, sort_keys=True, indent=2))
    else:
        _show(card)


def _show(card: ScoreCard) -> None:
    console = Console()
    for name, track in card["tracks"].items():
        if track["status"] == "not_submitted":
            console.print(f"{name}: {track['headline']['reason']}\n")
            continue
        table = _table(name, track)
        # In a narrow terminal lines wrap; a table fitted to it would cut its numbers.
        console.width = max(console.width, Console(width=WIDEST).measure(table).maximum)
        console.print(table)
        headline = track["headline"]
        console.print(f"headline ({headline['kind']} AUROC): {_number(headline)} {_interval(headline)}")
        if headline["banner"]:
            console.print(headline["banner"])
        for reason in dict.fromkeys(value["reason"] for value in _shown_values(track) if value["reason"]):
            console.print(f"–: {reason}")
        console.print()
    if card["flags"]:
        console.print(f"flags: {', '.join(card['flags'])}")


def _table(name: str, track: TrackScore) -> Table:
    """Lay a track out: the aggregates, then each source."""
    table = Table(title=f"{name}: {track['n_correct']} of {track['n']} right", box=SIMPLE, padding=(0, 1, 0, 0))
    for heading in ("", "n", *(METRICS[metric].label for metric in BUILT)):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
        if heading in NOTES:
            table.add_column(NOTES[heading], justify="right", no_wrap=True, style="dim")
    for title, values, null in _aggregates(track):
        table.add_row(title, *_cells(values, null))
    table.add_section()
    for source, each in track["sources"].items():
        table.add_row(escape(source), *_cells(each["metrics"], each["ece_10_null"]))
    return table


def _aggregates(track: TrackScore) -> list[tuple[str, dict[str, Value], EceNull]]:
    aggregates, null = track["aggregates"], track["ece_10_null"]
    return [
        ("mean by size", aggregates["weighted"], null["weighted"]),
        ("plain mean", aggregates["macro"], null["macro"]),
        ("all together", aggregates["pooled"], null["pooled"]),
    ]


def _cells(values: dict[str, Value], null: EceNull) -> list[str]:
    cells = [str(values[HEADLINE_METRIC]["n"])]
    for metric in BUILT:
        cells.append(_number(values[metric]))
        if metric == HEADLINE_METRIC:
            cells.append(_interval(values[metric]))
        elif metric == "ece_10":
            cells.append("" if null["p95"] is None else f"{null['p95']:.3f}")
    return cells


def _shown_values(track: TrackScore) -> list[Value]:
    rows = [values for _, values, _ in _aggregates(track)]
    rows += [each["metrics"] for each in track["sources"].values()]
    return [values[metric] for values in rows for metric in BUILT]


def _number(value: Value | Headline) -> str:
    return "–" if value["value"] is None else f"{value['value']:.3f}"


def _interval(value: Value | Headline) -> str:
    return "" if value["ci_low"] is None else f"{value['ci_low']:.3f}–{value['ci_high']:.3f}"
