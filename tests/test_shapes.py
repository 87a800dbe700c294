"""Shapes: which JSON values pass for which types, and where a fault is said to be."""

import json
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestybench.shapes import read_strict_json, shape_faults


class Inner(TypedDict):
    share: float | None
    kind: Literal["a", "b"]


class Outer(TypedDict):
    count: int
    rows: list[list[float]]
    inner: dict[str, Inner] | None
    later: NotRequired[str]


GOOD: dict[str, Any] = {"count": 1, "rows": [[0.5, 1]], "inner": {"x": {"share": None, "kind": "a"}}}


def faults(**changes: object) -> list[str]:
    return list(shape_faults({**GOOD, **changes}, Outer, "it"))


def test_good_ones_pass() -> None:
    assert faults() == faults(inner=None) == faults(rows=[], later="now", unknown=[1]) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"count": True}, "it.count must be int, not True"),
        ({"count": 1.0}, "it.count must be int, not 1.0"),
        ({"rows": {}}, "it.rows must be a list"),
        ({"rows": [[1], [0, "x"]]}, "it.rows[1][1] must be float, not 'x'"),
        ({"rows": [[None]]}, "it.rows[0][0] must be float, not None"),
        ({"inner": []}, "it.inner must be an object"),
        ({"inner": {"x": {"kind": "b"}}}, "it.inner.x.share is missing"),
        ({"inner": {"x": {"share": False, "kind": "b"}}}, "it.inner.x.share must be float or null, not False"),
        ({"inner": {"x": {"share": 1, "kind": "c"}}}, "it.inner.x.kind must be 'a' or 'b', not 'c'"),
        ({"inner": {"x": {"share": 1, "kind": []}}}, "it.inner.x.kind must be 'a' or 'b', not []"),
        ({"count": -(2**53) - 1}, "it.count is beyond ±2**53"),
        ({"rows": [[10**400]]}, "it.rows[0][0] is beyond ±2**53"),
        ({"later": None}, "it.later must be str, not None"),
    ],
)
def test_a_fault_is_told_with_its_place(changes: dict[str, object], fault: str) -> None:
    assert faults(**changes) == [fault]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["share", "kind", "x"]), inner),
)


@given(JSON)
def test_what_passes_can_be_used_as_its_type(value: object) -> None:
    if not list(shape_faults(value, Inner, "it")):
        assert isinstance(value, dict)
        assert value["share"] is None or value["share"] * 2 == value["share"] + value["share"]
        assert value["kind"] in {"a", "b"}


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "1e999", '"\\ud800"', "{", ""])
def test_what_is_no_strict_json_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(ValueError):
        read_strict_json(tmp_path / "file")


def test_strict_json_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_text(json.dumps(GOOD))
    assert read_strict_json(tmp_path / "file") == GOOD
