"""MuSiQue-Answerable 1.0: JSON lines; the id's prefix ("2hop__", "3hop1__") tells the hops.

The Hub has the original file in a copy that is not its authors'.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow, canonical_first
from builders.raw import Record, read_json_lines

_HOPS = re.compile(r"([1-9])hop[0-9]*__")


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `musique_ans_v1.0_dev.jsonl`. Raises SourceError."""
    return map(_row, read_json_lines(path))


def _row(record: Record) -> SourceRow:
    return SourceRow(
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
    hub_files={
        "ood": HubFiles(
            repo="dgslibisey/MuSiQue",
            pattern="musique_ans_v1.0_dev.jsonl",
            revision="c8f4f8c9465fb69d31a8eae894c3fd509c4ca321",
        )
    },
    licence=Licence(
        spdx="CC-BY-4.0",
        attribution="MuSiQue (Trivedi, Balasubramanian, Khot and Sabharwal, 2022)",
        url="https://github.com/StonyBrookNLP/musique",
    ),
    parse_release=parse_release,
    from_hub=_row,
    embedded_files={"ood": EmbeddedFile(name="dev.jsonl")},
)
