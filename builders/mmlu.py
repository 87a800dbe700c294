"""MMLU: a folder of header-less CSV files, one a subject: question, four choices, the right letter.

`question` is the published prompt text, stem and choices together, because a stem alone is
neither unique nor answerable by a letter (docs/decisions/002-mmlu-question-text.md).

The Hub's Parquet has all subjects in one table; `answer` is the number of the right choice, from 0.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from builders.base import EmbeddedFile, HubFiles, Licence, SourceBuilder, SourceRow
from builders.qa_layout import shared_row
from builders.raw import Record, read_table
from honestybench.errors import SourceError

LETTERS = ("A", "B", "C", "D")
_PUBLISHED = re.compile(r".*\nA\.(.*)\nB\.(.*)\nC\.(.*)\nD\.(.*)\n", re.DOTALL)


def question_text(stem: str, choices: Sequence[str]) -> str:
    """Join a stem and its four choices as published: one a line, no blank after the dot."""
    lines = [f"{letter}.{choice}" for letter, choice in zip(LETTERS, choices, strict=True)]
    return "\n".join([stem, *lines]) + "\n"


def parse_release(path: Path) -> Iterator[SourceRow]:
    """Yield the rows of a folder such as `test/`, subjects in name order. Raises SourceError."""
    files = sorted(path.glob("*.csv"))
    if not files:
        raise SourceError("no subject files (*.csv)", where=str(path), remedy="put the original folder there")
    for file in files:
        subject = file.stem.rpartition("_")[0]
        for record in read_table(file, ("question", *LETTERS, "letter"), delimiter=","):
            letter = _checked_letter(record, "letter", record.text("letter"))
            yield _row(record.text("question"), [record.text(name) for name in LETTERS], letter, subject)


def from_hub(record: Record) -> SourceRow:
    """Read one row of the Hub's Parquet. Raises SourceError."""
    choices, number = record.texts("choices"), record.integer("answer")
    if len(choices) != len(LETTERS):
        raise record.fault("choices", choices, f"must hold {len(LETTERS)} texts")
    if not 0 <= number < len(LETTERS):
        raise record.fault("answer", number, f"must be between 0 and {len(LETTERS) - 1}")
    return _row(record.text("question"), choices, LETTERS[number], record.text("subject"))


def _row(stem: str, choices: Sequence[str], letter: str, subject: str) -> SourceRow:
    text = question_text(stem, choices)
    return SourceRow(question=text, answers=(letter,), subject=subject, choices=tuple(choices))


def from_qa(record: Record, split: str) -> SourceRow:
    """Split a published prompt text back into its choices. Raises SourceError."""
    row = shared_row(record)
    published = _PUBLISHED.fullmatch(row.question)
    if published is None:
        raise record.fault("question", row.question, "must end with the lines A. to D. of its choices")
    for answer in row.answers:
        _checked_letter(record, "answer", answer)
    return replace(row, choices=published.groups(), subject=record.optional_text("subject"))


def _checked_letter(record: Record, name: str, letter: str) -> str:
    if letter not in LETTERS:
        raise record.fault(name, letter, f"must be one of {', '.join(LETTERS)}")
    return letter


BUILDER = SourceBuilder(
    key="mmlu",
    title="MMLU",
    counts={"mmlu": 14_042},
    release_files={"mmlu": "test"},
    qa_files={"mmlu": "mmlu/test.jsonl"},
    hub_files={
        "mmlu": HubFiles(
            repo="cais/mmlu",
            pattern="all/test-*.parquet",
            revision="c30699e8356da336a370243923dbaf21066bb9fe",
            columns=("question", "subject", "choices", "answer"),
        )
    },
    licence=Licence(
        spdx="MIT",
        attribution="MMLU (Hendrycks, Burns, Basart, Zou, Mazeika, Song and Steinhardt, 2021)",
        url="https://github.com/hendrycks/test",
    ),
    parse_release=parse_release,
    from_hub=from_hub,
    from_qa=from_qa,
    embedded_files={"mmlu": EmbeddedFile(name="test", layout="release")},
)
