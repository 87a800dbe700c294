"""From rows to examples: where files lie, ids, duplicates, clusters, flags."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from builders import BUILDERS
from builders.base import Kind, Layout, SourceBuilder, SourceRow
from builders.clean import clean_answers, clean_question
from builders.flags import Corpus, first_copy_id, flags_of
from builders.hub_layout import read_hub
from builders.qa_layout import read_qa
from honestybench.errors import CountError, IdCollisionError, SourceError, UnknownNameError
from honestybench.normalize import normalize_question
from honestybench.records import QAExample, example_id, sha256_hex

EMBEDDED_DIR = Path(__file__).resolve().parent / "embedded"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionOrigin:
    """Where questions are read from.

    `embedded`: the excerpts of the checkout; `qa`: a folder of the authors' question files;
    `release`: a folder with one folder per source key that holds the original files; `hub`: the
    Hub's repositories, which need no root.
    """

    kind: Kind
    root: Path = Path()


EMBEDDED = QuestionOrigin(kind="embedded", root=EMBEDDED_DIR)
HUB = QuestionOrigin(kind="hub")


def select_builders(names: Iterable[str]) -> list[SourceBuilder]:
    """Return the builders of the named sources in the table's order. Raises UnknownNameError."""
    wanted = set(names)
    for name in sorted(wanted - BUILDERS.keys()):
        raise UnknownNameError("source", name, BUILDERS)
    return [builder for key, builder in BUILDERS.items() if key in wanted]


def splits_of(builder: SourceBuilder, kind: Kind) -> list[str]:
    """Return the splits of a source that files of this kind can give, in the order of its counts."""
    files = {
        "embedded": builder.embedded_files,
        "qa": builder.qa_files,
        "release": builder.release_files,
        "hub": builder.hub_files,
    }
    return [split for split in builder.counts if split in files[kind]]


def read_examples(builder: SourceBuilder, split: str, origin: QuestionOrigin) -> list[QAExample]:
    """Read one split of one source, without flags, sorted by id.

    Embedded excerpts are partial; any other origin must give the whole split.
    Raises UnknownNameError, SourceError, CountError, IdCollisionError, MissingExtraError.
    """
    rows, where = _read_rows(builder, split, origin)
    if origin.kind != "embedded" and not is_whole(builder, split, rows):
        raise CountError(
            f"{builder.key}, split {split}: expected {builder.counts[split]} examples",
            where=where,
            value=len(rows),
            remedy="fetch the file again, and check that it is the published version",
        )
    return sorted(build_examples(builder.key, split, rows), key=lambda example: example.id)


def is_whole(builder: SourceBuilder, split: str, examples: Sequence[object]) -> bool:
    """Tell whether these are as many examples as the split was published with."""
    return len(examples) == builder.counts[split]


def build_examples(source: str, split: str, rows: Sequence[SourceRow]) -> list[QAExample]:
    """Turn the rows of one split into examples without flags; exact repeats are numbered in row order.

    Row order is `source_row` where every row has one, else the order given. Raises IdCollisionError.
    """
    if all(row.source_row is not None for row in rows):
        rows = sorted(rows, key=lambda row: row.source_row or 0)
    copies: Counter[str] = Counter()
    examples = []
    for row in rows:
        first_id = example_id(source, split, row.question, row.answers)
        copies[first_id] += 1
        examples.append(_example(source, split, row, copies[first_id]))
    check_ids(examples)
    return examples


def check_ids(examples: Iterable[QAExample]) -> None:
    """Raise IdCollisionError when an id occurs twice, or when copies of one id differ in content."""
    contents: dict[str, tuple[str, frozenset[str]]] = {}
    seen: set[str] = set()
    for example in examples:
        content = (unicodedata.normalize("NFC", example.question), frozenset(example.answers))
        if example.id in seen or contents.setdefault(first_copy_id(example.id), content) != content:
            raise IdCollisionError(
                "two examples share this id",
                where=example.id,
                value=example.question,
                remedy="read each split once; if the two differ, report the pair",
            )
        seen.add(example.id)


def annotate_flags(examples: Sequence[QAExample]) -> list[QAExample]:
    """Set the flags of examples seen together, sorted by source and id. Raises IdCollisionError."""
    check_ids(examples)
    corpus = Corpus.of(examples)
    flagged = [replace(example, flags=flags_of(example, corpus)) for example in examples]
    return sorted(flagged, key=lambda example: (example.source, example.id))


def _example(source: str, split: str, row: SourceRow, copy: int) -> QAExample:
    return QAExample(
        id=example_id(source, split, row.question, row.answers, copy=copy),
        source=source,
        split=split,
        question=row.question,
        answers=row.answers,
        cluster="c" + sha256_hex(normalize_question(row.question))[:12],
        question_clean=clean_question(row),
        answers_clean=clean_answers(row),
        source_row=row.source_row,
        hops=row.hops,
        relation=row.relation,
        popularity=row.popularity,
        subject=row.subject,
        answer_type=row.answer_type,
        choices=row.choices,
    )


def _read_rows(builder: SourceBuilder, split: str, origin: QuestionOrigin) -> tuple[list[SourceRow], str]:
    """Return the rows of a split and where they were read."""
    _check_split(builder, split, origin)
    if origin.kind == "hub":
        files = builder.hub_files[split]
        return read_hub(builder, split), f"Hub dataset {files.repo}, {files.pattern}, revision {files.revision}"
    path, layout = _locate(builder, split, origin)
    if layout == "qa":
        return list(read_qa(builder, split, path)), str(path)
    rows = list(builder.parse_release(path))
    if builder.release_in_paper_order and is_whole(builder, split, rows):
        rows = [replace(row, source_row=index) for index, row in enumerate(rows)]
    return rows, str(path)


def _check_split(builder: SourceBuilder, split: str, origin: QuestionOrigin) -> None:
    if split not in builder.counts:
        raise UnknownNameError(f"split of {builder.key}", split, builder.counts)
    if split not in splits_of(builder, origin.kind):
        refuse_split(builder, split, origin.kind)


def refuse_split(builder: SourceBuilder, split: str, kind: Kind) -> NoReturn:
    """Raise the SourceError for a split that files of this kind cannot tell."""
    remedy = (
        "the original release does not tell it: use the authors' question files, --qa-dir"
        if kind == "release"
        else "use another origin of questions"
    )
    raise SourceError(f"{builder.key}: no {kind} file holds the split", value=split, remedy=remedy)


def _locate(builder: SourceBuilder, split: str, origin: QuestionOrigin) -> tuple[Path, Layout]:
    if origin.kind == "embedded":
        embedded = builder.embedded_files[split]
        return origin.root / builder.key / embedded.name, embedded.layout
    if origin.kind == "qa":
        return origin.root / builder.qa_files[split], "qa"
    return origin.root / builder.key / builder.release_files[split], "release"
