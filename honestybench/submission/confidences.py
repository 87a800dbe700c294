"""Read a confidence file: everything that is wrong with it at once, or one confidence per id."""

import math
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from honestybench.submission.faults import Fault, FaultLog, Outcome, shown
from honestybench.submission.ids import Coverage, IdCheck
from honestybench.submission.jsonl import LIMITS, Limits, Row, read_objects
from honestybench.submission.known import KnownIds

TOLERANCE = 1e-6
"""How far float32 rounding may carry a confidence out of [0, 1]."""

LABEL_KEYS = frozenset(
    ("correct", "is_correct", "correctness", "label", "greedy_correctness", "sampling_correctness", "sample_accuracy")
)
MAX_NEAR_KEYS = 20
NEAR_KEYS = ("conf", "prob", "score", "certainty")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult:
    """What came out of a confidence file.

    `faults` are at most 20 of the `n_faults`, warnings included, those that reject first. `confidences` maps
    id to a float in [0, 1], sorted by id; None when the file is rejected. `coverage` is by track.
    """

    outcome: Outcome
    faults: tuple[Fault, ...]
    n_faults: int
    confidences: dict[str, float] | None
    coverage: dict[str, Coverage]


def read_confidences(path: Path, known: KnownIds, limits: Limits = LIMITS) -> ReadResult:
    """Read a file of lines `{"id": …, "confidence": …}` (plain or gzip) against the ids that it must hold.

    The order of lines does not matter. Raises: SubmissionError for a pipe or a device, OSError when the file
    cannot be opened; all that is wrong inside is in the result (see FAULTS).
    """
    reading = _Reading(known)
    for found in read_objects(path, limits):
        if isinstance(found, Fault):
            reading.add_fault(found)
        else:
            reading.add_row(*found)
    return reading.finish()


class _Reading:
    """The state of one reading."""

    def __init__(self, known: KnownIds) -> None:
        self._ids = IdCheck(known)
        self._log = FaultLog()
        self._n_rows = self._n_unread = 0
        self._values: dict[str, float] = {}
        self._n_out = self._n_negative = self._n_percent = 0
        self._n_clipped = self._n_labels = 0
        self._first_clipped: Fault | None = None
        self._first_label: Fault | None = None

    def add_fault(self, fault: Fault) -> None:
        """Take a fault of a line that cannot be used, or of the file."""
        self._log.add(fault)
        if fault.line is not None and fault.id is not None:
            self._check_id(fault.line, {"id": fault.id})
        else:
            self._n_unread += fault.outcome == "reject"

    def add_row(self, line: int, row: Row) -> None:
        """Check one row: its id, its confidence, its other keys."""
        self._n_rows += 1
        usable = self._check_id(line, row)
        value = row.get("confidence")
        confidence = value if type(value) is float and 0 <= value <= 1 else self._odd(line, row)
        if confidence is not None and usable:
            # Adding zero turns -0.0, which sorts and prints apart, into 0.0.
            self._values[str(row["id"])] = confidence + 0.0
        if len(row) > 2 and (keys := LABEL_KEYS & row.keys()):
            self._n_labels += 1
            self._first_label = self._first_label or _fault("IGNORED_LABEL", line, row, f"key {shown(min(keys))}")

    def _check_id(self, line: int, row: Row) -> bool:
        """Say whether this is the first row of a question; log the fault of its id."""
        usable, fault = self._ids.add(line, row)
        if fault:
            self._log.add(fault)
            self._n_unread += fault.id is None
        return usable

    def finish(self) -> ReadResult:
        """Check what only the whole file tells, and conclude."""
        log = self._log
        if not self._n_rows and log.outcome != "reject":
            log.add(Fault(code="EMPTY", message='no record here; write lines like {"id": "…", "confidence": 0.5}'))
        if self._n_out:
            self._hint_scale()
        for fault in self._ids.unknown():
            log.add(fault)
        if "BAD_GZIP" not in log and "TOO_LARGE" not in log:
            for fault in self._ids.missing(self._n_unread):
                log.add(fault)
        self._warn()
        values = dict(sorted(self._values.items())) if log.outcome != "reject" else None
        return ReadResult(
            outcome=log.outcome,
            faults=log.listed(),
            n_faults=log.n_faults,
            confidences=values,
            coverage=self._ids.coverage(),
        )

    def _odd(self, line: int, row: Row) -> float | None:
        """Judge a confidence that is no float in [0, 1]: give it where it is acceptable, else log its fault."""
        value = row.get("confidence")
        if not isinstance(value, int | float) or isinstance(value, bool):
            self._log.add(_no_number(line, row))
            return None
        if 0 <= value <= 1:
            return float(value)
        if -TOLERANCE <= value <= 1 + TOLERANCE:
            self._n_clipped += 1
            self._first_clipped = self._first_clipped or _fault("CLIPPED", line, row, shown(value))
            return 0.0 if value < 0 else 1.0
        if abs(value) == math.inf:
            what = f"confidence overflows a double ({shown(value)}); write a number in [0, 1]"
            self._log.add(_fault("NOT_FINITE", line, row, what))
            return None
        self._n_out += 1
        self._n_negative += value < 0
        self._n_percent += 1 < value <= 100
        self._log.add(_fault("OUT_OF_RANGE", line, row, f"confidence {shown(value)} is outside [0, 1]"))
        return None

    def _hint_scale(self) -> None:
        """Say which scale nine of ten values out of range suggest; never convert."""
        of_all = f"of {self._n_rows} values"
        if self._n_negative >= 0.9 * self._n_out:
            hint = f"{self._n_negative} {of_all} below 0: log-probabilities? Then write exp of them"
        elif self._n_percent >= 0.9 * self._n_out and self._n_out >= 0.5 * self._n_rows:
            hint = f"{self._n_percent} {of_all} look like percentages: divide by 100"
        else:
            hint = "write a number in [0, 1], higher for more likely correct"
        self._log.hint("OUT_OF_RANGE", hint)

    def _warn(self) -> None:
        """Log each warning once, with its count, placed at its first row."""
        if first := self._first_clipped:
            values = "1 value" if self._n_clipped == 1 else f"{self._n_clipped} values"
            what = f"{values} within 1e-6 of the range set to the bound (first: {first.message})"
            self._log.add(replace(first, message=what))
        if first := self._first_label:
            rows = "1 row" if self._n_labels == 1 else f"{self._n_labels} rows"
            what = f"{first.message} is ignored in {rows}: labels come from the benchmark"
            self._log.add(replace(first, message=what))
        distinct = set(self._values.values())
        if len(distinct) == 1 and self._log.outcome != "reject":
            what = f"all confidences are {shown(distinct.pop())}: ranking metrics say nothing"
            self._log.add(Fault(code="CONSTANT", message=what))


def _fault(code: str, line: int, row: Row, message: str) -> Fault:
    found = row.get("id")
    return Fault(code=code, line=line, id=found if isinstance(found, str) else None, message=message)


def _no_number(line: int, row: Row) -> Fault:
    value = row.get("confidence")
    if value is not None:
        quoted = isinstance(value, str) and value.replace(".", "", 1).isdecimal()
        repair = "write it without quotes" if quoted else "write a number in [0, 1]"
        return _fault("NOT_A_NUMBER", line, row, f"confidence is {shown(value)}, not a number; {repair}")
    if "confidence" in row:
        what = "confidence is null"
    else:
        others = [key for key in islice(row, MAX_NEAR_KEYS) if key != "id"]
        stems = (key for key in others if any(stem in key.casefold() for stem in NEAR_KEYS))
        near = next(stems, None) or next(iter(get_close_matches("confidence", others, n=1)), None)
        what = 'no key "confidence"' + (f" (found {shown(near)})" if near is not None else "")
    repair = "every question needs a number in [0, 1], your own fall-back value where you have none"
    return _fault("MISSING_CONFIDENCE", line, row, f"{what}; {repair}")
