"""PopQA: one table of 17 tab-separated columns; the alias columns are JSON texts; `obj` is canonical.

The Hub has the same table under another name.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow, canonical_first
from builders.raw import Record, read_table


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `popQA.tsv`; `popularity` is the subject's monthly page views. Raises SourceError."""
    return map(_row, read_table(path, None, delimiter="\t"))


def _row(record: Record) -> SourceRow:
    golds = _json_texts(record, "possible_answers") + _json_texts(record, "o_aliases")
    return SourceRow(
        question=record.text("question"),
        answers=canonical_first(record.text("obj"), golds),
        relation=record.text("prop"),
        subject=record.text("subj"),
        popularity=record.integer("s_pop"),
    )


def _json_texts(record: Record, name: str) -> list[str]:
    cell = record.text(name)
    try:
        value = json.loads(cell)
    except json.JSONDecodeError as error:
        raise record.fault(name, cell, "must be a JSON list of texts") from error
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise record.fault(name, cell, "must be a JSON list of texts")
    return value


BUILDER = SourceBuilder(
    key="popqa",
    title="PopQA",
    counts={"ood": 14_267},
    release_files={"ood": "popQA.tsv"},
    qa_files={"ood": "popqa/test.jsonl"},
    hub_files={
        "ood": HubFiles(repo="akariasai/PopQA", pattern="test.tsv", revision="098765c79ea10a2cb19c828324e33281b8336ec0")
    },
    licence=Licence(
        spdx="MIT",
        attribution="PopQA (Mallen, Asai, Zhong, Das, Khashabi and Hajishirzi, 2023)",
        url="https://github.com/AlexTMallen/adaptive-retrieval",
        note="licence of the repository that holds the file; the Hub card names none",
    ),
    parse_release=parse_release,
    from_hub=_row,
    embedded_files={"ood": EmbeddedFile(name="test.jsonl")},
)
