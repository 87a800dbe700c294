"""WebQuestions: one JSON list; golds stand in a Lisp-like `targetValue`.

The published golds were read with a pattern that stops at the first inner quote or bracket.
Its damage (a cut title, stray quotes around a quotation) belongs to the published text, so the
same reading is kept. The Hub's Parquet was made with that pattern; its `answers` are taken as they are.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow
from builders.raw import Record, read_json_array

_GOLD = re.compile(r'\(description (?:"(?P<quoted>[^"]+)"\)|(?P<bare>[^)]+)\))')
"""A description: quoted without inner quotes, else everything up to the next closing bracket."""


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `webquestions.examples.test.json`. Raises SourceError."""
    for record in read_json_array(path):
        yield SourceRow(question=record.text("utterance"), answers=_golds(record))


def from_hub(record: Record) -> SourceRow:
    """Read one row of the Hub's Parquet. Raises SourceError."""
    golds = record.texts("answers")
    if not golds:
        raise record.fault("answers", golds, "must hold at least one gold answer")
    return SourceRow(question=record.text("question"), answers=tuple(sorted(set(golds))))


def _golds(record: Record) -> tuple[str, ...]:
    target = record.text("targetValue")
    golds = {match["quoted"] or match["bare"] for match in _GOLD.finditer(target)}
    if not golds:
        raise record.fault("targetValue", target, 'must list at least one (description "…")')
    return tuple(sorted(golds))


BUILDER = SourceBuilder(
    key="webquestions",
    title="WebQuestions",
    counts={"ood": 2_032},
    release_files={"ood": "webquestions.examples.test.json"},
    qa_files={"ood": "web_questions/test.jsonl"},
    hub_files={
        "ood": HubFiles(
            repo="stanfordnlp/web_questions",
            pattern="data/test-*.parquet",
            revision="0e473cbe21d1e91ec18da343644498be6a3f5454",
            columns=("question", "answers"),
        )
    },
    licence=Licence(
        spdx="CC-BY-4.0",
        attribution="WebQuestions (Berant, Chou, Frostig and Liang, 2013)",
        url="https://github.com/percyliang/sempre",
        note="licence as stated by the brmson project's copy; the Hub card says unknown",
    ),
    parse_release=parse_release,
    from_hub=from_hub,
    embedded_files={"ood": EmbeddedFile(name="test.jsonl")},
    release_in_paper_order=True,
)
