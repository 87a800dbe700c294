"""SQuAD v1.1: articles hold paragraphs, paragraphs hold questions; the paragraph is left out.

The Hub's Parquet has one row a question; its `answers` is a record of lists, not a list of records.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow
from builders.raw import Record, read_json_object


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `dev-v1.1.json`; records are numbered through the file. Raises SourceError."""
    for number, entry in enumerate(_questions(read_json_object(path)), start=1):
        record = replace(entry, number=number)
        yield _row(record, [answer.text("text") for answer in record.children("answers")])


def from_hub(record: Record) -> SourceRow:
    """Read one row of the Hub's Parquet. Raises SourceError."""
    return _row(record, record.child("answers").texts("text"))


def _row(record: Record, golds: list[str]) -> SourceRow:
    if not golds:
        raise record.fault("answers", [], "must hold at least one gold answer")
    return SourceRow(question=record.text("question"), answers=tuple(sorted(set(golds))))


def _questions(release: Record) -> Iterator[Record]:
    for article in release.children("data"):
        for paragraph in article.children("paragraphs"):
            yield from paragraph.children("qas")


BUILDER = SourceBuilder(
    key="squad",
    title="SQuAD v1.1, without the paragraph",
    counts={"ood": 10_570},
    release_files={"ood": "dev-v1.1.json"},
    qa_files={"ood": "squad/dev.jsonl"},
    hub_files={
        "ood": HubFiles(
            repo="rajpurkar/squad",
            pattern="plain_text/validation-*.parquet",
            revision="7b6d24c440a36b6815f21b70d25016731768db1f",
            columns=("question", "answers"),
        )
    },
    licence=Licence(
        spdx="CC-BY-SA-4.0",
        attribution="SQuAD (Rajpurkar, Zhang, Lopyrev and Liang, 2016)",
        url="https://github.com/rajpurkar/SQuAD-explorer",
    ),
    parse_release=parse_release,
    from_hub=from_hub,
    embedded_files={"ood": EmbeddedFile(name="dev.jsonl")},
)
