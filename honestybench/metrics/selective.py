"""How few errors remain when only the most confident answers are kept."""

import numpy as np

from honestybench.metrics.estimate import Estimate
from honestybench.metrics.table import ConfidenceTable

CURVE_POINTS = 200


def aurc(table: ConfidenceTable) -> Estimate:
    """Compute the area under the risk-coverage curve, in [0, 1]; lower is better.

    The mean, over k = 1 to n, of the error rate among the k most confident answers (Geifman et
    al., 2019), ties in random order, as an exact expectation. A constant confidence gets the error rate.
    """
    total = table.total
    if not total:
        return Estimate(value=None, reason="no answers")
    n, wrong = table.n[::-1], table.n_wrong[::-1]
    kept = np.concatenate(([0], np.cumsum(n)))
    errors_before = np.cumsum(wrong) - wrong
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, total + 1))))
    # Inside a block of b answers with e errors, after m answers with f errors, k answers hold
    # f + e (k - m) / b errors; divided by k and summed: e + (f - e m / b) (H(m + b) - H(m)).
    blocks = wrong + (errors_before - wrong * kept[:-1] / n) * (harmonic[kept[1:]] - harmonic[kept[:-1]])
    return Estimate(value=float(blocks.sum()) / total)


def risk_coverage(table: ConfidenceTable, points: int = CURVE_POINTS) -> list[list[float]]:
    """List (coverage, risk) of the thresholds that keep whole ties, by rising coverage, thinned to `points`.

    Coverage is the share of answers kept, risk the error rate among them.
    """
    if not table.total:
        return []
    kept, errors = np.cumsum(table.n[::-1]), np.cumsum(table.n_wrong[::-1])
    chosen = np.unique(np.linspace(0, kept.size - 1, points).round().astype(int))
    return [[float(kept[place] / table.total), float(errors[place] / kept[place])] for place in chosen]
