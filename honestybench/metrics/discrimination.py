"""How well a confidence ranks right answers above wrong ones."""

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from honestybench.errors import DataError

Floats = NDArray[np.float64]


def auroc(confidence: ArrayLike, correct: ArrayLike) -> float | None:
    """Compute the area under the ROC curve, in [0, 1]; higher is better, 0.5 is chance.

    It is P(c+ > c-) + P(c+ = c-) / 2 over all pairs of a right (+) and a wrong (-) answer, exact for
    ties (Hanley and McNeil, 1982). `confidence` holds finite numbers, `correct` as many labels 0 or 1.
    None when a class is missing (see `undefined_reason`). Raises: DataError.
    """
    above_wrong, above_right = _placements(confidence, correct)
    if not above_wrong.size or not above_right.size:
        return None
    return float(above_wrong.mean())


def auroc_interval(confidence: ArrayLike, correct: ArrayLike, level: float = 0.95) -> tuple[float, float] | None:
    """Compute a two-sided confidence interval of the AUROC, DeLong's variance on the logit scale.

    The variance is that of DeLong, DeLong and Clarke-Pearson (1988, eq. 5 for one curve); the logit keeps
    the bounds inside (0, 1) and covers better than the plain interval in small samples. None where the
    AUROC is undefined or has no variance: fewer than two answers of a class, one constant confidence, or
    an AUROC of exactly 0 or 1. Raises: DataError, also for a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise DataError("a confidence level lies outside (0, 1)", where="auroc_interval", value=level)
    above_wrong, above_right = _placements(confidence, correct)
    if min(above_wrong.size, above_right.size) < 2:
        return None
    # Compared, not computed: the variance of equal components may round to something above 0.
    if np.ptp(above_wrong) == 0 and np.ptp(above_right) == 0:
        return None
    area = float(above_wrong.mean())
    variance = float(above_wrong.var(ddof=1) / above_wrong.size + above_right.var(ddof=1) / above_right.size)
    centre = np.log(area / (1 - area))
    # Delta method: the derivative of the logit is 1 / (a (1 - a)).
    reach = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(variance) / (area * (1 - area))
    low, high = (float(1 / (1 + np.exp(-bound))) for bound in (centre - reach, centre + reach))
    return low, high


def undefined_reason(correct: ArrayLike) -> str | None:
    """Say why the AUROC of these labels is undefined; None when it is defined."""
    labels = np.asarray(correct)
    if not labels.size:
        return "no answers"
    if labels.min() == labels.max():
        return f"all {labels.size} answers {'correct' if labels.min() else 'wrong'}"
    return None


def _placements(confidence: ArrayLike, correct: ArrayLike) -> tuple[Floats, Floats]:
    """Compute DeLong's two components, each value in [0, 1].

    First, for each right answer, the share of wrong answers it stands above; second, for each wrong
    answer, the share of right answers that stand above it; a tie counts one half. Sums of halves are
    exact in float64.
    """
    confidence, labels = _checked(confidence, correct)
    right, wrong = np.sort(confidence[labels]), np.sort(confidence[~labels])
    if not right.size or not wrong.size:
        return right, wrong
    below = np.searchsorted(wrong, right, "left") + np.searchsorted(wrong, right, "right")
    above = 2 * right.size - np.searchsorted(right, wrong, "left") - np.searchsorted(right, wrong, "right")
    return below / (2 * wrong.size), above / (2 * right.size)


def _checked(confidence: ArrayLike, correct: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    values, labels = np.asarray(confidence, dtype=np.float64), np.asarray(correct)
    if values.ndim != 1 or values.shape != labels.shape:
        raise DataError(
            "confidences and labels must be two lists of one length", where="AUROC", value=(values.shape, labels.shape)
        )
    if not np.isfinite(values).all():
        raise DataError("a confidence is not finite", where="AUROC", value=float(values[~np.isfinite(values)][0]))
    if labels.size and not np.isin(labels, (0, 1)).all():
        raise DataError("a label is neither 0 nor 1", where="AUROC", value=labels[~np.isin(labels, (0, 1))].tolist()[0])
    return values, labels.astype(bool)
