"""MuSiQue-Answerable 1.0: JSON lines; the id's prefix ("2hop__", "3hop1__") tells the hops."""

import re
from collections.abc import Iterator
from pathlib import Path

from builders.base import EmbeddedFile, Licence, SourceBuilder, SourceRow, canonical_first
from builders.raw import Record, read_json_lines

_HOPS = re.compile(r"([1-9])hop[0-9]*__")


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `musique_ans_v1.0_dev.jsonl`. Raises SourceError."""
    for record in read_json_lines(path):
        yield SourceRow(
            question=record.text("question"),
            answers=canonical_first(record.text("answer"), record.texts("answer_aliases")),
            hops=_hops(record),
        )


def _hops(record: Record) -> int:
    prefix = _HOPS.match(record.text("id"))
    if prefix is None:
        raise record.fault("id", record.text("id"), "must begin with its hops, as in '2hop__'")
    return int(prefix[1])


BUILDER = SourceBuilder(
    key="musique",
    title="MuSiQue-Answerable 1.0",
    counts={"ood": 2_417},
    release_files={"ood": "musique_ans_v1.0_dev.jsonl"},
    qa_files={"ood": "musique/dev.jsonl"},
    licence=Licence(
        spdx="CC-BY-4.0",
        attribution="MuSiQue (Trivedi, Balasubramanian, Khot and Sabharwal, 2022)",
        url="https://github.com/StonyBrookNLP/musique",
    ),
    parse_release=parse_release,
    embedded_files={"ood": EmbeddedFile(name="dev.jsonl")},
)
