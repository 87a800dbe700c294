"""Read the authors' question files: JSON lines of {"question": text, "answer": [texts]}.

The order of the golds there is not canonical (it came from hashing), so they are sorted. An
excerpt adds "source_row", the 0-based row of the whole file; the authors' multiple-choice lines
add "subject".
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from builders.base import SourceBuilder, SourceRow
from builders.raw import Record, read_json_lines


def shared_row(record: Record) -> SourceRow:
    """Read what every line of the layout has. Raises SourceError."""
    golds = record.texts("answer")
    if not golds:
        raise record.fault("answer", golds, "must hold at least one gold answer")
    source_row = record.optional_integer("source_row")
    if source_row is not None and not 0 <= source_row < 2**31:
        raise record.fault("source_row", source_row, "must count from 0, below 2**31")
    return SourceRow(question=record.text("question"), answers=tuple(sorted(set(golds))), source_row=source_row)


def read_qa(builder: SourceBuilder, split: str, path: Path) -> Iterator[SourceRow]:
    """Yield the rows of one file in file order; a whole file tells every row's place by itself."""
    records = list(read_json_lines(path))
    is_whole = len(records) == builder.counts[split]
    for index, record in enumerate(records):
        if is_whole and "source_row" not in record.fields:
            record = replace(record, fields={**record.fields, "source_row": index})
        yield shared_row(record) if builder.from_qa is None else builder.from_qa(record, split)
