"""What every source builder is made of: a row, a builder, and the way from rows to examples."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """One record as a source's file tells it, in the published text.

    `answers` is canonical first where the layout tells it (aliases follow, sorted), else all
    sorted; no repeats. `source_row` is the 0-based row in the paper's file order, None where the
    file does not tell it. The other fields are None where the layout does not have them.
    """

    question: str
    answers: tuple[str, ...]
    source_row: int | None = None
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
class SourceBuilder:
    """One source: what it is, how many examples each split must have, and how its files are read.

    `counts` maps each split this source plays in to its published size. `release_files` and
    `qa_files` map those splits to the file name in the original release and in the authors'
    question files. `parse_release` reads an original file; `from_qa` reads one line of the
    authors' {"question", "answer"} layout (the shared reader when None).
    """

    key: str
    title: str
    counts: Mapping[str, int]
    release_files: Mapping[str, str]
    qa_files: Mapping[str, str]
    licence: Licence
    parse_release: Callable[[Path], Iterator[SourceRow]]
    from_qa: Callable[[Mapping[str, object]], SourceRow] | None = None
