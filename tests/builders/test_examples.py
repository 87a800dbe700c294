"""From rows to examples: ids, duplicates, clusters, row numbers, and what is refused."""

import json
import random
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import BUILDERS
from builders.base import SourceRow
from builders.examples import (
    EMBEDDED,
    QuestionOrigin,
    annotate_flags,
    build_examples,
    check_ids,
    is_whole,
    read_examples,
    select_builders,
    splits_of,
)
from builders.qa_layout import read_qa
from honestybench.errors import CountError, IdCollisionError, SourceError, UnknownNameError

THEME = SourceRow(question="What was the theme of Super Bowl 50?", answers=("gold",))
SIBLING = SourceRow(question="what was theme of super bowl 50", answers=("silver",))


def test_copies_are_numbered_by_source_row() -> None:
    rows = [replace(THEME, source_row=8), replace(THEME, source_row=5), replace(SIBLING, source_row=6)]
    examples = build_examples("squad", "ood", rows)
    assert [(example.source_row, example.id[-2:] == "-2") for example in examples] == [
        (5, False),
        (6, False),
        (8, True),
    ]
    assert examples[2].id == examples[0].id + "-2"


def test_copies_are_numbered_by_file_order_without_rows() -> None:
    first, second, third = build_examples("squad", "ood", [THEME, THEME, THEME])
    assert (second.id, third.id) == (first.id + "-2", first.id + "-3")


def test_cluster_is_the_normalised_question_in_every_source() -> None:
    (one,) = build_examples("squad", "ood", [THEME])
    (two,) = build_examples("nq", "in_domain", [SIBLING])
    assert one.cluster == two.cluster == "c" + sha256(b"what was theme of super bowl 50").hexdigest()[:12]


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("xy")), max_size=12), st.randoms())
def test_the_set_of_ids_does_not_depend_on_the_order_of_the_rows(
    pairs: list[tuple[str, str]], rng: random.Random
) -> None:
    rows = [SourceRow(question=question, answers=(gold,), source_row=n) for n, (question, gold) in enumerate(pairs)]
    shuffled = rng.sample(rows, len(rows))
    assert build_examples("nq", "train", rows) == build_examples("nq", "train", shuffled)
    assert len({example.id for example in build_examples("nq", "train", rows)}) == len(rows)


def test_one_id_with_two_contents_is_refused() -> None:
    (one,) = build_examples("squad", "ood", [THEME])
    impostor = replace(one, id=one.id + "-2", answers=("silver",))
    with pytest.raises(IdCollisionError, match=one.id + "-2"):
        annotate_flags([one, impostor])


def test_one_split_read_twice_is_refused() -> None:
    (one,) = build_examples("squad", "ood", [THEME])
    with pytest.raises(IdCollisionError, match="read each split once"):
        check_ids([one, one])


def write_lines(path: Path, n: int, **extra: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"question": f"q{i}", "answer": ["b", "a"]} | extra) + "\n" for i in range(n)))


def test_a_whole_file_tells_the_row_and_another_size_is_refused(tmp_path: Path) -> None:
    builder = replace(BUILDERS["squad"], counts={"ood": 3})
    origin = QuestionOrigin(kind="qa", root=tmp_path)
    write_lines(tmp_path / "squad" / "dev.jsonl", 3)
    examples = read_examples(builder, "ood", origin)
    assert sorted((example.question, example.source_row) for example in examples) == [("q0", 0), ("q1", 1), ("q2", 2)]
    assert {example.answers for example in examples} == {("a", "b")}
    assert is_whole(builder, "ood", examples)
    assert [example.id for example in examples] == sorted(example.id for example in examples)
    write_lines(tmp_path / "squad" / "dev.jsonl", 2)
    with pytest.raises(CountError, match=r"squad, split ood: expected 3 examples \(got 2\)"):
        read_examples(builder, "ood", origin)


def test_a_partial_file_tells_the_row_only_by_source_row(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.jsonl", 1)
    write_lines(tmp_path / "b.jsonl", 1, source_row=17)
    rows = [row for name in "ab" for row in read_qa(BUILDERS["squad"], "ood", tmp_path / f"{name}.jsonl")]
    assert [row.source_row for row in rows] == [None, 17]


def test_a_whole_release_tells_the_row_only_where_its_order_is_the_papers(raw_dir: Path, tmp_path: Path) -> None:
    for key, sample, expected in (
        ("webquestions", "webquestions.examples.test.json", list(range(50))),
        ("squad", "dev-v1.1.json", [None] * 80),
    ):
        builder = replace(BUILDERS[key], counts={"ood": len(expected)})
        (tmp_path / key).mkdir()
        (tmp_path / key / builder.release_files["ood"]).write_bytes((raw_dir / sample).read_bytes())
        examples = read_examples(builder, "ood", QuestionOrigin(kind="release", root=tmp_path))
        assert sorted((example.source_row for example in examples), key=lambda row: row or 0) == expected


def test_the_pararel_release_does_not_tell_the_split(tmp_path: Path) -> None:
    assert splits_of(BUILDERS["pararel"], "release") == []
    with pytest.raises(SourceError, match="use the authors' question files"):
        read_examples(BUILDERS["pararel"], "in_domain", QuestionOrigin(kind="release", root=tmp_path))


def test_unknown_names_list_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown source.*did you mean 'squad'.*2wiki, cwq, hotpotqa"):
        select_builders(["nq", "squat"])
    with pytest.raises(UnknownNameError, match=r"unknown split of squad.*known: ood"):
        read_examples(BUILDERS["squad"], "train", EMBEDDED)
    with pytest.raises(SourceError, match="no embedded file holds the split"):
        read_examples(BUILDERS["nq"], "train", EMBEDDED)
    with pytest.raises(SourceError, match="does not exist"):
        read_examples(BUILDERS["nq"], "train", QuestionOrigin(kind="qa", root=tmp_path))


def test_builders_are_selected_in_the_tables_order() -> None:
    assert [builder.key for builder in select_builders(["popqa", "nq", "popqa"])] == ["nq", "popqa"]
