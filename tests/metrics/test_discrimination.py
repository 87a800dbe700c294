import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from honestybench.errors import DataError
from honestybench.metrics.discrimination import auroc, auroc_interval, undefined_reason

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "metrics.json").read_text(encoding="utf-8"))
SETS = GOLDEN["datasets"]
TWO_CLASSES = [name for name, golden in SETS.items() if golden["auroc"] is not None]

pairs = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1)), max_size=60)


def split(rows: list[tuple[int, int]]) -> tuple[list[float], list[int]]:
    return [value / 20 for value, _ in rows], [label for _, label in rows]


@pytest.mark.parametrize("name", SETS)
def test_auroc_equals_the_exact_value(name: str) -> None:
    golden = SETS[name]
    value = auroc(golden["confidence"], golden["correct"])
    assert value is None if golden["auroc"] is None else value == pytest.approx(golden["auroc"], abs=1e-12)


@pytest.mark.parametrize("name", TWO_CLASSES)
def test_auroc_agrees_with_scikit_learn(name: str) -> None:
    golden = SETS[name]
    expected = roc_auc_score(golden["correct"], golden["confidence"])
    assert auroc(golden["confidence"], golden["correct"]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in TWO_CLASSES if SETS[name]["delong_variance"]])
def test_interval_follows_from_the_exact_delong_variance(name: str) -> None:
    golden = SETS[name]
    area, spread = golden["auroc"], golden["delong_variance"] ** 0.5
    logit = np.log(area / (1 - area)) + np.array([-1, 1]) * norm.ppf(0.975) * spread / (area * (1 - area))
    interval = auroc_interval(golden["confidence"], golden["correct"])
    assert interval == pytest.approx(tuple(1 / (1 + np.exp(-logit))), abs=1e-10)


def test_auroc_by_hand_with_a_tie() -> None:
    # Right: .9, .5; wrong: .5, .1. Pairs: .9>.5, .9>.1, .5=.5, .5>.1: (1 + 1 + 1/2 + 1) / 4.
    assert auroc([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0]) == 0.875


def test_missing_class_is_none_with_a_reason() -> None:
    assert auroc([0.2, 0.4], [1, 1]) is None
    assert auroc_interval([0.2, 0.4], [1, 1]) is None
    assert undefined_reason([1, 1]) == "all 2 answers correct"
    assert undefined_reason([0, 0, 0]) == "all 3 answers wrong"
    assert auroc([], []) is None
    assert undefined_reason([]) == "no answers"
    assert undefined_reason([0, 1]) is None


@pytest.mark.parametrize(
    ("confidence", "correct"),
    [
        ([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0]),
        ([0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1]),
        ([0.3] * 7, [1, 0, 1, 0, 1, 0, 1]),
        ([0.9, 0.2, 0.1], [1, 0, 0]),
    ],
    ids=["all above", "all below", "constant", "one right answer"],
)
def test_no_interval_without_a_variance(confidence: list[float], correct: list[int]) -> None:
    assert auroc(confidence, correct) is not None
    assert auroc_interval(confidence, correct) is None


@settings(deadline=None)
@given(pairs)
def test_auroc_agrees_with_scikit_learn_on_any_ties(rows: list[tuple[int, int]]) -> None:
    confidence, correct = split(rows)
    if len(set(correct)) < 2:
        assert auroc(confidence, correct) is None
    else:
        assert auroc(confidence, correct) == pytest.approx(roc_auc_score(correct, confidence), abs=1e-12)


@settings(deadline=None)
@given(pairs, st.randoms())
def test_order_and_monotone_maps_change_nothing_and_swapped_labels_mirror(rows, random) -> None:
    confidence, correct = split(rows)
    value, interval = auroc(confidence, correct), auroc_interval(confidence, correct)
    random.shuffle(rows)
    again = split(rows)
    assert auroc(*again) == value
    assert auroc(np.exp(np.array(confidence)), correct) == value
    mirrored = auroc(confidence, [1 - label for label in correct])
    assert mirrored is None if value is None else mirrored == pytest.approx(1 - value, abs=1e-12)
    if interval is not None:
        assert value is not None
        assert 0 < interval[0] < value < interval[1] < 1


def test_interval_narrows_with_a_lower_level() -> None:
    golden = SETS["g4_imbalanced"]
    wide = auroc_interval(golden["confidence"], golden["correct"], level=0.99)
    narrow = auroc_interval(golden["confidence"], golden["correct"], level=0.5)
    assert wide is not None and narrow is not None
    assert wide[0] < narrow[0] < golden["auroc"] < narrow[1] < wide[1]


@pytest.mark.parametrize(
    ("confidence", "correct", "words"),
    [
        ([0.1], [1, 0], "one length"),
        ([[0.1, 0.2]], [[1, 0]], "one length"),
        ([0.1, float("nan")], [1, 0], "not finite"),
        ([0.1, float("inf")], [1, 0], "not finite"),
        ([0.1, 0.2], [1, 2], "neither 0 nor 1"),
    ],
)
def test_bad_input_is_refused(confidence: list[float], correct: list[int], words: str) -> None:
    with pytest.raises(DataError, match=words):
        auroc(confidence, correct)


@pytest.mark.parametrize("level", [0, 1, 95])
def test_bad_level_is_refused(level: float) -> None:
    with pytest.raises(DataError, match="level"):
        auroc_interval([0.1, 0.2], [0, 1], level=level)
