import numpy as np
import pytest

from honestybench.metrics.calibration import (
    brier,
    ece_10,
    equal_width_bins,
    null_gaps,
    null_summary,
    wilson_interval,
)
from honestybench.metrics.table import ConfidenceTable


@pytest.mark.parametrize("n_bins", [10, 15, 20])
def test_a_literal_edge_opens_its_bin_and_one_closes_the_last(n_bins: int) -> None:
    """`numpy.linspace` fails this at 0.3, 0.6 and 0.7."""
    edges = [k / n_bins for k in range(n_bins + 1)]
    bins = equal_width_bins(ConfidenceTable.of(edges, [1] * len(edges)), n_bins)
    assert [each.n for each in bins] == [1] * (n_bins - 1) + [2]
    below = equal_width_bins(ConfidenceTable.of(np.nextafter(edges[1:], 0), [1] * n_bins), n_bins)
    assert [each.n for each in below] == [1] * n_bins


def test_ece_by_hand() -> None:
    # Bin [.2, .3): .25 and .29, one right: |.54 - 1| = .46. Bin [.9, 1]: .9 and 1, both right: |1.9 - 2| = .1.
    estimate = ece_10(ConfidenceTable.of([0.25, 0.29, 0.9, 1.0], [1, 0, 1, 1]))
    assert estimate.value == pytest.approx((0.46 + 0.1) / 4)
    assert estimate.variance is None


def test_brier_and_its_variance_by_hand() -> None:
    # Losses .01, .25, .49: mean .25; variance of the mean: (.24^2 + 0 + .24^2) / 2 / 3.
    estimate = brier(ConfidenceTable.of([0.9, 0.5, 0.7], [1, 0, 0]))
    assert estimate.value == pytest.approx(0.25)
    assert estimate.variance == pytest.approx(2 * 0.24**2 / 6)
    assert brier(ConfidenceTable.of([0.9], [1])).variance is None


def test_null_of_four_coin_tosses() -> None:
    # Y ~ Binomial(4, 1/2): E|2 - Y| = (2*1 + 1*4 + 0*6 + 1*4 + 2*1) / 16 = 3/4, over 4 answers 3/16;
    # |2 - Y| = 2 has chance 1/8, so the 95 % point is 2/4.
    gaps = null_gaps(ConfidenceTable.of([0.5] * 4, [0, 0, 0, 0]), np.random.default_rng(7), draws=20_000)
    assert gaps.shape == (20_000, 10)
    mean, p95 = null_summary(np.abs(gaps).sum(axis=1) / 4)
    # The standard deviation of one draw is sqrt(E(2 - Y)^2 - 9/16) / 4 < .17.
    assert mean == pytest.approx(3 / 16, abs=4 * 0.17 / 20_000**0.5)
    assert p95 == 0.5


def test_null_is_independent_of_labels_and_reproducible() -> None:
    confidence = np.linspace(0, 1, 2345)
    right, wrong = (ConfidenceTable.of(confidence, np.full(2345, label)) for label in (1, 0))
    first, second = (null_gaps(table, np.random.default_rng(1), draws=20) for table in (right, wrong))
    assert (first == second).all()
    # Each bin's right answers have mean sum(c) and variance sum(c (1 - c)), in all about 2345 / 6.
    assert abs(first.sum(axis=1)).max() < 5 * (2345 / 6) ** 0.5


def test_wilson_interval_by_formula() -> None:
    # Wilson (1927) for 0 of n with z = 1.959964: [0, z^2 / (n + z^2)].
    z2 = 1.959963984540054**2
    assert wilson_interval(0, 10) == pytest.approx((0, z2 / (10 + z2)))
    assert wilson_interval(10, 10) == pytest.approx((10 / (10 + z2), 1))
    # The bounds solve (p - 1/4)^2 = z^2 p (1 - p) / 8.
    for bound in wilson_interval(2, 8):
        assert (bound - 0.25) ** 2 == pytest.approx(z2 * bound * (1 - bound) / 8)
