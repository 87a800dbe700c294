"""`honestybench verify PATH`: a release against its manifest, or a submission against its score card."""

from collections.abc import Sequence
from pathlib import Path

import click

from honestybench.errors import DataError, ReleaseError
from honestybench.release import read_manifest
from honestybench.scoring.recheck import verify_submission
from honestybench.scoring.submitted import SYSTEM_NAME
from honestybench.submission.faults import MAX_FAULTS
from honestybench.verify import verify_release


@click.command(
    epilog="Examples: `honestybench verify build/release` · `honestybench verify submissions/my-llm/my-system`"
)
@click.argument("path", type=click.Path(path_type=Path))
def verify(path: Path) -> None:
    """Check what the folder PATH holds: a release, or a scored submission (submissions/<llm>/<system>).

    A release is checked against its manifest and its own contents; a submission is scored again and
    compared with its scorecard.json. Lists the faults on stderr (of a submission the first 20, and a
    count) and exits with 1, or prints one line and exits with 0.
    """
    if (path / SYSTEM_NAME).is_file():
        _fail(verify_submission(path), path, DataError, limit=MAX_FAULTS)
        click.echo(f"{path}: scored again: no difference")
        return
    _fail(verify_release(path), path, ReleaseError)
    manifest = read_manifest(path)
    shards = manifest.content["shards"]
    rows = sum(shard["rows"] for shard in shards)
    click.echo(f"{path}: release {manifest.release_id}, {len(shards)} shards, {rows} rows: no fault")


def _fail(faults: Sequence[str], path: Path, error: type[DataError], limit: int | None = None) -> None:
    for fault in faults[:limit]:
        click.echo(fault, err=True)
    if limit is not None and len(faults) > limit:
        click.echo(f"… and {len(faults) - limit} more", err=True)
    if faults:
        raise error(f"{len(faults)} fault{'s' if len(faults) > 1 else ''}", where=str(path))
