"""SQuAD v1.1: articles hold paragraphs, paragraphs hold questions; the paragraph is left out."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from builders.base import EmbeddedFile, Licence, SourceBuilder, SourceRow
from builders.raw import Record, read_json_object


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `dev-v1.1.json`; records are numbered through the file. Raises SourceError."""
    for number, entry in enumerate(_questions(read_json_object(path)), start=1):
        record = replace(entry, number=number)
        golds = {answer.text("text") for answer in record.children("answers")}
        if not golds:
            raise record.fault("answers", [], "must hold at least one gold answer")
        yield SourceRow(question=record.text("question"), answers=tuple(sorted(golds)))


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
    licence=Licence(
        spdx="CC-BY-SA-4.0",
        attribution="SQuAD (Rajpurkar, Zhang, Lopyrev and Liang, 2016)",
        url="https://github.com/rajpurkar/SQuAD-explorer",
    ),
    parse_release=parse_release,
    embedded_files={"ood": EmbeddedFile(name="dev.jsonl")},
)
