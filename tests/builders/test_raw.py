"""A malformed record is reported with file, record, field, value and remedy."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import BUILDERS
from builders.qa_layout import read_qa
from builders.raw import read_json_array, read_json_lines, read_json_object, read_table
from honestybench.errors import SourceError

GOOD_LINE = '{"question": "q", "answer": ["a"]}\n'


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def popqa_table(**cells: str) -> str:
    row = {
        "prop": "occupation",
        "subj": "X",
        "obj": "y",
        "s_pop": "7",
        "question": "q?",
        "possible_answers": '["y"]',
        "o_aliases": "[]",
    }
    row |= cells
    return "\t".join(row) + "\n" + "\t".join(row.values()) + "\n"


# Source, file name, content -> words the message must hold, in order.
MALFORMED: list[tuple[str, str, str, tuple[str, ...]]] = [
    ("nq", "f.jsonl", GOOD_LINE + '{"question": "q"}\n', ("f.jsonl, record 2", "'answer' is missing")),
    ("nq", "f.jsonl", '{"question": 3, "answer": ["a"]}\n', ("record 1", "'question' must be text", "got 3")),
    ("nq", "f.jsonl", '{"question": "q", "answer": "a"}\n', ("'answer' must be a list of texts", "'a'")),
    ("nq", "f.jsonl", '{"question": "q", "answer": []}\n', ("'answer' must hold at least one gold",)),
    ("nq", "f.jsonl", GOOD_LINE + "\n", ("record 2", "not JSON")),
    ("nq", "f.jsonl", GOOD_LINE + "[1]\n", ("record 2", "must be a JSON object", "list")),
    ("nq", "f.jsonl", '{"question": "q", "answer": ["a"], "source_row": -1}\n', ("'source_row'", "from 0", "got -1")),
    ("triviaqa", "f.json", '{"Data": {}}', ("'Data' must be a list of records",)),
    ("triviaqa", "f.json", "[]", ("f.json", "must hold one JSON object", "list")),
    (
        "triviaqa",
        "f.json",
        '{"Data": [{"Question": "q", "Answer": {"Value": null, "Aliases": []}}]}',
        ("'Data[0].Answer.Value' must be text",),
    ),
    ("hotpotqa", "f.json", '[{"question": "q", "answer": null}]', ("record 1", "'answer' must be text")),
    ("hotpotqa", "f.json", "{}", ("must hold one JSON list", "dict")),
    ("2wiki", "f.json", '[{"question": "q"}]', ("record 1", "'answer' is missing")),
    (
        "squad",
        "f.json",
        '{"data": [{"paragraphs": [{"qas": [{"question": "q", "answers": []}]}]}]}',
        ("'data[0].paragraphs[0].qas[0].answers' must hold at least one gold",),
    ),
    (
        "webquestions",
        "f.json",
        '[{"utterance": "q", "targetValue": "(list)"}]',
        ("record 1", "'targetValue' must list", "(list)"),
    ),
    ("cwq", "f.json", '[{"question": "q", "answers": []}]', ("record 1", "'answers' must hold at least one answer")),
    (
        "musique",
        "f.jsonl",
        '{"id": "x__1", "question": "q", "answer": "a", "answer_aliases": []}\n',
        ("'id' must begin with its hops", "x__1"),
    ),
    ("popqa", "f.tsv", popqa_table(o_aliases="[y"), ("record 1", "'o_aliases' must be a JSON list of texts", "[y")),
    ("popqa", "f.tsv", popqa_table(possible_answers="[1]"), ("'possible_answers' must be a JSON list of texts",)),
    ("popqa", "f.tsv", popqa_table(s_pop="many"), ("'s_pop' must be a whole number", "many")),
    ("popqa", "f.tsv", popqa_table() + "one\tcell\n", ("record 2", "has 2 cells where 7 belong")),
    ("mmlu", "test/law_test.csv", "q,1,2,3,4,E\n", ("law_test.csv, record 1", "'letter' must be one of", "E")),
    ("mmlu", "test/law_test.csv", "q,1,2,3,4\n", ("record 1", "has 5 cells where 6 belong")),
    (
        "pararel",
        "r/graphs_json/P19.jsonl",
        "{}\n",
        ("P19.jsonl", "does not exist", "Remedy"),
    ),
]


@pytest.mark.parametrize(("key", "name", "content", "words"), MALFORMED)
def test_malformed_release(key: str, name: str, content: str, words: tuple[str, ...], tmp_path: Path) -> None:
    path = write(tmp_path / name, content)
    if key in {"mmlu", "pararel"}:
        path = tmp_path / name.split("/")[0]
    with pytest.raises(SourceError) as caught:
        list(BUILDERS[key].parse_release(path))
    message = str(caught.value)
    positions = [message.find(word) for word in (*words, "Remedy: ")]
    assert -1 not in positions and positions == sorted(positions), message


def test_every_source_has_a_malformed_record() -> None:
    assert {key for key, *_ in MALFORMED} == set(BUILDERS)


@pytest.mark.parametrize(
    ("key", "split", "line", "words"),
    [
        ("mmlu", "mmlu", {"question": "no choices", "answer": ["A"]}, "'question' must end with the lines A. to D."),
        ("mmlu", "mmlu", {"question": "q\nA.1\nB.2\nC.3\nD.4\n", "answer": ["E"]}, "'answer' must be one of A, B"),
        ("pararel", "in_domain", {"question": "Why?", "answer": ["x"]}, "'question' must be made from one of"),
        (
            "pararel",
            "in_domain",
            {"question": "Who owns X?", "answer": ["x"], "source_row": 0},
            "'source_row' was drawn from P176",
        ),
        (
            "pararel",
            "in_domain",
            {"question": "Who owns X?", "answer": ["x"], "source_row": 3000},
            "'source_row' must be below 3000",
        ),
        ("squad", "ood", {"question": "q", "answer": ["x"], "source_row": True}, "'source_row' must be a whole number"),
    ],
)
def test_malformed_line_of_the_authors_layout(
    key: str, split: str, line: dict[str, object], words: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "f.jsonl", json.dumps(line) + "\n")
    with pytest.raises(SourceError, match=r"f\.jsonl, record 1: field") as caught:
        list(read_qa(BUILDERS[key], split, path))
    assert words in str(caught.value)


@pytest.mark.parametrize("read", [lambda path: list(read_json_lines(path)), read_json_object])
def test_a_missing_file_and_bytes_that_are_not_utf8(read: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist"):
        read(tmp_path / "none.json")
    path = tmp_path / "latin1.json"
    path.write_bytes('{"question": "Zakāt"}'.encode("latin-1", errors="ignore") + b"\xe9")
    with pytest.raises(SourceError, match="must be UTF-8"):
        read(path)


def test_only_newlines_end_a_line(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes('{"q": "a\u2028b\x85c"}\r\n{"q": "d"}'.encode())
    assert [record.text("q") for record in read_json_lines(path)] == ["a\u2028b\x85c", "d"]


def test_a_table_reads_quoted_cells(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_bytes(b'"say ""hi"", you",1\n"two\nlines",2\n')
    rows = [record.fields for record in read_table(path, ("text", "number"), delimiter=",")]
    assert rows == [{"text": 'say "hi", you', "number": "1"}, {"text": "two\nlines", "number": "2"}]


def test_a_long_value_is_cut_in_the_message(tmp_path: Path) -> None:
    path = write(tmp_path / "f.json", json.dumps([{"question": ["x" * 5000]}]))
    (record,) = read_json_array(path)
    with pytest.raises(SourceError) as caught:
        record.text("question")
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"question": "\\ud800", "answer": ["a"]}', "surrogate"),
        ('{"question": "q", "answer": ["\\udfff"]}', "surrogate"),
        ('{"question": "q", "answer": ["a"], "source_row": ' + "9" * 5000 + "}", "thousands of digits"),
        ('{"question": "q", "answer": ["a"], "source_row": "' + "9" * 5000 + '"}', "64 bits"),
        ('{"question": "q", "answer": ["a"], "source_row": 2147483648}', "below 2"),
        ("[" * 100_000, "nests too deeply"),
    ],
)
def test_odd_json_is_one_line(tmp_path: Path, line: str, words: str) -> None:
    path = write(tmp_path / "f.jsonl", line + "\n")
    with pytest.raises(SourceError, match=words) as caught:
        list(read_qa(BUILDERS["nq"], "in_domain", path))
    assert "f.jsonl" in str(caught.value) and "record 1" in str(caught.value)
