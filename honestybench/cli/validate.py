"""`honestybench validate FILE`: would this confidence file be accepted?"""

import json
from pathlib import Path
from typing import Any

import click

from honestybench import SAMPLE
from honestybench.errors import SubmissionError, UsageError
from honestybench.labels import labels_of_file
from honestybench.submission import (
    Coverage,
    Fault,
    ReadResult,
    known_ids_from_release,
    read_confidences,
)

FILE = click.Path(exists=True, dir_okay=False, readable=True, path_type=Path)


@click.command(epilog="Example: `honestybench validate confidences.jsonl --release build/release`")
@click.argument("file", type=FILE)
@click.option("--release", type=click.Path(path_type=Path), help="The release whose questions FILE answers.")
@click.option("--llm", help="The answering LLM; may be left out where the release has one.")
@click.option("--labels", type=FILE, help='Or your own labels: lines {"id", "source", "correct"}, or Parquet.')
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
@click.pass_context
def validate(
    ctx: click.Context, file: Path, release: Path | None, llm: str | None, labels: Path | None, as_json: bool
) -> None:
    """Check FILE, JSON Lines of {"id", "confidence"}, plain or gzip, against the questions it must cover.

    Without --release and --labels these are the questions of the embedded sample. Lists up to 20 faults and
    counts all; exits with 0 when FILE is accepted, with or without warnings, and with 1 when it is rejected.
    """
    if labels and (release or llm):
        raise UsageError("--labels goes without --release and --llm", remedy="choose one of the two")
    against = labels or release or SAMPLE
    if not (labels or release):
        click.echo(f"no --release and no --labels: checked against the embedded sample, {SAMPLE}", err=True)
    known = labels_of_file(labels).known if labels else known_ids_from_release(against, llm)
    result = read_confidences(file, known)
    if as_json:
        click.echo(json.dumps(_report(file, against, result)))
        ctx.exit(1 if result.outcome == "reject" else 0)
    echo_faults(file, result)
    found = _found(result)
    warned = f" with {_count(result.n_faults, 'warning')}" if result.n_faults else ""
    click.echo(f"{file}: accepted{warned}; {found}")


def echo_faults(file: Path, result: ReadResult) -> None:
    """List a file's faults on stderr. Raises: SubmissionError when it is rejected."""
    for fault in result.faults:
        click.echo(f"{file}: {fault}", err=True)
    if result.n_faults > len(result.faults):
        click.echo(f"… and {result.n_faults - len(result.faults)} more", err=True)
    if result.outcome == "reject":
        raise SubmissionError(f"rejected, {_count(result.n_faults, 'fault')}; {_found(result)}", where=str(file))


def _report(file: Path, against: Path, result: ReadResult) -> dict[str, Any]:
    return {
        "outcome": result.outcome,
        "file": str(file),
        "against": str(against),
        "faults": [_fault(fault) for fault in result.faults],
        "n_faults": result.n_faults,
        "tracks": {track: each._asdict() | {"status": each.status} for track, each in result.coverage.items()},
    }


def _fault(fault: Fault) -> dict[str, Any]:
    return {name: getattr(fault, name) for name in ("code", "outcome", "line", "id", "message")}


def _found(result: ReadResult) -> str:
    return ", ".join(_told(track, coverage) for track, coverage in result.coverage.items())


def _told(track: str, coverage: Coverage) -> str:
    return f"{track}: {coverage.n_found} of {coverage.n_questions}" if coverage.n_found else f"{track}: not submitted"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
