from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestybench.metrics.selective import aurc, risk_coverage
from honestybench.metrics.table import ConfidenceTable


def mean_over_orders(confidence: list[float], correct: list[int]) -> float:
    """AURC from its definition: the mean over all orders of the rows, each sorted by confidence without moving ties."""
    found = []
    for order in permutations(range(len(confidence))):
        kept = sorted(order, key=lambda row: -confidence[row])
        errors = np.cumsum([1 - correct[row] for row in kept])
        found.append(np.mean(errors / np.arange(1, len(kept) + 1)))
    return float(np.mean(found))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.integers(0, 1)), min_size=1, max_size=6))
def test_aurc_is_the_mean_over_all_orders_of_ties(pairs: list[tuple[float, int]]) -> None:
    confidence, correct = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    expected = mean_over_orders(confidence, correct)
    assert aurc(ConfidenceTable.of(confidence, correct)).value == pytest.approx(expected, abs=1e-12)


def test_a_constant_confidence_gets_the_error_rate() -> None:
    assert aurc(ConfidenceTable.of([0.4] * 8, [1, 1, 1, 1, 1, 0, 0, 0])).value == pytest.approx(3 / 8)


def test_risk_coverage_keeps_ties_whole() -> None:
    # Kept from the top: .9 (right), then the two at .5 (one wrong), then .1 (wrong).
    table = ConfidenceTable.of([0.5, 0.9, 0.5, 0.1], [1, 1, 0, 0])
    assert risk_coverage(table) == [[0.25, 0.0], [0.75, 1 / 3], [1.0, 0.5]]
    assert risk_coverage(ConfidenceTable.of([], [])) == []


def test_risk_coverage_is_thinned_and_ends_at_full_coverage() -> None:
    table = ConfidenceTable.of(np.linspace(0, 1, 1000), np.arange(1000) % 2)
    points = risk_coverage(table)
    assert len(points) == 200
    assert points[0][0] == 1 / 1000 and points[-1] == [1.0, 0.5]
    assert points == sorted(points)
