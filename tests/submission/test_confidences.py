"""Every kind of file comes out as the contract says: the files of `fixtures/cases`, and those built here."""

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honestybench.submission import FAULTS, KnownIds, ReadResult, known_ids_from_labels, read_confidences
from honestybench.submission.faults import MAX_FAULTS
from honestybench.submission.jsonl import LIMITS, Limits

CASES = Path(__file__).parent.parent / "fixtures" / "cases"
EXPECTED = json.loads((CASES / "expected.json").read_text(encoding="utf-8"))["cases"]
TOY = known_ids_from_labels(CASES / "gold.jsonl")

IDS = ("a", "b", "c", "d")
KNOWN = KnownIds(tracks={"ood": frozenset(IDS)}, train=frozenset({"t"}))
GOOD = {"a": 0.25, "b": 0.5, "c": 1.0, "d": 0.0}
SLOW_DISK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def row(example_id: str, confidence: object = 0.5, **others: object) -> bytes:
    return json.dumps({"id": example_id, "confidence": confidence, **others}).encode()


ROWS = [row(example_id, confidence) for example_id, confidence in GOOD.items()]
FILE = b"\n".join(ROWS) + b"\n"


def read(folder: Path, content: bytes, known: KnownIds = KNOWN, limits: Limits = LIMITS) -> ReadResult:
    path = folder / "confidences.jsonl"
    path.write_bytes(content)
    return read_confidences(path, known, limits)


def told(result: ReadResult) -> list[tuple[str, int | None]]:
    return [(fault.code, fault.line) for fault in result.faults]


@pytest.mark.parametrize("name", EXPECTED)
def test_each_case_comes_out_as_expected(name: str) -> None:
    case = EXPECTED[name]
    result = read_confidences(CASES / name, TOY)
    assert result.outcome == case["outcome"]
    assert (told(result)[:1] or [(None, None)]) == [(case["code"], case["line"])]
    assert {code for code, _ in told(result)} <= {case["code"]}
    if case.get("scores_like") in EXPECTED:
        assert result.confidences == read_confidences(CASES / case["scores_like"], TOY).confidences


def test_no_case_is_left_out() -> None:
    assert {path.name for path in CASES.iterdir()} - {"README.md", "expected.json", "gold.jsonl"} == EXPECTED.keys()


class Built(NamedTuple):
    """A file, and all it must be told, in order."""

    content: bytes
    told: list[tuple[str, int | None]]
    limits: Limits = LIMITS


NESTED = b'{"id": "a", "confidence": 0.25, "x": ' + b"[" * 50_000 + b"]" * 50_000 + b"}\n"
REST = b"\n".join(ROWS[1:]) + b"\n"
PACKED = gzip.compress(FILE, mtime=0)

FILES = {
    "gzip cut short": Built(PACKED[:-9], [("BAD_GZIP", None)]),
    "gzip with a wrong checksum": Built(PACKED[:-8] + b"\0\0\0\0" + PACKED[-4:], [("BAD_GZIP", None)]),
    "gzip with a damaged block": Built(PACKED[:12] + b"\xff" * 8 + PACKED[20:], [("BAD_GZIP", None)]),
    "gzip followed by something else": Built(PACKED + b"junk", [("BAD_GZIP", None)]),
    "two bytes of gzip": Built(b"\x1f\x8b", [("BAD_GZIP", None)]),
    "gzip of nothing": Built(gzip.compress(b""), [("EMPTY", None)]),
    "blank lines only": Built(b"\n \t\r\n\n", [("EMPTY", None)]),
    "byte-order mark only": Built(b"\xef\xbb\xbf", [("EMPTY", None), ("BOM", 1)]),
    "UTF-16, little-endian": Built(FILE.decode().encode("utf-16-le"), [("NOT_UTF8", 1)]),
    "UTF-16, big-endian": Built(FILE.decode().encode("utf-16-be"), [("NOT_UTF8", 1)]),
    "UTF-16, big-endian, marked": Built(b"\xfe\xff" + FILE.decode().encode("utf-16-be"), [("NOT_UTF8", 1)]),
    "a line of 1 MiB": Built(row("a", x="y" * (1 << 20)) + b"\n" + REST, [("LINE_TOO_LONG", 1)]),
    "a line of many MiB": Built(REST + b"y" * (5 << 20), [("LINE_TOO_LONG", 4)]),
    "over the size": Built(FILE, [("TOO_LARGE", 3)], Limits(total_bytes=len(FILE) - len(ROWS[3]) - 3)),
    "over the size, unpacked": Built(PACKED, [("TOO_LARGE", 4)], Limits(total_bytes=len(FILE) - 1)),
    "an array on one line": Built(b"[" + b",".join(ROWS) + b"]", [("NOT_JSONL", 1)]),
    "an array over 1 MiB": Built(b"[" + b",".join(ROWS * 20_000) + b"]", [("NOT_JSONL", 1)]),
    "an array spread over lines": Built(
        json.dumps([json.loads(each) for each in ROWS], indent=1).encode(), [("NOT_JSONL", 1)]
    ),
    "an empty array": Built(b"[]", [("NOT_JSONL", 1)]),
    "an object spread over lines": Built(b'\n{"id": "a",\n"confidence": 0.5}\n', [("NOT_JSONL", 2)]),
    "a first line cut short": Built(ROWS[0][:-1] + b"\n" + REST, [("BAD_JSON", 1)]),
    "rows as arrays": Built(b'["a", 0.5]\n["b", 0.5]\n', [("NOT_OBJECT", 1), ("NOT_OBJECT", 2)]),
    "lines ended by CR": Built(FILE.replace(b"\n", b"\r"), [("BAD_JSON", 1)]),
    "deep nesting": Built(NESTED + REST, [("BAD_JSON", 1)]),
    "deep nesting, not closed": Built(b"[" * 200_000, [("BAD_JSON", 1)]),
    "two joined files": Built(REST + b"\xef\xbb\xbf" + ROWS[0], [("BAD_JSON", 4)]),
    "train ids only": Built(row("t", 0.5), [("UNKNOWN_IDS", 1)]),
    "half a track": Built(ROWS[0] + b"\n" + ROWS[1], [("MISSING_IDS", None)]),
    "all warnings": Built(
        b"\xef\xbb\xbf" + b"\n".join([row("a", 1), row("b", 1 + 1e-7), row("c", 1.0, label=0), row("d", 1)]),
        [("BOM", 1), ("CLIPPED", 2), ("IGNORED_LABEL", 3), ("CONSTANT", None)],
    ),
}

# A bad line, made of a good id; the other lines of the file are good. The id that it hides is not told as missing.
LINES = {
    "trailing comma": ('{{"id": "{0}", "confidence": 0.5,}}', "BAD_JSON"),
    "comma after the object": ('{{"id": "{0}", "confidence": 0.5}},', "BAD_JSON"),
    "two values": ('{{"id": "{0}", "confidence": 0.5}} {{}}', "BAD_JSON"),
    "single quotes": ("{{'id': '{0}', 'confidence': 0.5}}", "BAD_JSON"),
    "a comment": ('{{"id": "{0}", "confidence": 0.5}} // no', "BAD_JSON"),
    "NUL between values": ('{{"id": "{0}",\0 "confidence": 0.5}}', "BAD_JSON"),
    "NUL in a string": ('{{"id": "{0}", "confidence": 0.5, "x": "\0"}}', "BAD_JSON"),
    "raw tab in a string": ('{{"id": "{0}", "confidence": 0.5, "x": "\t"}}', "BAD_JSON"),
    "leading zero": ('{{"id": "{0}", "confidence": 00.5}}', "BAD_JSON"),
    "bare fraction": ('{{"id": "{0}", "confidence": .5}}', "BAD_JSON"),
    "Python's True": ('{{"id": "{0}", "confidence": 0.5, "x": True}}', "BAD_JSON"),
    "nested deeply": ('{{"id": "{0}", "confidence": 0.5, "x": ' + "[" * 100 + "]" * 100 + "}}", "BAD_JSON"),
    "a number": ("0.5", "NOT_OBJECT"),
    "a string": ('"{0}"', "NOT_OBJECT"),
    "null": ("null", "NOT_OBJECT"),
    "confidence twice": ('{{"id": "{0}", "confidence": 0.5, "confidence": 0.5}}', "DUPLICATE_KEY"),
    "id twice": ('{{"id": "{0}", "id": "{0}", "confidence": 0.5}}', "DUPLICATE_KEY"),
    "ignored key twice": ('{{"id": "{0}", "confidence": 0.5, "x": {{"y": 1, "y": 2}}}}', "DUPLICATE_KEY"),
    "no id": ('{{"example": "{0}", "confidence": 0.5}}', "MISSING_ID"),
    "null id": ('{{"id": null, "confidence": 0.5}}', "MISSING_ID"),
    "id a number": ('{{"id": 7, "confidence": 0.5}}', "ID_NOT_STRING"),
    "id a huge number": ('{{"id": ' + "9" * 9000 + ', "confidence": 0.5}}', "ID_NOT_STRING"),
    "id a boolean": ('{{"id": true, "confidence": 0.5}}', "ID_NOT_STRING"),
    "id a list": ('{{"id": ["{0}"], "confidence": 0.5}}', "ID_NOT_STRING"),
    "null confidence": ('{{"id": "{0}", "confidence": null}}', "MISSING_CONFIDENCE"),
    "near key": ('{{"id": "{0}", "probability": 0.5}}', "MISSING_CONFIDENCE"),
    "other case": ('{{"id": "{0}", "Confidence": 0.5}}', "MISSING_CONFIDENCE"),
    "text": ('{{"id": "{0}", "confidence": "high"}}', "NOT_A_NUMBER"),
    "false": ('{{"id": "{0}", "confidence": false}}', "NOT_A_NUMBER"),
    "a list of one": ('{{"id": "{0}", "confidence": [0.5]}}', "NOT_A_NUMBER"),
    "an object": ('{{"id": "{0}", "confidence": {{"value": 0.5}}}}', "NOT_A_NUMBER"),
    "minus Infinity": ('{{"id": "{0}", "confidence": -Infinity}}', "NOT_JSON_NUMBER"),
    "NaN in another field": ('{{"id": "{0}", "confidence": 0.5, "x": [NaN]}}', "NOT_JSON_NUMBER"),
    "overflow": ('{{"id": "{0}", "confidence": 1e999}}', "NOT_FINITE"),
    "negative overflow": ('{{"id": "{0}", "confidence": -1e999}}', "NOT_FINITE"),
    "just too far above": ('{{"id": "{0}", "confidence": 1.00000101}}', "OUT_OF_RANGE"),
    "just too far below": ('{{"id": "{0}", "confidence": -1.01e-6}}', "OUT_OF_RANGE"),
    "beyond a double": ('{{"id": "{0}", "confidence": 1' + "0" * 400 + "}}", "OUT_OF_RANGE"),
    "more digits than Python reads": ('{{"id": "{0}", "confidence": -' + "9" * 5000 + "}}", "OUT_OF_RANGE"),
}
UTF8_LINES = {
    "Latin-1": (b'{"id": "a", "confidence": 0.5, "x": "\xe9"}', "NOT_UTF8"),
    "overlong form": (b'{"id": "a", "confidence": 0.5, "x": "\xc0\xaf"}', "NOT_UTF8"),
    "encoded surrogate": (b'{"id": "a", "confidence": 0.5, "x": "\xed\xa0\x80"}', "NOT_UTF8"),
}


@pytest.mark.parametrize("name", FILES)
def test_each_built_file_is_told_exactly(name: str, tmp_path: Path) -> None:
    built = FILES[name]
    result = read(tmp_path, built.content, limits=built.limits)
    assert told(result) == built.told and result.n_faults == len(built.told)
    outcomes = {FAULTS[code].outcome for code, _ in built.told}
    assert result.outcome == ("reject" if "reject" in outcomes else "warn")
    assert (result.confidences is None) == (result.outcome == "reject")


@pytest.mark.parametrize("name", [*LINES, *UTF8_LINES])
@SLOW_DISK
@given(place=st.integers(0, len(ROWS) - 1), blanks=st.integers(0, 3))
def test_one_bad_line_is_told_wherever_it_stands(name: str, tmp_path: Path, place: int, blanks: int) -> None:
    if name in LINES:
        text, code = LINES[name]
        bad = text.format(IDS[place]).encode()
    else:
        bad, code = UTF8_LINES[name]
        place = 0
    content = b"\n" * blanks + b"\n".join([*ROWS[:place], bad, *ROWS[place + 1 :]])
    result = read(tmp_path, content)
    assert (result.outcome, result.n_faults, result.confidences) == ("reject", 1, None)
    assert told(result) == [(code, blanks + place + 1)]


def test_every_code_is_raised_by_some_test() -> None:
    """The tables above are the tests, so a code that none of them names has no test."""
    raised = {case["code"] for case in EXPECTED.values()} - {None}
    raised |= {code for built in FILES.values() for code, _ in built.told}
    raised |= {code for _, code in (LINES | UTF8_LINES).values()}
    assert raised == FAULTS.keys()


def test_limits_are_inclusive(tmp_path: Path) -> None:
    longest = row("a", 0.25, x="") + b" " * (LIMITS.line_bytes - len(row("a", 0.25, x="")))
    assert read(tmp_path, longest + b"\n" + REST).outcome == "accept"
    assert told(read(tmp_path, longest + b" \n" + REST)) == [("LINE_TOO_LONG", 1)]
    assert read(tmp_path, FILE, limits=Limits(total_bytes=len(FILE))).outcome == "accept"
    # The row's object is one level, so 99 lists inside it make 100.
    nested = '{{"id": "a", "confidence": 0.25, "x": {}{}}}\n'
    assert read(tmp_path, nested.format("[" * 99, "]" * 99).encode() + REST).outcome == "accept"
    assert read(tmp_path, nested.format('"' + "[" * 500, '"').encode() + REST).outcome == "accept"


def test_the_tolerance_is_inclusive_and_the_bound_is_kept(tmp_path: Path) -> None:
    content = b'{"id":"a","confidence":1.000001}\n{"id":"b","confidence":-1e-6}\n{"id":"c","confidence":-0.0}\n' + ROWS[
        1
    ].replace(b"b", b"d")
    result = read(tmp_path, content)
    assert told(result) == [("CLIPPED", 1)]
    assert result.faults[0].message == "2 values within 1e-6 of the range set to the bound (first: 1.000001)"
    assert str(result.confidences) == "{'a': 1.0, 'b': 0.0, 'c': 0.0, 'd': 0.5}"


def test_a_long_list_of_faults_shows_each_code_and_counts_all(tmp_path: Path) -> None:
    known = KnownIds(tracks={"ood": frozenset(str(number) for number in range(30))})
    lines = [row(str(number), 7) for number in range(28)]
    result = read(tmp_path, b"\n".join([*lines, b"{", row("29", 0.5), row("unknown", 0.5)]), known)
    # 28 out of range, one line that is no JSON (and hides the id 28), one unknown id.
    assert result.n_faults == 30 and len(result.faults) == MAX_FAULTS == 20
    assert told(result) == [*(("OUT_OF_RANGE", line) for line in range(1, 19)), ("BAD_JSON", 29), ("UNKNOWN_IDS", 31)]


def test_every_fault_of_a_file_is_told_at_once(tmp_path: Path) -> None:
    content = b'{"confidence": 2}\n{"id": "b", "confidence": NaN}\n' + row("b") + b"\n" + row("zzz", "x")
    assert told(read(tmp_path, content)) == [
        ("MISSING_ID", 1),
        ("OUT_OF_RANGE", 1),
        ("NOT_JSON_NUMBER", 2),
        ("DUPLICATE_ID", 3),
        ("NOT_A_NUMBER", 4),
        ("UNKNOWN_IDS", 4),
        ("MISSING_IDS", None),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"\n".join(row(key, value * 100) for key, value in GOOD.items()),
            "3 of 4 values look like percentages: divide by 100",
        ),
        (b"\n".join([row("a", 90), *ROWS[1:]]), "confidence 90 is outside [0, 1]; write a number in [0, 1]"),
        (b"\n".join(row(key, value - 3) for key, value in GOOD.items()), "4 of 4 values below 0: log-probabilities?"),
        (b"\n".join([ROWS[0].replace(b"confidence", b"conf"), *ROWS[1:]]), 'no key "confidence" (found "conf")'),
        (b"\n".join([ROWS[0].replace(b"confidence", b"cnofidence"), *ROWS[1:]]), '(found "cnofidence")'),
        (b"\n".join([row("a", "0.25"), *ROWS[1:]]), 'confidence is "0.25", not a number; write it without quotes'),
        (b"\n".join([row("a", True), *ROWS[1:]]), "confidence is true, not a number"),
        (b"\n".join([ROWS[0].replace(b'"id"', b'"qid"'), *ROWS[1:]]), 'no key "id" (found "qid")'),
        (b"\n".join([ROWS[0].replace(b'"a"', b"1"), *ROWS[1:]]), "id is the number 1, not a string"),
        (FILE + ROWS[1], "this id stands on line 2 already"),
        (FILE + row("t"), '"t" is a train question; submit the evaluation splits only'),
        (
            FILE + row("u") + b"\n" + row("t"),
            '"u" comes first (2 ids are no questions here, train questions among them: 1); check',
        ),
        (row("u") + b"\n" + row("v"), '"u" comes first (none of the 2 ids is a question here); check'),
        (FILE + row("nq-train-0123456789ab"), "looks like a train question of another release"),
        (FILE + row("popqa-ood-0123456789ab-2"), "looks like a question of another release"),
        (b"\n".join(ROWS[:3]), '1 of 4 questions of ood have no line (first: "d")'),
        (FILE + row("\x1b[31m\u202e\x9b"), '"\\u001b[31m\\u202e\\u009b"'),
        (FILE + row("\ud800"), '"\\ud800"'),
        (FILE + row("x" * 1000), f'"{"x" * 59}… is not a question'),
        (
            b"\n".join([row("a", correct=1), *ROWS[1:]]),
            'key "correct" is ignored in 1 row: labels come from the benchmark',
        ),
    ],
)
def test_a_message_tells_the_value_and_the_repair(content: bytes, message: str, tmp_path: Path) -> None:
    result = read(tmp_path, content)
    assert message in result.faults[0].message
    assert str(result.faults[0]).isprintable()


def test_a_twin_in_another_normal_form_is_hinted(tmp_path: Path) -> None:
    known = KnownIds(tracks={"ood": frozenset({"caf\u00e9"})})
    result = read(tmp_path, row("cafe\u0301"), known)
    assert told(result) == [("UNKNOWN_IDS", 1)] and "its NFC form is a question" in result.faults[0].message


def test_a_track_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    known = KnownIds(tracks={"ood": frozenset(IDS), "mmlu": frozenset({"m", "n"})})
    result = read(tmp_path, FILE, known)
    assert (result.outcome, result.confidences) == ("accept", GOOD)
    assert {track: (*each, each.status) for track, each in result.coverage.items()} == {
        "ood": (4, 4, "submitted"),
        "mmlu": (2, 0, "not_submitted"),
    }
    result = read(tmp_path, FILE + row("n"), known)
    assert told(result) == [("MISSING_IDS", None)] and result.faults[0].id == "m"
    assert result.coverage["mmlu"].status == "incomplete"


def test_missing_ids_are_told_when_bad_lines_do_not_explain_them(tmp_path: Path) -> None:
    assert told(read(tmp_path, b"\n".join([ROWS[0], b"{"]))) == [("BAD_JSON", 2), ("MISSING_IDS", None)]


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_confidences(tmp_path / "none.jsonl", KNOWN)
