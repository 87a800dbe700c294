"""Check the ids of a confidence file against those it must hold."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Literal, NamedTuple

from honestybench.records import SPLITS
from honestybench.submission.faults import Fault, shown
from honestybench.submission.jsonl import Row
from honestybench.submission.known import KnownIds

EXAMPLE_ID = re.compile(rf"[a-z0-9]+-({'|'.join(SPLITS)})-[0-9a-f]{{12}}(-[0-9]+)?")
"""The form of the benchmark's own ids (see `records.example_id`)."""

NEAR_IDS = frozenset(("_id", "ids", "example_id", "question_id", "qid", "uid", "key", "idx", "index"))

UNKNOWN = {
    "train": ("is a train question", "submit the evaluation splits only"),
    "nfc": ("is unknown, but its NFC form is a question", "write ids exactly as the benchmark does"),
    "other_train": ("looks like a train question of another release", "submit this release's evaluation splits"),
    "other": ("looks like a question of another release", "check which release or labels the file was made for"),
    "none": ("is not a question here", "check which release or labels the file was made for"),
}
"""Kinds of unknown id: kind -> (what is said of it, the repair)."""


class Coverage(NamedTuple):
    """How many questions a track has, and how many of them the file holds."""

    n_questions: int
    n_found: int

    @property
    def status(self) -> Literal["submitted", "incomplete", "not_submitted"]:
        """What the file does with the track; an incomplete one rejects it."""
        if not self.n_found:
            return "not_submitted"
        return "submitted" if self.n_found == self.n_questions else "incomplete"


class IdCheck:
    """Check ids row by row, then as a whole.

    Only known ids are remembered, so that memory is bounded by the benchmark and not by the file.
    """

    def __init__(self, known: KnownIds) -> None:
        self._known = known
        self._required = frozenset[str]().union(*known.tracks.values())
        self._lines: dict[str, int] = {}
        self._unknown: Counter[str] = Counter()
        self._first_unknown: tuple[int, str] | None = None

    def add(self, line: int, row: Row) -> tuple[bool, Fault | None]:
        """Say whether a row is the first of a question, and what is wrong with its id.

        An unknown id is no question and no fault yet: `unknown` tells of all of them at once.
        """
        found = row.get("id")
        if not isinstance(found, str):
            return False, _no_id(line, row)
        if found in self._required:
            first = self._lines.setdefault(found, line)
            if first == line:
                return True, None
            message = f"this id stands on line {first} already; keep one line for each id"
            return False, Fault(code="DUPLICATE_ID", line=line, id=found, message=message)
        self._first_unknown = self._first_unknown or (line, found)
        self._unknown[self._kind(found)] += 1
        return False, None

    def coverage(self) -> dict[str, Coverage]:
        """Count the questions of each track that were found."""
        return {
            track: Coverage(len(ids), len(ids.intersection(self._lines))) for track, ids in self._known.tracks.items()
        }

    def unknown(self) -> Iterator[Fault]:
        """Yield one fault for all unknown ids, placed at the first."""
        if self._first_unknown is None:
            return
        line, example_id = self._first_unknown
        kind, n_unknown, n_train = self._kind(example_id), self._unknown.total(), self._unknown["train"]
        what, repair = UNKNOWN[kind]
        if n_unknown > 1:
            all_of_them = "none of the {} ids is a question here" if not self._lines else "{} ids are no questions here"
            trains = f", train questions among them: {n_train}" if 0 < n_train < n_unknown else ""
            what = f"{'comes first' if kind == 'none' else what} ({all_of_them.format(n_unknown)}{trains})"
        yield Fault(code="UNKNOWN_IDS", line=line, id=example_id, message=f"{shown(example_id)} {what}; {repair}")

    def missing(self, n_unread: int) -> Iterator[Fault]:
        """Yield a fault for each track that was begun and not finished.

        `n_unread` lines had no readable id; when no more ids than that are missing, those lines are the fault.
        """
        begun = {track: each for track, each in self.coverage().items() if each.status == "incomplete"}
        if sum(each.n_questions - each.n_found for each in begun.values()) <= n_unread:
            return
        line = "line that can be read" if n_unread else "line"
        for track, (n_questions, n_found) in begun.items():
            first = min(self._known.tracks[track] - self._lines.keys())
            what = (
                f"{n_questions - n_found} of {n_questions} questions of {track} have no {line} (first: {shown(first)})"
            )
            repair = "give every question a confidence, or leave the whole track out"
            yield Fault(code="MISSING_IDS", id=first, message=f"{what}; {repair}")

    def _kind(self, example_id: str) -> str:
        if example_id in self._known.train:
            return "train"
        if unicodedata.normalize("NFC", example_id) in self._required:
            return "nfc"
        form = EXAMPLE_ID.fullmatch(example_id)
        if form is None:
            return "none"
        return "other_train" if form[1] == "train" else "other"


def _no_id(line: int, row: Row) -> Fault:
    found = row.get("id")
    if found is not None:
        kind = "the number " if isinstance(found, int | float) and not isinstance(found, bool) else ""
        message = f"id is {kind}{shown(found)}, not a string; write it exactly as the benchmark does, in quotes"
        return Fault(code="ID_NOT_STRING", line=line, message=message)
    near = next((key for key in row if key.casefold() in NEAR_IDS or key.casefold() == "id" != key), None)
    hint = f" (found {shown(near)})" if near is not None else ""
    what = "id is null" if "id" in row else f'no key "id"{hint}'
    return Fault(code="MISSING_ID", line=line, message=f"{what}; name the question that the confidence is for")
