import dataclasses
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestybench.errors import DataError
from honestybench.records import (
    FLAGS,
    AnnotatedExample,
    Generation,
    Judgement,
    QAExample,
    canonical_json,
    example_id,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
labels = st.sampled_from([1, 0, None])

# The digests come from `printf '["nq","who got …",["Wilhelm …"]]' | sha256sum`, not from this code.
GOLDEN = [
    (
        ("nq", "in_domain", "who got the first nobel prize in physics", ["Wilhelm Conrad Röntgen"]),
        "nq-in_domain-87dcd4ba491f",
    ),
    (
        ("popqa", "ood", "What is John Mayne's occupation?", ["journo", "journalists", "journalist"]),
        "popqa-ood-bf42e98cd890",
    ),
    (("squad", "ood", "What city did Super Bowl 50 take place in?", ["Santa Clara"]), "squad-ood-046814a1d1c6"),
]


def example(**changes: object) -> QAExample:
    fields: dict[str, object] = {
        "id": "nq-ood-0",
        "source": "nq",
        "split": "ood",
        "question": "who?",
        "answers": ("me",),
        "cluster": "who",
    }
    return QAExample(**{**fields, **changes})  # type: ignore[arg-type]


def annotated(
    greedy: int | None, correctness: list[int | None], consistency: list[int | None], sampled: int = 20
) -> AnnotatedExample:
    return AnnotatedExample(
        example=example(),
        greedy=Generation(text="me", finish_reason="stop"),
        sampled=(Generation(text="me", finish_reason="stop"),) * sampled,
        greedy_correctness=greedy,
        sampling_correctness=tuple(correctness),
        consistency_judgement=tuple(consistency),
    )


@pytest.mark.parametrize(("content", "expected"), GOLDEN)
def test_golden_ids(content: tuple[str, str, str, list[str]], expected: str) -> None:
    assert example_id(*content) == expected
    assert example_id(*content, copy=3) == f"{expected}-3"


@given(texts, st.lists(texts, min_size=1, max_size=5), st.randoms())
def test_an_id_ignores_order_repeats_and_unicode_form(question: str, answers: list[str], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = [*answers, answers[0]]
    random.shuffle(shuffled)
    plain = example_id("nq", "ood", question, answers)
    assert example_id("nq", "ood", question, shuffled) == plain
    # Python's NFD undoes NFC for every text that NFC has composed.
    assert example_id("nq", "ood", unicodedata.normalize("NFD", question), answers) == plain


@given(texts, texts)
def test_questions_that_differ_after_nfc_have_other_ids(left: str, right: str) -> None:
    same = unicodedata.normalize("NFC", left) == unicodedata.normalize("NFC", right)
    assert (example_id("nq", "ood", left, ["a"]) == example_id("nq", "ood", right, ["a"])) == same


def test_source_split_and_golds_are_part_of_the_id() -> None:
    ids = {
        example_id("nq", "ood", "q", ["a"]),
        example_id("squad", "ood", "q", ["a"]),
        example_id("nq", "train", "q", ["a"]),
        example_id("nq", "ood", "q", ["b"]),
        example_id("nq", "ood", "q", ["a", "b"]),
    }
    assert len(ids) == 5


def test_canonical_json_sorts_keys_keeps_unicode_and_refuses_nan() -> None:
    assert canonical_json({"b": [1, None], "a": "é"}) == '{"a":"é","b":[1,null]}'
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [({"split": "dev"}, "unknown split"), ({"answers": ()}, "gold"), ({"flags": ("odd",)}, "unknown flag")],
)
def test_an_example_out_of_contract_is_refused(changes: dict[str, object], fault: str) -> None:
    with pytest.raises(DataError, match=fault):
        example(**changes)


def test_every_flag_is_accepted() -> None:
    assert example(flags=tuple(FLAGS)).flags == tuple(FLAGS)


@given(labels, st.lists(labels, min_size=20, max_size=20), st.lists(labels, min_size=20, max_size=20))
def test_derived_columns_count_only_parsed_verdicts(
    greedy: int | None, correctness: list[int | None], consistency: list[int | None]
) -> None:
    record = annotated(greedy, correctness, consistency)
    for verdicts, mean in ((correctness, record.sample_accuracy), (consistency, record.self_consistency)):
        yes, no = verdicts.count(1), verdicts.count(0)
        assert mean == (yes / (yes + no) if yes + no else None)
    assert record.n_unparsed == [greedy, *correctness, *consistency].count(None)


@pytest.mark.parametrize(("sampled", "correctness", "consistency"), [(19, 20, 20), (20, 19, 20), (20, 20, 21)])
def test_an_annotated_example_needs_twenty_of_each(sampled: int, correctness: int, consistency: int) -> None:
    with pytest.raises(DataError, match="20"):
        annotated(1, [1] * correctness, [1] * consistency, sampled)


def test_labels_of_verdicts() -> None:
    given = [Judgement(criterion="correctness", verdict=verdict).label for verdict in ("yes", "no", "unparsed")]  # type: ignore[arg-type]
    assert given == [1, 0, None]


def test_records_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        example().question = "changed"  # type: ignore[misc]
