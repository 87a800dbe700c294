"""What every source builder is made of: a row, a licence, a builder, and where its files lie."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from builders.raw import Record

Layout = Literal["qa", "release"]
Kind = Literal["embedded", "qa", "release", "hub"]
"""Where questions come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """One record as a source's file tells it, in the published text.

    `answers` is canonical first where the layout tells it (aliases follow, sorted), else all
    sorted; no repeats. `source_row` is the 0-based row in the paper's file order, None where the
    file does not tell it. `question_repaired` and `answers_repaired` are set where the layout
    knows a better question or more golds than were published; general cleaning comes after them.
    The other fields are None where the layout does not have them.
    """

    question: str
    answers: tuple[str, ...]
    source_row: int | None = None
    question_repaired: str | None = None
    answers_repaired: tuple[str, ...] | None = None
    hops: int | None = None
    relation: str | None = None
    popularity: int | None = None
    subject: str | None = None
    answer_type: str | None = None
    choices: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Licence:
    """Terms of one source: SPDX id (or `unclear: …`), who to credit, where from."""

    spdx: str
    attribution: str
    url: str
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedFile:
    """An embedded excerpt: its name under `builders/embedded/<key>/`, its layout, and what to know of it."""

    name: str
    layout: Layout = "qa"
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFiles:
    """Where a split lies on the Hub: the files of a dataset repository that match `pattern`, in name order.

    `*` in the pattern stands for any characters, slashes too. `revision` is a full commit hash,
    or a branch where no commit is known. `columns` are read from Parquet; other formats are read whole.
    """

    repo: str
    pattern: str
    revision: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBuilder:
    """One source: what it is, how many examples each split must have, and how its files are read.

    `counts` maps each split this source plays in to its published size. `release_files`,
    `qa_files`, `hub_files` and `embedded_files` map splits to the file in the original release, in
    the authors' question files, on the Hub and in the checkout; a split that a layout cannot tell is
    left out. `parse_release` reads an original file; `from_qa` reads one line of the authors'
    {"question", "answer"} layout for one split (the shared reader when None); `from_hub` reads one
    row of the Hub's layout, and `select_hub_split` takes a split's rows out of a table that holds
    them all (None: the files hold just the split).
    `release_in_paper_order` says whether the original order is known to be the paper's.
    """

    key: str
    title: str
    counts: Mapping[str, int]
    release_files: Mapping[str, str]
    qa_files: Mapping[str, str]
    hub_files: Mapping[str, HubFiles]
    licence: Licence
    parse_release: Callable[[Path], Iterator[SourceRow]]
    from_hub: Callable[[Record], SourceRow]
    from_qa: Callable[[Record, str], SourceRow] | None = None
    select_hub_split: Callable[[Sequence[SourceRow], str], list[SourceRow]] | None = None
    embedded_files: Mapping[str, EmbeddedFile] = field(default_factory=dict)
    release_in_paper_order: bool = False


def canonical_first(canonical: str, others: Iterable[str]) -> tuple[str, ...]:
    """Order golds: the canonical one, then the others sorted, no repeats."""
    return (canonical, *sorted(set(others) - {canonical}))
