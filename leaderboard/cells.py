"""The smallest parts of a page: numbers as text, gaps with their reasons, and outside text made harmless."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Self
from urllib.parse import urlsplit

from honestybench.scorecard import Headline, Value

NONE = "–"
"""Stands where there is no value; never 0."""

CHANCE = 0.5
"""The AUROC of a coin."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_NOT_IN_A_LINK = re.compile(r"[^!-~]|[\\<>\"'`{}|^]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An interval drawn in a table's cell, in per cent of its width; `low` is None without interval."""

    value: float
    low: float | None
    high: float | None
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One value of a table as text, `below` it its interval or null value.

    Without a value `text` is "–" and `note` marks the reason below the table.
    """

    text: str
    below: str | None = None
    note: str | None = None
    bar: Bar | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Why a value is missing, under the mark that stands in its place."""

    mark: str
    reason: str


class Notes:
    """Gather the reasons of one table's gaps; equal reasons share a mark."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def mark(self, reason: str) -> str:
        """Give the mark of a reason: a, b, … z, aa, ab, …"""
        return self._marks.setdefault(reason, _letters(len(self._marks)))

    def all(self) -> tuple[Note, ...]:
        """Give the notes in the order in which they were first needed."""
        return tuple(Note(mark=mark, reason=reason) for reason, mark in self._marks.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The axis from `low` to 1 that all AUROC bars of one table share."""

    low: float

    @classmethod
    def around(cls, values: Iterable[Value | Headline]) -> Self:
        """Begin at the tenth below all values and intervals, and always below chance, so that it can be seen."""
        ends = [end for entry in values for end in (entry["value"], entry["ci_low"]) if end is not None]
        return cls(low=math.floor(10 * min([CHANCE - 0.1, *ends])) / 10)

    def place(self, value: float) -> float:
        """Map a value to 1 … 99 per cent of the bar, so that a mark at an end is whole."""
        return round(1 + 98 * (value - self.low) / (1 - self.low), 2)

    def bar(self, entry: Value | Headline) -> Bar | None:
        """Draw a value with its interval; None without a value."""
        value, low, high = entry["value"], entry["ci_low"], entry["ci_high"]
        if value is None:
            return None
        return Bar(
            value=self.place(value),
            low=None if low is None else self.place(low),
            high=None if high is None else self.place(high),
            chance=self.place(CHANCE),
        )

    def ticks(self) -> tuple[tuple[float, str], ...]:
        """The places and texts of the axis."""
        return tuple((self.place(tick), f"{tick:.1f}") for tick in (0.0, CHANCE, 1.0) if tick >= self.low)


def decimal(value: float, digits: int = 3) -> str:
    """Write a number with a fixed count of decimals and a true minus sign; never "-0.000"."""
    text = f"{value:.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def number(entry: Value | Headline, notes: Notes, *, scale: Scale | None = None, below: str | None = None) -> Number:
    """Turn a scorecard's value into what a table shows, with its bar where there is a scale.

    `below` stands in the place of an interval.
    """
    value, low, high = entry["value"], entry["ci_low"], entry["ci_high"]
    if value is None:
        return Number(text=NONE, note=notes.mark(entry["reason"] or "no reason given"))
    if below is None and low is not None and high is not None:
        below = f"{decimal(low)} to {decimal(high)}"
    return Number(text=decimal(value), below=below, bar=scale.bar(entry) if scale else None)


def some(count: int, one: str, many: str) -> str:
    """Count things in words: "no labels", "1 label", "1,000 labels"."""
    return f"no {many}" if count == 0 else f"{count:,} {one if count == 1 else many}"


def share(part: int, whole: int) -> str:
    """Write a share as per cent, "–" of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else NONE


def shown(text: str) -> str:
    """Make outside text printable: what HTML or UTF-8 cannot hold becomes the replacement character."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def web_link(text: str | None) -> str | None:
    """Give an address back when it is a plain http(s) link, else None: no other scheme, no user, no odd character."""
    if not text or _NOT_IN_A_LINK.search(text) or _CONTROL.search(text):
        return None
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        return None
    return text if usable else None


def _letters(index: int) -> str:
    text = ""
    index += 1
    while index:
        index, digit = divmod(index - 1, len(ascii_lowercase))
        text = ascii_lowercase[digit] + text
    return text
