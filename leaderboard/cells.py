"""The smallest parts of a page: numbers as text, gaps with their reasons, and outside text made harmless."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Self
from urllib.parse import urlsplit

from honestybench.scorecard import Headline, Value

NONE = "–"
"""Stands where there is no value; never 0."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_NOT_IN_A_LINK = re.compile(r"[\s\\<>\"'`{}|^]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An interval drawn in a table's cell, in units of its viewBox (0 … 100); `low` is None without interval."""

    value: float
    low: float | None
    high: float | None
    chance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """One value of a table as text. Without a value `text` is "–" and `note` marks the reason below the table."""

    text: str
    interval: str | None = None
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
        return tuple(Note(mark=mark, reason=shown(reason)) for reason, mark in self._marks.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The axis that all interval bars of one column share: `low` and `high` in the metric's unit."""

    low: float
    high: float
    chance: float | None

    @classmethod
    def around(cls, values: Iterable[Value | Headline], *, chance: float) -> Self:
        """Span all values, their intervals and chance, to the next tenth."""
        found = [chance]
        for entry in values:
            found += [end for end in (entry["value"], entry["ci_low"], entry["ci_high"]) if end is not None]
        low, high = (10 * min(found)) // 1 / 10, -((-10 * max(found)) // 1) / 10
        if low == high:
            low, high = low - 0.1, high + 0.1
        return cls(low=low, high=high, chance=chance)

    def place(self, value: float) -> float:
        """Map a value to 2 … 98 of the bar's 100 units, so that a mark at an end is whole."""
        return round(2 + 96 * (value - self.low) / (self.high - self.low), 2)

    def ticks(self) -> tuple[tuple[float, str], ...]:
        """The places and texts of both ends and of chance."""
        ends = [self.low, self.high]
        if self.chance is not None and self.chance not in ends:
            ends.insert(1, self.chance)
        return tuple((self.place(value), f"{value:.1f}") for value in ends)


def decimal(value: float, digits: int = 3) -> str:
    """Write a number with a fixed count of decimals and a true minus sign; never "-0.000"."""
    text = f"{value:.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def number(entry: Value | Headline, notes: Notes, scale: Scale | None = None, below: str | None = None) -> Number:
    """Turn a scorecard's value into what a table shows; with a scale it gets its bar."""
    value, low, high = entry["value"], entry["ci_low"], entry["ci_high"]
    if value is None:
        return Number(text=NONE, note=notes.mark(entry["reason"] or "no reason given"))
    interval = bar = None
    if low is not None and high is not None:
        interval = f"{decimal(low)} to {decimal(high)}"
    if scale is not None:
        bar = Bar(
            value=scale.place(value),
            low=None if low is None else scale.place(low),
            high=None if high is None else scale.place(high),
            chance=None if scale.chance is None else scale.place(scale.chance),
        )
    return Number(text=decimal(value), interval=interval, below=below, bar=bar)


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
