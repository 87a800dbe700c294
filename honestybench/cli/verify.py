"""`honestybench verify PATH`."""

from pathlib import Path

import click

from honestybench.errors import ReleaseError
from honestybench.release import read_manifest
from honestybench.verify import verify_release


@click.command(epilog="Example: `honestybench verify build/release`")
@click.argument("path", type=click.Path(path_type=Path))
def verify(path: Path) -> None:
    """Check the release in the folder PATH against its manifest and its own contents.

    Lists every fault on stderr and exits with 1, or prints one line and exits with 0.
    """
    faults = verify_release(path)
    for fault in faults:
        click.echo(fault, err=True)
    if faults:
        raise ReleaseError(f"{len(faults)} fault{'s' if len(faults) > 1 else ''}", where=str(path))
    manifest = read_manifest(path)
    shards = manifest.content["shards"]
    rows = sum(shard["rows"] for shard in shards)
    click.echo(f"{path}: release {manifest.release_id}, {len(shards)} shards, {rows} rows: no fault")
