"""What templates get: typed, frozen and already in words. No view holds a scorecard, and no template computes."""

from dataclasses import dataclass

from leaderboard.cells import Note, Number
from leaderboard.charts import Chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link inside the site, relative to the page that shows it, or a checked http(s) address."""

    text: str
    href: str
    current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The frame of every page. `root` leads from the page to the site's root: "" or "../"."""

    title: str
    description: str
    root: str
    nav: tuple[Link, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One line of a list of facts; with `href` the value is a link."""

    name: str
    value: str
    href: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A short mark beside a name; `meaning` says it in full."""

    text: str
    meaning: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column's heading; `arrow` tells which way is better, "" where neither is."""

    heading: str
    arrow: str = ""
    meaning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRow:
    """One row of a NumberTable; `flags` are short words beside its name."""

    name: str
    numbers: tuple[Number, ...]
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberGroup:
    """Rows under one heading."""

    title: str
    rows: tuple[NumberRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberTable:
    """Groups of rows of numbers, as wide as `columns`; `notes` explain the gaps."""

    columns: tuple[Column, ...]
    groups: tuple[NumberGroup, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardRow:
    """One system on a track: rank label, headline, other metrics and what it cost."""

    rank: str
    name: str
    href: str
    best: bool
    badges: tuple[Badge, ...]
    headline: Number
    metrics: tuple[Number, ...]
    costs: tuple[str, ...]
    sees: str
    date: str
    scored: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardGroup:
    """The rows of one method class, best first."""

    title: str
    rows: tuple[BoardRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """The top row in one line: who, how well, at which cost, and what keeps it from meaning more."""

    name: str
    href: str
    value: str
    interval: str | None
    cost: str
    caution: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """A system without this track, and why."""

    name: str
    href: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardTrack:
    """One track of a board. `ticks` are the places and texts of the axis above the interval bars."""

    key: str
    title: str
    intro: str
    counts: str
    banner: str | None
    lead: Lead | None
    headline: Column
    ticks: tuple[tuple[float, str], ...]
    metrics: tuple[Column, ...]
    costs: tuple[Column, ...]
    groups: tuple[BoardGroup, ...]
    absent: tuple[Absent, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    """The board of one answering LLM, for all questions or the clean ones."""

    page: Page
    llm: str
    scored: str
    llms: tuple[Link, ...]
    selections: tuple[Link, ...]
    selection: str
    tracks: tuple[BoardTrack, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorView:
    """A wrong answer with high confidence. `text` is None where the question is not at hand."""

    id: str
    confidence: str
    text: "ErrorText | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorText:
    """The words of a wrong answer."""

    question: str
    golds: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A source that stands in no mean over sources: of which metrics, and why."""

    source: str
    metrics: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTrack:
    """One track of one system; all but `absent` is empty where the system has no confidences for it."""

    key: str
    title: str
    counts: str
    absent: str | None
    banner: str | None
    headline: Number | None
    headline_name: str
    headline_missing: str | None
    seeds: str | None
    scores: NumberTable
    left_out: tuple[LeftOut, ...]
    slices: NumberTable
    charts: tuple[Chart, ...]
    errors: tuple[ErrorView, ...]
    more_errors: tuple[ErrorView, ...]
    errors_missing: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemView:
    """One system on its own page."""

    page: Page
    name: str
    llm: str
    board: Link
    description: str
    badges: tuple[Badge, ...]
    facts: tuple[Fact, ...]
    flags: tuple[Fact, ...]
    warnings: tuple[str, ...]
    inputs: tuple[Fact, ...]
    tracks: tuple[SystemTrack, ...]
    verify: str
    citation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextView:
    """A page of prose; `flags`, `metrics`, `sees`, `not_ranked` are the words that it explains."""

    page: Page
    scorer_version: str
    metrics: tuple[Fact, ...]
    flags: tuple[Fact, ...]
    sees: tuple[Fact, ...]
    classes: tuple[Fact, ...]
    not_ranked: str
