"""How well a confidence ranks right answers above wrong ones."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from honestybench.metrics.estimate import Estimate
from honestybench.metrics.table import ConfidenceTable, Floats, checked


def auroc(confidence: ArrayLike, correct: ArrayLike) -> float | None:
    """Compute the area under the ROC curve, in [0, 1]; higher is better, 0.5 is chance.

    `confidence` holds finite numbers, `correct` as many labels 0 or 1. None when a class is missing
    (see `undefined_reason`). Raises: DataError.
    """
    return auroc_estimate(ConfidenceTable.of(confidence, correct)).value


def auroc_interval(confidence: ArrayLike, correct: ArrayLike, level: float = 0.95) -> tuple[float, float] | None:
    """Compute a two-sided confidence interval of the AUROC, DeLong's variance on the logit scale.

    None where the AUROC is undefined or has no variance: fewer than two answers of a class, one
    constant confidence, or an AUROC of exactly 0 or 1. Raises: DataError, also for a level outside (0, 1).
    """
    return auroc_estimate(ConfidenceTable.of(confidence, correct)).interval("logit", level)


def auroc_estimate(table: ConfidenceTable) -> Estimate:
    """Compute the AUROC and DeLong's variance of it.

    The value is P(c+ > c-) + P(c+ = c-) / 2 over all pairs of a right (+) and a wrong (-) answer, exact
    for ties (Hanley and McNeil, 1982); the variance that of DeLong, DeLong and Clarke-Pearson (1988,
    eq. 5 for one curve). It is unknown with fewer than two answers of a class and where the value is
    exactly 0 or 1: the formula's zero would be no certainty. One constant confidence has variance 0.
    """
    right, wrong = table.total_correct, table.total - table.total_correct
    if not right or not wrong:
        return Estimate(value=None, reason=one_class_reason(table.total, right))
    above_wrong, above_right = table_placements(table)
    area = pairs_won(table) / (right * wrong)
    if min(right, wrong) < 2 or area in (0, 1):
        return Estimate(value=area)
    variance = _mean_square(above_wrong - area, table.n_correct) / (right - 1)
    variance += _mean_square(above_right - area, table.n_wrong) / (wrong - 1)
    return Estimate(value=area, variance=variance)


def pairs_won(table: ConfidenceTable) -> float:
    """Count the pairs of a right and a wrong answer that the right one wins, a tie as one half."""
    wrong = table.n_wrong
    # Twice the pairs, in integers: exact for any number of answers that fits into memory.
    return int((table.n_correct * (2 * (np.cumsum(wrong) - wrong) + wrong)).sum()) / 2


def table_placements(table: ConfidenceTable) -> tuple[Floats, Floats]:
    """Compute DeLong's two components by distinct confidence, each in [0, 1].

    First, the share of wrong answers that a right answer of this confidence stands above; second, the
    share of right answers that stand above a wrong one. A tie counts one half.
    """
    right, wrong = table.n_correct, table.n_wrong
    above_wrong = (2 * (np.cumsum(wrong) - wrong) + wrong) / (2 * wrong.sum())
    above_right = (2 * (right.sum() - np.cumsum(right)) + right) / (2 * right.sum())
    return above_wrong, above_right


def placements(confidence: ArrayLike, correct: ArrayLike) -> Floats:
    """Compute DeLong's component of each answer, in the answers' order: see `table_placements`.

    Both classes must be there. Raises: DataError for other input than `auroc` takes.
    """
    values, labels = checked(confidence, correct)
    right, wrong = np.sort(values[labels]), np.sort(values[~labels])
    found = np.empty(values.size)
    below = np.searchsorted(wrong, values[labels], "left") + np.searchsorted(wrong, values[labels], "right")
    not_above = np.searchsorted(right, values[~labels], "left") + np.searchsorted(right, values[~labels], "right")
    found[labels] = below / (2 * wrong.size)
    found[~labels] = (2 * right.size - not_above) / (2 * right.size)
    return found


def auroc_covariance(components: Floats, correct: NDArray[np.bool_]) -> Floats:
    """Compute DeLong's covariance matrix of the AUROCs of K systems on the same answers, K x K.

    `components` are their `placements`, K x n; at least two answers of each class.
    """
    right, wrong = components[:, correct], components[:, ~correct]
    covariance: Floats = np.atleast_2d(np.cov(right)) / right.shape[1] + np.atleast_2d(np.cov(wrong)) / wrong.shape[1]
    return covariance


def undefined_reason(correct: ArrayLike) -> str | None:
    """Say why the AUROC of these labels is undefined; None when it is defined."""
    labels = np.asarray(correct)
    return one_class_reason(int(labels.size), int(labels.sum()))


def one_class_reason(total: int, total_correct: int) -> str | None:
    """Say which class is missing among so many answers; None when both are there."""
    if not total:
        return "no answers"
    if total_correct in (0, total):
        return f"all {total} answers {'correct' if total_correct else 'wrong'}"
    return None


def _mean_square(values: Floats, counts: ArrayLike) -> float:
    return float(np.average(values**2, weights=np.asarray(counts)))
