"""`honestybench score-release RELEASE --out submissions/<llm>`."""

import os
from pathlib import Path

import click

from honestybench.errors import UsageError
from honestybench.labels import labels_of_release, write_labels


@click.command(epilog="Example: `honestybench score-release build/release --out submissions/my-llm`")
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The LLM's folder.")
@click.option("--llm", help="The answering LLM; may be left out where the release has one.")
def score_release(release: Path, out: Path, llm: str | None) -> None:
    """Write what scoring needs of the release in the folder RELEASE: labels.parquet and release.json.

    Submissions under OUT are scored against these two files, so nobody needs the whole release for it.
    """
    labels = labels_of_release(release, llm)
    if Path(os.path.abspath(out)).name != labels.llm:
        raise UsageError(
            "the folder must be named as the LLM",
            where=str(out),
            remedy=f"give --out {out.parent / str(labels.llm)}",
        )
    write_labels(labels, out)
    click.echo(f"{out}: labels of {len(labels.columns['id'])} evaluation questions, release {labels.release_id}")
