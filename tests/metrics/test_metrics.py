"""Properties that every metric of the table must have, and the golden values of all that are built."""

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, roc_auc_score

from honestybench.errors import DataError
from honestybench.metrics import HEADLINE_METRIC, METRICS, Answers
from honestybench.metrics.decision import alignment_part, alignment_ranks
from honestybench.metrics.table import ConfidenceTable

SETS = json.loads((Path(__file__).parents[1] / "golden" / "metrics.json").read_text(encoding="utf-8"))["datasets"]
BUILT = [name for name, spec in METRICS.items() if spec.compute]


@dataclass(frozen=True)
class Traits:
    """What is known of a metric: whether only the order of confidences matters, what it becomes when labels are
    swapped (`swapped`), when confidences are mirrored too, and when every answer comes twice."""

    ranking: bool
    swapped: Callable[[float], float] | None
    mirrored_equal: bool
    doubled_equal: bool


TRAITS = {
    "auroc": Traits(ranking=True, swapped=lambda value: 1 - value, mirrored_equal=True, doubled_equal=True),
    "ece_10": Traits(ranking=False, swapped=None, mirrored_equal=True, doubled_equal=True),
    "brier": Traits(ranking=False, swapped=None, mirrored_equal=True, doubled_equal=True),
    # Its mean over k = 1 to n of n answers is not that of 2 n; swapping labels turns risks into 1 - risk.
    "aurc": Traits(ranking=True, swapped=lambda value: 1 - value, mirrored_equal=False, doubled_equal=False),
    # Its grid of thresholds is neither symmetric nor unmoved by a monotone map.
    "alignment": Traits(ranking=False, swapped=None, mirrored_equal=False, doubled_equal=False),
}

# Odd multiples of 1/40 touch no bin's edge, so that mirroring moves no value from a closed to an open side.
rows = st.lists(st.tuples(st.integers(0, 19).map(lambda k: (2 * k + 1) / 40), st.integers(0, 1)), max_size=60)
Rows = list[tuple[float, int]]


def read(pairs: Rows, names: list[str] | None = None) -> Answers:
    names = [f"q{index}" for index in range(len(pairs))] if names is None else names
    confidence, correct = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    fitted = alignment_part(alignment_ranks(("made-up", name) for name in names))
    return Answers(
        table=ConfidenceTable.of(confidence, correct),
        fitted_on=ConfidenceTable.of(confidence[fitted], correct[fitted]),
        tested_on=ConfidenceTable.of(confidence[~fitted], correct[~fitted]),
    )


def compute(name: str, pairs: Rows, names: list[str] | None = None) -> float | None:
    measure = METRICS[name].compute
    assert measure is not None
    estimate = measure(read(pairs, names))
    assert (estimate.value is None) == (estimate.reason is not None)
    return estimate.value


def test_every_built_metric_has_its_traits() -> None:
    assert list(TRAITS) == BUILT
    assert HEADLINE_METRIC in BUILT


@pytest.mark.parametrize("spec", METRICS.values(), ids=METRICS)
def test_every_metric_says_what_it_is(spec) -> None:
    assert spec.label and spec.description and spec.source
    assert len({other.label for other in METRICS.values()}) == len(METRICS)


@pytest.mark.parametrize("dataset", SETS)
@pytest.mark.parametrize("name", BUILT)
def test_golden_value(name: str, dataset: str) -> None:
    golden = SETS[dataset]
    pairs = list(zip(golden["confidence"], golden["correct"], strict=True))
    if name == "alignment":
        ids = [f"{dataset}-{row:04d}" for row in range(len(pairs))]
        fitted = alignment_part(alignment_ranks((dataset, each) for each in ids))
        assert {each for each, chosen in zip(ids, fitted, strict=True) if chosen} == set(golden["fitted_on"])
        parts = [[pair for pair, is_fitted in zip(pairs, fitted, strict=True) if is_fitted == k] for k in (True, False)]
        tables = [ConfidenceTable.of([c for c, _ in part], [y for _, y in part]) for part in parts]
        answers = Answers(table=tables[1], fitted_on=tables[0], tested_on=tables[1])
    else:
        answers = read(pairs)
    measure = METRICS[name].compute
    assert measure is not None
    value = measure(answers).value
    assert value is None if golden[name] is None else value == pytest.approx(golden[name], abs=1e-12)


@pytest.mark.parametrize("name", BUILT)
@settings(deadline=None, max_examples=50)
@given(pairs=rows, shuffle=st.randoms())
def test_order_changes_nothing_and_values_stay_in_bounds(name: str, pairs: Rows, shuffle: random.Random) -> None:
    value = compute(name, pairs)
    assert value is None or 0 <= value <= 1
    named = [(pair, f"q{index}") for index, pair in enumerate(pairs)]
    shuffle.shuffle(named)
    again = compute(name, [pair for pair, _ in named], [each for _, each in named])
    assert again is value is None or again == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", [name for name, traits in TRAITS.items() if traits.ranking])
@settings(deadline=None, max_examples=50)
@given(pairs=rows)
def test_a_monotone_map_leaves_a_ranking_metric(name: str, pairs: Rows) -> None:
    assert compute(name, [(confidence**3, correct) for confidence, correct in pairs]) == compute(name, pairs)


@pytest.mark.parametrize("name", [name for name, traits in TRAITS.items() if traits.swapped])
@settings(deadline=None, max_examples=50)
@given(pairs=rows)
def test_swapped_labels(name: str, pairs: Rows) -> None:
    value, swapped = compute(name, pairs), compute(name, [(confidence, 1 - correct) for confidence, correct in pairs])
    expected = TRAITS[name].swapped
    assert expected is not None
    assert swapped is value is None or swapped == pytest.approx(expected(value), abs=1e-12)


@pytest.mark.parametrize("name", [name for name, traits in TRAITS.items() if traits.mirrored_equal])
@settings(deadline=None, max_examples=50)
@given(pairs=rows)
def test_mirrored_answers(name: str, pairs: Rows) -> None:
    value, mirrored = compute(name, pairs), compute(name, [(1 - confidence, 1 - label) for confidence, label in pairs])
    assert mirrored is value is None or mirrored == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", [name for name, traits in TRAITS.items() if traits.doubled_equal])
@settings(deadline=None, max_examples=50)
@given(pairs=rows)
def test_doubled_answers(name: str, pairs: Rows) -> None:
    value, doubled = compute(name, pairs), compute(name, pairs + pairs)
    assert doubled is value is None or doubled == pytest.approx(value, abs=1e-12)


@settings(deadline=None)
@given(rows.filter(lambda pairs: len({label for _, label in pairs}) == 2))
def test_scikit_learn_agrees(pairs: Rows) -> None:
    confidence, correct = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    assert compute("auroc", pairs) == pytest.approx(roc_auc_score(correct, confidence), abs=1e-12)
    assert compute("brier", pairs) == pytest.approx(brier_score_loss(correct, confidence), abs=1e-12)


@pytest.mark.parametrize("name", BUILT)
def test_no_answers_are_undefined(name: str) -> None:
    assert compute(name, []) is None


def test_alignment_without_ids_says_what_it_needs() -> None:
    measure = METRICS["alignment"].compute
    assert measure is not None
    estimate = measure(Answers(table=ConfidenceTable.of([0.1], [1])))
    assert estimate.value is None and estimate.reason is not None and "ids" in estimate.reason


@pytest.mark.parametrize("name", ["ece_10", "brier"])
@pytest.mark.parametrize("outside", [-0.1, 1.5, math.nextafter(1, 2)])
def test_a_confidence_outside_0_to_1_is_refused(name: str, outside: float) -> None:
    with pytest.raises(DataError, match=r"outside \[0, 1\]"):
        compute(name, [(outside, 1), (0.5, 0)])
