"""What a page draws of a track: reliability, risk and coverage, a histogram, and the most confident errors."""

from collections.abc import Sequence

import numpy as np

from honestybench.metrics.calibration import N_BINS, equal_width_bins, wilson_interval
from honestybench.metrics.selective import risk_coverage
from honestybench.metrics.table import ConfidenceTable
from honestybench.scorecard import ConfidentError, Curves, HistogramBin, ReliabilityBin
from honestybench.scoring.answers import AnswerSet

HISTOGRAM_BINS = 20
MAX_CONFIDENT_ERRORS = 50


def draw_curves(table: ConfidenceTable) -> Curves:
    """Compute the curves of one table; bins without answers are left out of the reliability curve only."""
    return Curves(
        reliability=_reliability(table),
        risk_coverage=risk_coverage(table),
        histogram=[
            HistogramBin(low=each.low, high=each.high, n_correct=each.n_correct, n_wrong=each.n - each.n_correct)
            for each in equal_width_bins(table, HISTOGRAM_BINS)
        ],
    )


def confident_errors(answers: AnswerSet, ids: Sequence[str]) -> list[ConfidentError]:
    """List the wrong answers of highest confidence, at most 50, ties by id; with several seeds those of the first."""
    confidence = answers.confidences[0]
    wrong = sorted(np.flatnonzero(answers.correct == 0), key=lambda row: (-confidence[row], ids[row]))
    return [ConfidentError(id=ids[row], confidence=float(confidence[row])) for row in wrong[:MAX_CONFIDENT_ERRORS]]


def _reliability(table: ConfidenceTable) -> list[ReliabilityBin]:
    found = []
    for each in equal_width_bins(table, N_BINS):
        if each.n:
            low, high = wilson_interval(each.n_correct, each.n)
            found.append(
                ReliabilityBin(
                    low=each.low,
                    high=each.high,
                    n=each.n,
                    n_correct=each.n_correct,
                    mean_confidence=each.confidence_sum / each.n,
                    accuracy=each.n_correct / each.n,
                    ci_low=low,
                    ci_high=high,
                )
            )
    return found
