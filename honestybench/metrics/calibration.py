"""How far a confidence is from the frequency of right answers."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from honestybench.metrics.estimate import Estimate
from honestybench.metrics.table import ConfidenceTable, Floats

N_BINS = 10
NULL_DRAWS = 1000
CHUNK = 1000
"""Answers simulated at once: bounds the memory of the null draws at 8 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """One bin [low, high) of confidence, the last one closed at 1; `confidence_sum` is over its answers."""

    low: float
    high: float
    n: int
    n_correct: int
    confidence_sum: float


def equal_width_bins(table: ConfidenceTable, n_bins: int) -> list[Bin]:
    """Count the answers in bins [k/M, (k+1)/M), the last one closed; empty bins included.

    The edges are the doubles k/M: `numpy.linspace` puts some of them one unit higher, and then the
    literal 0.3 falls below its own edge. Raises: DataError for a confidence outside [0, 1].
    """
    place = _bin_numbers(table, n_bins)
    counts, right = (np.bincount(place, column, n_bins) for column in (table.n, table.n_correct))
    sums = np.bincount(place, table.n * table.confidence, n_bins)
    return [
        Bin(
            low=k / n_bins,
            high=(k + 1) / n_bins,
            n=int(counts[k]),
            n_correct=int(right[k]),
            confidence_sum=float(sums[k]),
        )
        for k in range(n_bins)
    ]


def ece_10(table: ConfidenceTable) -> Estimate:
    """Compute the expected calibration error over ten bins of equal width, in [0, 1]; lower is better.

    Sum over bins of |sum of confidences - right answers|, over all answers (Naeini et al., 2015). It is
    biased upwards: read it beside `null_gaps`. No variance: resampling does not cover its true value.
    """
    if not table.total:
        return Estimate(value=None, reason="no answers")
    gaps = [abs(each.confidence_sum - each.n_correct) for each in equal_width_bins(table, N_BINS)]
    return Estimate(value=sum(gaps) / table.total)


def null_gaps(table: ConfidenceTable, generator: np.random.Generator, draws: int = NULL_DRAWS) -> Floats:
    """Simulate what a perfectly calibrated system would show: right answers drawn with chance = confidence.

    Returns, per draw and bin of ECE-10, sum of confidences - right answers; shape (draws, 10). The sum
    of absolute gaps over the number of answers is one draw of ECE-10 under perfect calibration.
    """
    bins = equal_width_bins(table, N_BINS)
    place = np.repeat(_bin_numbers(table, N_BINS), table.n)
    confidence = np.repeat(table.confidence, table.n)
    gaps = np.tile([each.confidence_sum for each in bins], (draws, 1))
    for k in range(N_BINS):
        inside = confidence[place == k]
        for start in range(0, inside.size, CHUNK):
            chunk = inside[start : start + CHUNK]
            gaps[:, k] -= (generator.random((draws, chunk.size)) < chunk).sum(axis=1)
    return gaps


def null_summary(ece_draws: Floats) -> tuple[float, float]:
    """Summarise draws of ECE-10 under perfect calibration: their mean and 95 % point."""
    return float(ece_draws.mean()), float(np.quantile(ece_draws, 0.95))


def brier(table: ConfidenceTable) -> Estimate:
    """Compute the Brier score, the mean of (confidence - correct)^2, in [0, 1]; lower is better (Brier, 1950).

    Raises: DataError for a confidence outside [0, 1].
    """
    total = table.total
    if not total:
        return Estimate(value=None, reason="no answers")
    confidence = table.probabilities()
    if_right, if_wrong = (1 - confidence) ** 2, confidence**2
    value = float((table.n_correct * if_right + table.n_wrong * if_wrong).sum()) / total
    if total < 2:
        return Estimate(value=value)
    squares = table.n_correct * (if_right - value) ** 2 + table.n_wrong * (if_wrong - value) ** 2
    return Estimate(value=value, variance=float(squares.sum()) / (total - 1) / total)


def wilson_interval(n_correct: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Compute the interval of a share of n > 0 answers (Wilson, 1927); inside [0, 1], also for 0 and n of n."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (n_correct + z**2 / 2) / (n + z**2)
    reach = z / (n + z**2) * (n_correct * (n - n_correct) / n + z**2 / 4) ** 0.5
    return max(0.0, centre - reach), min(1.0, centre + reach)


def _bin_numbers(table: ConfidenceTable, n_bins: int) -> NDArray[np.intp]:
    inner_edges = np.arange(1, n_bins) / n_bins
    return np.searchsorted(inner_edges, table.probabilities(), side="right")
