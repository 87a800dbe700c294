"""TriviaQA, unfiltered: one JSON object whose "Data" lists the questions; `Answer.Value` is canonical.

The Hub's Parquet has the same fields in lower case. The script that made it stripped all texts, so a
text with blanks at its ends reads differently there, and its example has another id.
"""

from collections.abc import Iterator
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow, canonical_first
from builders.raw import Record, read_json_object


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `unfiltered-web-{train,dev}.json`. Raises SourceError."""
    for entry in read_json_object(path).children("Data"):
        answer = entry.child("Answer")
        yield SourceRow(
            question=entry.text("Question"),
            answers=canonical_first(answer.text("Value"), answer.texts("Aliases")),
            answer_type=answer.optional_text("Type"),
        )


def from_hub(record: Record) -> SourceRow:
    """Read one row of the Hub's Parquet, from the field list of its card. Raises SourceError."""
    answer = record.child("answer")
    return SourceRow(
        question=record.text("question"),
        answers=canonical_first(answer.text("value"), answer.texts("aliases")),
        answer_type=answer.optional_text("type"),
    )


def _hub_files(split: str) -> HubFiles:
    return HubFiles(
        repo="mandarjoshi/trivia_qa",
        pattern=f"unfiltered.nocontext/{split}-*.parquet",
        revision="0f7faf33a3908546c6fd5b73a660e0f8ff173c2f",
        columns=("question", "answer"),
    )


BUILDER = SourceBuilder(
    key="triviaqa",
    title="TriviaQA (unfiltered)",
    counts={"train": 87_622, "in_domain": 11_313},
    release_files={"train": "unfiltered-web-train.json", "in_domain": "unfiltered-web-dev.json"},
    qa_files={"train": "tq/train.jsonl", "in_domain": "tq/dev.jsonl"},
    hub_files={"train": _hub_files("train"), "in_domain": _hub_files("validation")},
    licence=Licence(
        spdx="Apache-2.0",
        attribution="TriviaQA (Joshi, Choi, Weld and Zettlemoyer, 2017)",
        url="https://github.com/mandarjoshi90/triviaqa",
        note="the project's README puts code and data under Apache-2.0; the Hub card says unknown",
    ),
    parse_release=parse_release,
    from_hub=from_hub,
    embedded_files={
        "in_domain": EmbeddedFile(
            name="unfiltered-web-dev.json",
            layout="release",
            note="the excerpt mixes training and development questions of public test fixtures, which cannot be told "
            "apart here; its file header says dev",
        )
    },
)
