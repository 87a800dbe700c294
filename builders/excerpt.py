"""Cut the embedded excerpts out of the authors' whole question files, always the same way.

Rule: for k = 0 … 39 take row floor(k * rows / 40); if that row repeats an earlier row of the
file exactly (same question, same golds), take the next row that does not. So an excerpt holds no
repeat, and the ids of its examples are those of a whole build.
"""

import json
from pathlib import Path

from builders.base import SourceBuilder
from builders.qa_layout import shared_row
from builders.raw import read_json_lines
from honestybench.errors import SourceError
from honestybench.records import example_id

N_EMBEDDED = 40
"""Evaluation examples embedded per source, where the authors' whole file is at hand."""


def excerpt_lines(builder: SourceBuilder, split: str, path: Path) -> list[str]:
    """Return the excerpt of one of the authors' files: its lines with `source_row` added.

    Raises SourceError when the file has too few distinct rows.
    """
    records = list(read_json_lines(path))
    seen: set[str] = set()
    repeats = []
    for record in records:
        row = shared_row(record)
        row_id = example_id(builder.key, split, row.question, row.answers)
        repeats.append(row_id in seen)
        seen.add(row_id)
    taken: list[int] = []
    for k in range(N_EMBEDDED):
        index = max(k * len(records) // N_EMBEDDED, taken[-1] + 1 if taken else 0)
        while index < len(records) and repeats[index]:
            index += 1
        if index == len(records):
            raise SourceError(f"fewer than {N_EMBEDDED} distinct rows", where=str(path), remedy="use the whole file")
        taken.append(index)
    rows = [{**records[index].fields, "source_row": index} for index in taken]
    return [json.dumps(row, ensure_ascii=False) for row in rows]
