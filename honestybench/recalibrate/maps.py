"""Maps from a confidence to a better calibrated one, fitted on labels. No map falls: it may join, never swap.

The sigmoids minimise log loss against Platt's smoothed targets, (k + 1) / (k + 2) for the k right answers and
1 / (j + 2) for the j wrong ones, instead of 1 and 0. So a fit stays finite where few labels part the confidences
without an error, as thirty labels with three right answers often do; with many labels nothing changes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from honestybench.errors import DataError, MissingExtraError, UnknownNameError

Floats = NDArray[np.float64]

MAX_EDGE, MIN_EDGE = 1e-2, 1e-12
"""The bounds 0 and 1 have no finite logit: a sigmoid map is flat on this much of each end at most, and at least."""

MIN_SPREAD = 1e-6
"""Logits with a smaller standard deviation count as equal: a slope on them would only amplify rounding."""

WEAK_PENALTY = 1e10
"""scikit-learn's C: no penalty in effect, yet one best fit where a confidence has too few values for the formula."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SigmoidMap:
    """The map c -> sigmoid(a ln c - b ln(1 - c) + m), with a, b >= 0, and c cut to [low, high] first.

    Platt's map has a = b, temperature scaling a = b = 1/T and m = 0, a constant a = b = 0.
    """

    a: float
    b: float
    m: float
    low: float = MIN_EDGE
    high: float = 1 - MIN_EDGE

    def __call__(self, confidence: ArrayLike) -> Floats:
        """Map n confidences in [0, 1] to [0, 1]. Raises: DataError for other values."""
        inside = np.clip(_in_range(confidence), self.low, self.high)
        score = self.a * np.log(inside) - self.b * np.log1p(-inside) + self.m
        small = np.exp(-np.abs(score))
        mapped: Floats = np.where(score >= 0, 1, small) / (1 + small)
        return mapped

    @property
    def is_constant(self) -> bool:
        """Whether every confidence becomes the same."""
        return self.a == self.b == 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IsotonicMap:
    """The map that joins the points (x, y), both rising, by straight lines, and is flat beyond them."""

    x: Floats
    y: Floats

    def __call__(self, confidence: ArrayLike) -> Floats:
        """Map n confidences in [0, 1] to [0, 1]. Raises: DataError for other values."""
        # The interpolation may round to a hair beyond its points.
        return np.clip(np.interp(_in_range(confidence), self.x, self.y), self.y[0], self.y[-1])

    @property
    def is_constant(self) -> bool:
        """Whether every confidence becomes the same."""
        return bool(self.y[0] == self.y[-1])


Map = SigmoidMap | IsotonicMap


@dataclass(frozen=True, slots=True)
class Counts:
    """Distinct confidences, rising, and how many right and wrong answers have each: no fit can see any order."""

    confidence: Floats
    right: Floats
    wrong: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to fit a map: its name on the board, where it is from, and the fit, None where no rising map fits."""

    name: str
    source: str
    fit: Callable[[Counts], Map | None]


def fit(method: str, confidence: ArrayLike, correct: ArrayLike) -> Map:
    """Fit a map of METHODS on n confidences in [0, 1] and as many labels, 0 or 1.

    Where all labels are equal, or all confidences, or the best map of the method would fall (a higher confidence is
    no more often right), the map is the constant (k + 1) / (n + 2) for k right of n: Laplace's rule of succession.
    Raises: UnknownNameError; DataError for no label or other values; MissingExtraError without scikit-learn.
    """
    if method not in METHODS:
        raise UnknownNameError("method", method, METHODS)
    values, labels = _in_range(confidence), np.asarray(correct)
    if values.shape != labels.shape or not values.size or not np.isin(labels, (0, 1)).all():
        raise DataError(
            "a map is fitted on at least one confidence and one label, 0 or 1, for each",
            value=f"{values.size} confidences, {labels.size} labels",
        )
    distinct, place = np.unique(values, return_inverse=True)
    right, wrong = (np.bincount(place, labels == label).astype(np.float64) for label in (1, 0))
    n_right, n_wrong = float(right.sum()), float(wrong.sum())
    fitted = METHODS[method].fit(Counts(distinct, right, wrong)) if n_right and n_wrong else None
    return fitted or SigmoidMap(a=0.0, b=0.0, m=float(np.log((n_right + 1) / (n_wrong + 1))))


def _fit_sigmoid(counts: Counts, *, free: bool, with_intercept: bool) -> Map | None:
    """Fit a SigmoidMap: a and b `free` of each other or equal; m = 0 without an intercept."""
    # Half-way from the bound to the nearest fitted confidence: a far 0 or 1 must not decide the slope alone.
    c = counts.confidence
    gaps = np.min(c[c > 0], initial=1), np.min(1 - c[c < 1], initial=1)
    low, high = (float(np.clip(gap / 2, MIN_EDGE, MAX_EDGE)) for gap in gaps)
    inside = np.clip(c, low, 1 - high)
    features = np.column_stack((np.log(inside), -np.log1p(-inside)))
    if not free:
        features = features.sum(axis=1, keepdims=True)
    slopes = np.zeros(features.shape[1])
    kept = [place for place, spread in enumerate(features.std(axis=0)) if spread > MIN_SPREAD]
    # Dropping a term whose slope is negative is the rule of beta calibration; for one term it leaves no map.
    while kept:
        found, m = _logistic(features[:, kept], counts, with_intercept=with_intercept)
        if found.min() > 0:
            slopes[kept] = found
            return SigmoidMap(a=float(slopes[0]), b=float(slopes[-1]), m=m, low=low, high=1 - high)
        del kept[int(found.argmin())]
    return None


def _logistic(features: Floats, counts: Counts, *, with_intercept: bool) -> tuple[Floats, float]:
    """Regress right against wrong on features (m, k) of the distinct confidences: k slopes and the intercept."""
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise _no_sklearn() from error
    k, j = counts.right.sum(), counts.wrong.sum()
    towards_right = counts.right * (k + 1) / (k + 2) + counts.wrong / (j + 2)
    towards_wrong = counts.right + counts.wrong - towards_right
    mean = features.mean(axis=0) if with_intercept else np.zeros(features.shape[1])
    scale = np.sqrt(((features - mean) ** 2).mean(axis=0))
    model = LogisticRegression(
        C=WEAK_PENALTY, solver="newton-cholesky", tol=1e-10, max_iter=1000, fit_intercept=with_intercept
    )
    model.fit(
        np.tile((features - mean) / scale, (2, 1)),
        np.repeat((1, 0), len(features)),
        sample_weight=np.concatenate((towards_right, towards_wrong)),
    )
    slopes: Floats = model.coef_[0] / scale
    return slopes, float(np.ravel(model.intercept_)[0] - slopes @ mean)


def _fit_isotonic(counts: Counts) -> Map | None:
    try:
        from sklearn.isotonic import IsotonicRegression
    except ImportError as error:
        raise _no_sklearn() from error
    n = counts.right + counts.wrong
    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    model.fit(counts.confidence, counts.right / n, sample_weight=n)
    found = IsotonicMap(x=model.X_thresholds_, y=model.y_thresholds_)
    return None if found.is_constant else found


METHODS: dict[str, Method] = {
    "platt": Method(
        name="Platt scaling",
        source="Platt, 1999, on the logit of the confidence",
        fit=partial(_fit_sigmoid, free=False, with_intercept=True),
    ),
    "isotonic": Method(name="isotonic regression", source="Zadrozny and Elkan, 2002", fit=_fit_isotonic),
    "beta": Method(
        name="beta calibration",
        source="Kull, Silva Filho and Flach, 2017",
        fit=partial(_fit_sigmoid, free=True, with_intercept=True),
    ),
    "temperature": Method(
        name="temperature scaling",
        source="Guo et al., 2017, on the logit of the confidence",
        fit=partial(_fit_sigmoid, free=False, with_intercept=False),
    ),
}
"""Name -> method; the names are the choices of the command line."""


def _in_range(confidence: ArrayLike) -> Floats:
    values = np.asarray(confidence, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise DataError("confidences must be one list of numbers in [0, 1]", value=values.tolist()[:3])
    return values


def _no_sklearn() -> MissingExtraError:
    return MissingExtraError(
        "scikit-learn", needed_for="recalibration", install="pip install 'honestybench[recalibrate]'"
    )
