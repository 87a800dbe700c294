"""TriviaQA, unfiltered: one JSON object whose "Data" lists the questions; `Answer.Value` is canonical."""

from collections.abc import Iterator
from pathlib import Path

from builders.base import EmbeddedFile, Licence, SourceBuilder, SourceRow, canonical_first
from builders.raw import read_json_object


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of `unfiltered-web-{train,dev}.json`. Raises SourceError."""
    for entry in read_json_object(path).children("Data"):
        answer = entry.child("Answer")
        yield SourceRow(
            question=entry.text("Question"),
            answers=canonical_first(answer.text("Value"), answer.texts("Aliases")),
            answer_type=answer.optional_text("Type"),
        )


BUILDER = SourceBuilder(
    key="triviaqa",
    title="TriviaQA (unfiltered)",
    counts={"train": 87_622, "in_domain": 11_313},
    release_files={"train": "unfiltered-web-train.json", "in_domain": "unfiltered-web-dev.json"},
    qa_files={"train": "tq/train.jsonl", "in_domain": "tq/dev.jsonl"},
    licence=Licence(
        spdx="Apache-2.0",
        attribution="TriviaQA (Joshi, Choi, Weld and Zettlemoyer, 2017)",
        url="https://github.com/mandarjoshi90/triviaqa",
        note="the project's README puts code and data under Apache-2.0; the Hub card says unknown",
    ),
    parse_release=parse_release,
    embedded_files={"in_domain": EmbeddedFile(name="unfiltered-web-dev.json", layout="release")},
)
