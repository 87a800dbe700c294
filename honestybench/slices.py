"""The slices: named selections of questions by their published columns. A slice never changes a label."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

UNCLEAN_FLAGS = frozenset(
    ("duplicate", "homonym", "empty_gold", "degenerate_gold", "gold_in_question", "wrong_template")
)
"""A question with one of these flags is not in the slice "clean"."""

POPULARITY_EDGES = (100, 1_000, 10_000, 100_000)

Columns = Mapping[str, Sequence[object]]
"""Columns of one length by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceFamily:
    """Slices cut by one column. `member` maps a cell to the part of the slice's name after "family:".

    None means that the question is in no slice of the family; "" that the family itself is the slice.
    """

    label: str
    column: str
    member: Callable[[object], str | None]


def _popularity_band(views: object) -> str | None:
    if not isinstance(views, int):
        return None
    low = max((edge for edge in POPULARITY_EDGES if views >= edge), default=0)
    high = min((edge for edge in POPULARITY_EDGES if views < edge), default=None)
    return f"{low}+" if high is None else f"{low}-{high - 1}"


def _is_clean(flags: object) -> str | None:
    return "" if isinstance(flags, Sequence) and UNCLEAN_FLAGS.isdisjoint(flags) else None


def _written(cell: object) -> str | None:
    return None if cell is None else str(cell)


def _by_number(member: str) -> tuple[int, str]:
    digits = re.match("[0-9]*", member)
    return int(digits[0] or 0) if digits else 0, member


SLICES: dict[str, SliceFamily] = {
    "all": SliceFamily(label="All", column="id", member=lambda _: ""),
    "clean": SliceFamily(label="Clean", column="flags", member=_is_clean),
    "source": SliceFamily(label="Source", column="source", member=_written),
    "hops": SliceFamily(label="Hops", column="hops", member=_written),
    "relation": SliceFamily(label="Relation", column="relation", member=_written),
    "popularity": SliceFamily(label="Popularity", column="popularity", member=_popularity_band),
    "answer_type": SliceFamily(label="Answer type", column="answer_type", member=_written),
}
"""Family -> its definition, in the order of pages. Slices are named "all", "clean", "source:nq", "hops:2" …"""

SLICE_COLUMNS = tuple(dict.fromkeys(family.column for family in SLICES.values()))


def slice_rows(columns: Columns) -> dict[str, list[int]]:
    """List the rows of each slice that has any: families in the order of SLICES, their members sorted.

    A family whose column is not there has no slice.
    """
    found: dict[str, list[int]] = {}
    for name, family in SLICES.items():
        members: dict[str, list[int]] = {}
        for row, cell in enumerate(columns.get(family.column, ())):
            member = family.member(cell)
            if member is not None:
                members.setdefault(member, []).append(row)
        found |= {f"{name}:{each}" if each else name: members[each] for each in sorted(members, key=_by_number)}
    return found


def slice_label(name: str) -> str:
    """Write a slice's name for people: "Source: nq", "All"."""
    family, _, member = name.partition(":")
    return f"{SLICES[family].label}: {member}" if member else SLICES[family].label
