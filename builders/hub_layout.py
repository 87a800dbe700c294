"""Read questions from dataset repositories on the Hub: Parquet, JSON lines or a tab-separated table, by file ending.

Files are named and read directly: no loading script is run.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from builders.base import HubFiles, SourceBuilder, SourceRow
from builders.raw import Record, read_json_lines, read_parquet, read_table
from honestybench.errors import SourceError
from honestybench.hub import Fetched, fetch_files


def read_hub(builder: SourceBuilder, split: str) -> list[SourceRow]:
    """Return the rows of one split, files in name order, rows in file order. Raises SourceError, CountError."""
    files = builder.hub_files[split]
    fetched = _fetch(files)
    records = (record for path in fetched.paths for record in _records(fetched.folder / path, files.columns))
    rows = [builder.from_hub(record) for record in records]
    return rows if builder.select_hub_split is None else builder.select_hub_split(rows, split)


def hub_provenance(builder: SourceBuilder, split: str) -> dict[str, object]:
    """Say what a split was read from: repository, commit, files. Raises SourceError."""
    fetched = _fetch(builder.hub_files[split])
    return {"repo": fetched.repo, "commit": fetched.commit, "files": list(fetched.paths)}


def _fetch(files: HubFiles) -> Fetched:
    return fetch_files(files.repo, files.pattern, files.revision)


def _records(path: Path, columns: tuple[str, ...]) -> Iterator[Record]:
    readers: dict[str, Callable[[], Iterator[Record]]] = {
        ".parquet": lambda: read_parquet(path, columns),
        ".jsonl": lambda: read_json_lines(path),
        ".tsv": lambda: read_table(path, None, delimiter="\t"),
    }
    if path.suffix not in readers:
        raise SourceError("cannot read this kind of file", where=str(path), remedy=f"known: {', '.join(readers)}")
    return readers[path.suffix]()
