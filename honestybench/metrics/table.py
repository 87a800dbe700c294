"""The one representation of a system's answers that every metric reads: counts by distinct confidence."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from honestybench.errors import DataError

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceTable:
    """Distinct confidences in ascending order, and how many answers and right answers have each.

    It forgets the order of the answers and keeps ties together, so no metric can depend on either.
    """

    confidence: Floats
    n: Counts
    n_correct: Counts

    @classmethod
    def of(cls, confidence: ArrayLike, correct: ArrayLike) -> "ConfidenceTable":
        """Count finite confidences and as many labels, 0 or 1. Raises: DataError."""
        values, labels = checked(confidence, correct)
        distinct, place = np.unique(values, return_inverse=True)
        n = np.bincount(place, minlength=distinct.size)
        n_correct = np.bincount(place[labels], minlength=distinct.size)
        return cls(distinct, n.astype(np.int64), n_correct.astype(np.int64))

    @property
    def total(self) -> int:
        """The number of answers."""
        return int(self.n.sum())

    @property
    def total_correct(self) -> int:
        """The number of right answers."""
        return int(self.n_correct.sum())

    @property
    def n_wrong(self) -> Counts:
        """Wrong answers by confidence."""
        return self.n - self.n_correct

    def probabilities(self) -> Floats:
        """The distinct confidences, checked to lie in [0, 1]. Raises: DataError."""
        if self.confidence.size and not (self.confidence[0] >= 0 and self.confidence[-1] <= 1):
            outside = self.confidence[0] if self.confidence[0] < 0 else self.confidence[-1]
            raise DataError(
                "a confidence lies outside [0, 1]",
                value=float(outside),
                remedy="give the probability that the answer is right",
            )
        return self.confidence


def checked(confidence: ArrayLike, correct: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    """Check that confidences are finite numbers and labels 0, 1 or booleans, one for one. Raises: DataError."""
    values, labels = _array(confidence, "confidences", "iuf").astype(np.float64), _array(correct, "labels", "biuf")
    if values.ndim != 1 or values.shape != labels.shape:
        raise DataError("confidences and labels must be two lists of one length", value=(values.shape, labels.shape))
    if not np.isfinite(values).all():
        raise DataError("a confidence is not finite", value=float(values[~np.isfinite(values)][0]))
    if labels.size and not np.isin(labels, (0, 1)).all():
        raise DataError("a label is neither 0 nor 1", value=labels[~np.isin(labels, (0, 1))].tolist()[0])
    return values, labels.astype(bool)


def _array(given: ArrayLike, what: str, kinds: str) -> NDArray[Any]:
    """Make an array of one of the kinds of number (see `numpy.dtype.kind`); numpy itself would read the text "0.9"."""
    remedy = f"give the {what} as a list of numbers"
    try:
        array = np.asarray(given)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"the {what} are no list of numbers: {error}", remedy=remedy) from error
    # A list of numbers and booleans becomes an array of numbers.
    mixed = "b" not in kinds and isinstance(given, list | tuple) and any(isinstance(each, bool) for each in given)
    if mixed or array.dtype.kind not in kinds:
        raise DataError(f"the {what} must be numbers", value="bool" if mixed else str(array.dtype), remedy=remedy)
    return array
