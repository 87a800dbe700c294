"""`honestybench baselines RELEASE --out submissions/<llm>`."""

from datetime import date
from pathlib import Path

import click

from honestybench.baselines import BASELINES, select_baselines, write_baselines
from honestybench.labels import refuse_foreign
from honestybench.progress import Meter
from honestybench.release import only_llm


@click.command(epilog="Example: `honestybench baselines build/release --out submissions/smollm2-135m-instruct-q4_1`")
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The LLM's folder.")
@click.option("--llm", help="The answering LLM; may be left out where the release has one.")
@click.option(
    "--only",
    metavar="NAME,...",
    default=",".join(BASELINES),
    show_default="all",
    help=f"Comma-separated baselines, of {', '.join(BASELINES)}; others in OUT stay as they are.",
)
def baselines(release: Path, out: Path, llm: str | None, only: str) -> None:
    """Write the training-free baselines of the release in the folder RELEASE as submissions.

    Each gets a folder under OUT with system.yaml and confidences.jsonl. They read stored columns only: no GPU,
    no LLM, and no evaluation label, but for the oracle, which is shown and never ranked.
    """
    names = tuple(select_baselines(name.strip() for name in only.split(",") if name.strip()))
    llm = llm or only_llm(release)
    refuse_foreign(out, llm)
    with Meter("baselines", 0, "questions") as meter:
        written = write_baselines(release, llm, out, date.today(), names, meter.update)
    for name, rows in written.items():
        click.echo(f"{out / name}: {rows} confidences")
