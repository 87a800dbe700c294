"""What holds for every baseline of the table, whatever the row, and the values of single formulas."""

import math
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy, kstest

from honestybench.baselines import BASELINES, Background, StoredMean
from honestybench.baselines.answers import words
from honestybench.schema import ANNOTATED_SCHEMA

MEAN = StoredMean(value=0.3, of_train=True, n_behind=10, n_known=5, n_null=1)
BACKGROUND = Background(base_rate=0.2, n_train_labels=10, self_consistency=MEAN, sample_accuracy=MEAN)
LABELS = {"greedy_correctness", "sampling_correctness", "sample_accuracy"}
PER_SAMPLE = ("sampling_response", "consistency_judgement")

texts = (
    st.sampled_from(["Paris", "paris.", "the Paris", "Rome", "A", "B", "", "...", "New York City", "York"]) | st.text()
)
verdicts = st.sampled_from([0, 1, None])
shares = st.none() | st.integers(0, 20).map(lambda count: count / 20)


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row as a release holds it, its log-probabilities in float32."""
    logprobs = draw(st.lists(st.floats(-50, 0, width=32), max_size=6))
    return {
        "id": draw(st.text(min_size=1)),
        "greedy_response": draw(texts),
        "greedy_logprobs": logprobs,
        "greedy_cumulative_logprob": math.fsum(logprobs),
        "sampling_response": draw(st.lists(texts, min_size=20, max_size=20)),
        "consistency_judgement": draw(st.lists(verdicts, min_size=20, max_size=20)),
        "self_consistency": draw(shares),
        "sample_accuracy": draw(shares),
    }


def confidences(row: dict[str, Any]) -> dict[str, float]:
    """Every baseline on a row that holds only the columns which it names."""
    return {
        name: baseline.confidence({column: row[column] for column in ("id", *baseline.columns)}, BACKGROUND)
        for name, baseline in BASELINES.items()
    }


@settings(deadline=None)
@given(rows(), st.randoms(use_true_random=False))
def test_each_is_a_confidence_whatever_the_order_of_the_samples(row: dict[str, Any], draw: random.Random) -> None:
    before = confidences(row)
    assert [name for name, value in before.items() if not 0 <= value <= 1] == []
    pairs = list(zip(*(row[column] for column in PER_SAMPLE), strict=True))
    draw.shuffle(pairs)
    assert confidences({**row, **dict(zip(PER_SAMPLE, zip(*pairs, strict=True), strict=True))}) == before


@settings(deadline=None)
@given(rows())
def test_semantic_entropy_is_that_of_scipy(row: dict[str, Any]) -> None:
    """The sets are counted here by labels, one for each sampled answer."""
    labels = []
    for text, verdict in zip(row["sampling_response"], row["consistency_judgement"], strict=True):
        is_greedy = verdict == 1 or (verdict is None and words(text) == words(row["greedy_response"]))
        labels.append("greedy" if is_greedy else f"other: {words(text)}")
    sizes = list(Counter(labels).values())
    found = confidences(row)
    assert found["semantic_entropy"] == pytest.approx(1 - entropy(sizes) / math.log(20), abs=1e-12)
    assert found["n_semantic_sets"] == pytest.approx(1 - (len(sizes) - 1) / 19)


@settings(deadline=None)
@given(rows(), st.integers(0, 19))
def test_one_more_consistent_answer_never_adds_a_set(row: dict[str, Any], place: int) -> None:
    """Once an answer agrees with the greedy one, a further that does too joins its set and leaves its own."""
    row["consistency_judgement"][place - 1] = 1
    changed = {**row, "consistency_judgement": [*row["consistency_judgement"]]}
    changed["consistency_judgement"][place] = 1
    assert confidences(changed)["n_semantic_sets"] >= confidences(row)["n_semantic_sets"]


def row_with(sampled: list[str], judged: list[int | None]) -> dict[str, Any]:
    return {
        **{"id": "q", "greedy_response": "x", "greedy_logprobs": [], "greedy_cumulative_logprob": 0.0},
        **{"sampling_response": sampled, "consistency_judgement": judged},
        **{"self_consistency": None, "sample_accuracy": None},
    }


def test_the_ends_are_exact() -> None:
    one_set = confidences(row_with(["x"] * 20, [1] * 20))
    assert (one_set["n_semantic_sets"], one_set["semantic_entropy"], one_set["consistency_lexical"]) == (1, 1, 1)
    all_apart = confidences(row_with([f"y {k}" for k in range(20)], [0] * 20))
    assert (all_apart["n_semantic_sets"], all_apart["semantic_entropy"]) == (0, 0)
    # Two sets of ten: H = log 2.
    halves = confidences(row_with(["x"] * 10 + ["y"] * 10, [1] * 10 + [0] * 10))
    assert halves["n_semantic_sets"] == pytest.approx(18 / 19)
    assert halves["semantic_entropy"] == pytest.approx(1 - math.log(2) / math.log(20))


def test_nulls_get_the_mean_and_an_answer_without_tokens_is_certain() -> None:
    found = confidences(row_with(["y"] * 20, [None] * 20))
    assert (found["consistency_semantic"], found["oracle"]) == (0.3, 0.3)
    assert (found["prob"], found["n_prob"], found["min_prob"]) == (1, 1, 1)


def test_the_lowest_probability_is_that_of_one_token() -> None:
    row = {**row_with([""] * 20, [0] * 20), "greedy_logprobs": [-0.5, -2.0, -1.0], "greedy_cumulative_logprob": -3.5}
    found = confidences(row)
    assert [found[name] for name in ("prob", "min_prob", "n_prob")] == pytest.approx(
        [math.exp(-3.5), math.exp(-2), math.exp(-3.5 / 3)]
    )


def test_random_is_uniform_and_belongs_to_the_id() -> None:
    drawn = [BASELINES["random"].confidence({"id": f"popqa-ood-{k:012x}"}, BACKGROUND) for k in range(5000)]
    assert len(set(drawn)) == 5000
    assert kstest(drawn, "uniform").pvalue > 0.01
    # printf '0\0popqa-ood-000000000000' | sha256sum begins with f0a709e02f7a3d56; its first 53 bits over 2**53.
    assert drawn[0] == (0xF0A709E02F7A3D56 >> 11) / 2**53


def test_the_oracle_alone_reads_labels() -> None:
    assert {name for name, baseline in BASELINES.items() if LABELS & set(baseline.columns)} == {"oracle"}
    assert {column for one in BASELINES.values() for column in one.columns} <= set(ANNOTATED_SCHEMA.names)
