"""Properties of the reader: any spelling of a valid file, any order of lines, any bytes at all."""

import gzip
import json
import string
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honestybench.submission import KnownIds, ReadResult, read_confidences

SLOW_DISK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def row(example_id: str, confidence: float, **others: str) -> bytes:
    return json.dumps({"id": example_id, "confidence": confidence, **others}).encode()


def read(folder: Path, content: bytes, known: KnownIds) -> ReadResult:
    path = folder / "confidences.jsonl"
    path.write_bytes(content)
    return read_confidences(path, known)


known_ids = st.text(string.ascii_letters + "é-_", min_size=1, max_size=8)
fields = st.dictionaries(
    st.text("xyz", min_size=1),
    st.none() | st.text("a\u2028\x85\ud800", max_size=3) | st.integers() | st.lists(st.integers(), max_size=2),
    max_size=2,
)


@st.composite
def valid_files(draw: st.DrawFn) -> tuple[bytes, dict[str, float]]:
    """A valid file in some spelling, and what it says."""
    values = draw(st.dictionaries(known_ids, st.floats(0, 1), min_size=1, max_size=8))
    lines = []
    for example_id, value in values.items():
        number = draw(st.sampled_from([repr(value), f"{value:.17e}", f" {value!r}\t"]))
        if value in (0, 1):
            number = draw(st.sampled_from([number, str(int(value)), f"{int(value)}e0"]))
        others = json.dumps(draw(fields), ensure_ascii=draw(st.booleans()))[1:-1].encode("utf-8", "replace")
        parts = [f'"id": {json.dumps(example_id)}'.encode(), f'"confidence":{number}'.encode(), *filter(None, [others])]
        lines.append(b"{" + b",".join(draw(st.permutations(parts))) + b"}")
        lines += draw(st.lists(st.sampled_from([b"", b" \t"]), max_size=1))
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    content = end.join(lines) + draw(st.sampled_from([b"", end, end * 3]))
    packed = draw(st.sampled_from([None, 1, 2]))
    if packed:
        middle = len(content) // packed
        content = gzip.compress(content[:middle]) + gzip.compress(content[middle:])
    return content, values


@SLOW_DISK
@given(valid=valid_files())
def test_a_valid_file_is_accepted_with_exactly_its_values(
    tmp_path: Path, valid: tuple[bytes, dict[str, float]]
) -> None:
    content, values = valid
    result = read(tmp_path, content, KnownIds(tracks={"labels": frozenset(values)}))
    constant = len(set(values.values())) == 1
    assert (result.outcome, [fault.code for fault in result.faults]) == (
        ("warn", ["CONSTANT"]) if constant else ("accept", [])
    )
    assert result.confidences == values and list(result.confidences) == sorted(values)
    assert not any(str(value).startswith("-") for value in result.confidences.values())


@SLOW_DISK
@given(order=st.permutations(range(12)), n_bad=st.integers(0, 4))
def test_the_order_of_lines_does_not_matter(tmp_path: Path, order: list[int], n_bad: int) -> None:
    known = KnownIds(tracks={"ood": frozenset(str(number) for number in range(12))})
    lines = [row(str(number), -1 if number < n_bad else number / 12) for number in range(12)]
    first, second = read(tmp_path, b"\n".join(lines), known), read(tmp_path, b"\n".join(lines[k] for k in order), known)
    assert (first.outcome, first.n_faults, first.coverage) == (second.outcome, second.n_faults, second.coverage)
    assert [(fault.code, fault.id) for fault in first.faults] == sorted((f.code, f.id) for f in second.faults)
    assert first.confidences == second.confidences
    assert list(first.confidences or ()) == list(second.confidences or ())


@SLOW_DISK
@given(
    content=st.binary(max_size=60)
    | st.lists(st.sampled_from([row("a", 0.5), row("b", 1), b"[", b'{"id":', b"}", b"\n", b"\0", b"\xff"])).map(
        b"".join
    )
)
def test_no_bytes_end_in_an_exception(tmp_path: Path, content: bytes) -> None:
    for packed in (content, gzip.compress(content), gzip.compress(content)[:-3] + content):
        result = read(tmp_path, packed, KnownIds(tracks={"ood": frozenset("ab")}))
        assert (result.confidences is None) == (result.outcome == "reject")
        assert (result.outcome == "accept") == (result.n_faults == 0)


def test_a_file_of_many_chunks_is_read_whole(tmp_path: Path) -> None:
    """Over a megabyte of two-byte characters: some chunk ends inside a character, some inside a line."""
    values = {f"é{number:05d}": number / 20_000 for number in range(20_000)}
    content = b"\n".join(row(key, value, x="é" * (number % 7)) for number, (key, value) in enumerate(values.items()))
    raw = content.decode("unicode_escape").encode()
    result = read(tmp_path, raw, KnownIds(tracks={"ood": frozenset(values)}))
    assert len(raw) > 1 << 20
    assert result.outcome == "accept" and result.confidences == values
