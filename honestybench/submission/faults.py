"""What can be wrong with a confidence file: the table of codes, one fault, a log that lists a few and counts all."""

import json
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

Outcome = Literal["accept", "warn", "reject"]

MAX_FAULTS = 20
"""So many faults are listed; the rest is counted."""

SHOWN_CHARACTERS = 60


class FaultKind(NamedTuple):
    """What a code does to the file, and when it is raised."""

    outcome: Literal["warn", "reject"]
    when: str


FAULTS: dict[str, FaultKind] = {
    "BOM": FaultKind("warn", "a UTF-8 byte-order mark at the start: dropped"),
    "CLIPPED": FaultKind("warn", "a confidence at most 1e-6 outside [0, 1]: set to the bound"),
    "CONSTANT": FaultKind("warn", "all confidences are equal"),
    "IGNORED_LABEL": FaultKind("warn", "a row carries a label: never used"),
    "EMPTY": FaultKind("reject", "no record"),
    "NOT_UTF8": FaultKind("reject", "a byte that is not UTF-8, or a file in UTF-16"),
    "BAD_GZIP": FaultKind("reject", "truncated or corrupt gzip"),
    "LINE_TOO_LONG": FaultKind("reject", "a line over 1 MiB"),
    "TOO_LARGE": FaultKind("reject", "over 1 GiB, unpacked"),
    "NOT_JSONL": FaultKind("reject", "one array, or an object spread over lines"),
    "BAD_JSON": FaultKind("reject", "a line with anything that JSON forbids, or nested too deeply"),
    "NOT_OBJECT": FaultKind("reject", "a line that is no JSON object"),
    "DUPLICATE_KEY": FaultKind("reject", "an object with a key twice"),
    "MISSING_ID": FaultKind("reject", "the key id is absent or null"),
    "ID_NOT_STRING": FaultKind("reject", "an id that is no string"),
    "MISSING_CONFIDENCE": FaultKind("reject", "the key confidence is absent or null"),
    "NOT_A_NUMBER": FaultKind("reject", "a confidence that is a string, a boolean, a list or an object"),
    "NOT_JSON_NUMBER": FaultKind("reject", "NaN or Infinity, which JSON does not have"),
    "NOT_FINITE": FaultKind("reject", "a confidence that overflows a double"),
    "OUT_OF_RANGE": FaultKind("reject", "a confidence more than 1e-6 outside [0, 1]"),
    "DUPLICATE_ID": FaultKind("reject", "an id a second time, even with an equal value"),
    "UNKNOWN_IDS": FaultKind("reject", "ids that are no evaluation questions"),
    "MISSING_IDS": FaultKind("reject", "a track with some of its ids, and not all"),
}
"""The registry of codes: code -> outcome and occasion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault: where it is, the value, and how to mend it.

    `line` counts from 1, blank lines too; None where the fault is not of one line. `id` is that of the row
    where it is known. `message` names the value and the repair, not the place.
    """

    code: str
    message: str
    line: int | None = None
    id: str | None = None

    @property
    def outcome(self) -> Literal["warn", "reject"]:
        """What this fault does to the file."""
        return FAULTS[self.code].outcome

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        named = "" if self.id is None or shown(self.id) in self.message else f" (id {shown(self.id)})"
        return f"{place}{self.code}: {self.message}{named}"


class FaultLog:
    """Gather faults: count all of them, keep few of each code."""

    def __init__(self) -> None:
        self.n_faults = 0
        self._kept: dict[str, list[Fault]] = {}

    def add(self, fault: Fault) -> None:
        """Count a fault, and keep it unless its code has filled the list already."""
        self.n_faults += 1
        kept = self._kept.setdefault(fault.code, [])
        if len(kept) < MAX_FAULTS:
            kept.append(fault)

    def __contains__(self, code: str) -> bool:
        return code in self._kept

    def hint(self, code: str, text: str) -> None:
        """Add to the message of the first fault of a code what only the whole file tells."""
        first = self._kept[code][0]
        self._kept[code][0] = replace(first, message=f"{first.message}; {text}")

    @property
    def outcome(self) -> Outcome:
        """The verdict on the file: the worst of its faults."""
        outcomes = {FAULTS[code].outcome for code in self._kept}
        return "reject" if "reject" in outcomes else "warn" if outcomes else "accept"

    def listed(self) -> tuple[Fault, ...]:
        """At most MAX_FAULTS faults, the first of every code among them: what rejects first, then by line."""
        firsts = [kept[0] for kept in self._kept.values()]
        others = [fault for kept in self._kept.values() for fault in kept[1:]]
        room = max(0, MAX_FAULTS - len(firsts))
        return tuple(sorted(firsts + sorted(others, key=_place)[:room], key=_place))[:MAX_FAULTS]


def _place(fault: Fault) -> tuple[bool, bool, int]:
    return fault.outcome == "warn", fault.line is None, fault.line or 0


def shown(value: object) -> str:
    """Show a JSON value in a message: as JSON, cut, on one line, without characters that a terminal obeys."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    cut = value[: SHOWN_CHARACTERS + 1] if isinstance(value, str) else value
    text = json.dumps(cut, default=str, ensure_ascii=isinstance(cut, str) and not cut.isprintable())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
