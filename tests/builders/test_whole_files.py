"""The authors' whole question files, where HONESTYBENCH_QA_DIR names their folder."""

import os
from collections import Counter
from pathlib import Path

import pytest

from builders import BUILDERS
from builders.examples import EMBEDDED, EMBEDDED_DIR, QuestionOrigin, annotate_flags, is_whole, read_examples, splits_of
from builders.excerpt import excerpt_lines
from honestybench.records import QAExample

QA_DIR = os.environ.get("HONESTYBENCH_QA_DIR")
pytestmark = pytest.mark.skipif(QA_DIR is None, reason="HONESTYBENCH_QA_DIR names no folder of the authors' files")

NINE = ("nq", "hotpotqa", "2wiki", "pararel", "squad", "webquestions", "cwq", "musique", "popqa")

# Counted on the published files by another program: surplus full repeats, questions that a repair
# changes, empty golds. The 28 questions are those whose drawn table row lies in the block of P136.
MEASURED = {
    "duplicate": {"pararel": 236, "squad": 16, "musique": 5, "popqa": 504},
    "mojibake": {"cwq": 56},
    "empty_gold": {"cwq": 3},
    "wrong_template": {"pararel": 28},
}


def evaluation_split(key: str) -> str:
    return next(split for split in BUILDERS[key].counts if split != "train")


@pytest.fixture(scope="module")
def origin() -> QuestionOrigin:
    return QuestionOrigin(kind="qa", root=Path(QA_DIR or ""))


@pytest.fixture(scope="module")
def whole(origin: QuestionOrigin) -> list[QAExample]:
    return annotate_flags(
        [example for key in NINE for example in read_examples(BUILDERS[key], evaluation_split(key), origin)]
    )


def test_nine_evaluation_sets_have_their_published_size(whole: list[QAExample]) -> None:
    counts = Counter(example.source for example in whole)
    assert counts == {key: BUILDERS[key].counts[evaluation_split(key)] for key in NINE}
    assert sum(counts.values()) == 59_396
    for key in NINE:
        assert is_whole(BUILDERS[key], evaluation_split(key), [e for e in whole if e.source == key])


def test_every_row_knows_its_place(whole: list[QAExample]) -> None:
    for key in NINE:
        rows = {example.source_row for example in whole if example.source == key}
        assert rows == set(range(BUILDERS[key].counts[evaluation_split(key)]))


@pytest.mark.parametrize("flag", MEASURED)
def test_flags_agree_with_the_measured_defects(flag: str, whole: list[QAExample]) -> None:
    assert Counter(example.source for example in whole if flag in example.flags) == MEASURED[flag]


def test_the_embedded_excerpts_are_cut_by_the_stated_rule(origin: QuestionOrigin) -> None:
    for key in NINE:
        builder, split = BUILDERS[key], evaluation_split(key)
        lines = excerpt_lines(builder, split, origin.root / builder.qa_files[split])
        embedded = EMBEDDED_DIR / key / builder.embedded_files[split].name
        assert embedded.read_text(encoding="utf-8") == "\n".join(lines) + "\n"


def test_embedded_ids_are_those_of_the_whole_build(whole: list[QAExample]) -> None:
    by_id = {example.id: example for example in whole}
    for key in NINE:
        split = evaluation_split(key)
        assert split in splits_of(BUILDERS[key], "embedded")
        for example in read_examples(BUILDERS[key], split, EMBEDDED):
            assert by_id[example.id].source_row == example.source_row
            assert by_id[example.id].relation == example.relation
