"""The AUROC of pairs inside sources, summed over sources: for tracks whose sources are small."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from honestybench.metrics.discrimination import one_class_reason, pairs_won, table_placements
from honestybench.metrics.estimate import Estimate
from honestybench.metrics.table import ConfidenceTable, Floats


def pooled_auroc(tables: Sequence[ConfidenceTable]) -> Estimate:
    """Compute the share of pairs, inside any one source, in which the right answer has the higher confidence.

    In [0, 1], a tie counts one half; `tables` has one table a source. No source's easy questions are
    compared with another's hard ones. The variance is the delta method's for this ratio of two
    U-statistics: sources are strata of fixed size, in which answers are drawn together with their labels.
    So a source with a single right answer counts too. It is unknown where the value is exactly 0 or 1.
    """
    pairs = sum(table.total_correct * (table.total - table.total_correct) for table in tables)
    if not pairs:
        total, right = sum(table.total for table in tables), sum(table.total_correct for table in tables)
        return Estimate(value=None, reason=one_class_reason(total, right) or "no source has right and wrong answers")
    value = sum(pairs_won(table) for table in tables) / pairs
    if value in (0, 1):
        return Estimate(value=value)
    variance = sum(_stratum_variance(table, value) for table in tables) / pairs**2
    return Estimate(value=value, variance=variance)


def pooled_covariance(strata: Sequence[tuple[Floats, NDArray[np.bool_]]], values: Sequence[float]) -> Floats:
    """Compute the covariance matrix of the pooled AUROCs of K systems on the same answers, K x K.

    `strata` has, for each source with both classes, DeLong's components of its answers (`placements`,
    K x n) and their labels; `values` are the K pooled AUROCs. The diagonal is the variance of `pooled_auroc`.
    """
    covariance, pairs = np.zeros((len(values), len(values))), 0
    for components, labels in strata:
        right = int(labels.sum())
        wrong = labels.size - right
        pairs += right * wrong
        influence = np.where(labels, wrong, right) * (components - np.array(values)[:, None])
        covariance += np.atleast_2d(np.cov(influence)) * labels.size
    return covariance / pairs**2


def _stratum_variance(table: ConfidenceTable, value: float) -> float:
    """Compute the variance that one source adds to the pairs won beyond `value`."""
    total, right = table.total, table.total_correct
    wrong = total - right
    if not right or not wrong:
        return 0.0
    above_wrong, above_right = table_placements(table)
    of_right, of_wrong = wrong * (above_wrong - value), right * (above_right - value)
    mean = float((table.n_correct * of_right + table.n_wrong * of_wrong).sum()) / total
    squares = table.n_correct * (of_right - mean) ** 2 + table.n_wrong * (of_wrong - mean) ** 2
    return float(squares.sum()) * total / (total - 1)
