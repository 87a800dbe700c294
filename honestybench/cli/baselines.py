"""`honestybench baselines RELEASE --out submissions/<llm>`."""

from datetime import date
from pathlib import Path

import click

from honestybench.baselines import write_baselines
from honestybench.labels import refuse_foreign
from honestybench.release import only_llm


@click.command(epilog="Example: `honestybench baselines build/release --out submissions/smollm2-135m-instruct-q4_1`")
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The LLM's folder.")
@click.option("--llm", help="The answering LLM; may be left out where the release has one.")
def baselines(release: Path, out: Path, llm: str | None) -> None:
    """Write the training-free baselines of the release in the folder RELEASE as submissions.

    Each gets a folder under OUT with system.yaml and confidences.jsonl. They read stored columns only: no GPU,
    no LLM, and no evaluation label.
    """
    llm = llm or only_llm(release)
    refuse_foreign(out, llm)
    for name, rows in write_baselines(release, llm, out, date.today()).items():
        click.echo(f"{out / name}: {rows} confidences")
