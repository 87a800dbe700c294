"""Linear probes on given features: the controls that a trained model must beat with the same labels."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from honestybench.errors import DataError, MissingExtraError

Features = NDArray[np.float32] | NDArray[np.float64]
Floats = NDArray[np.float64]

MAX_FOLDS = 5
FOLD_SEED = 0
RIDGE_ALPHAS = np.logspace(-1, 7, 17)
"""Ridge penalties on standardised features, in half decades: from nearly none to nearly the mean alone."""
LOGISTIC_CS = np.logspace(-6, 1, 8)
"""Inverse logistic penalties on standardised features, in decades: each costs a fit for every fold."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Probe:
    """A linear score of d standardised features, through a sigmoid: a confidence, higher for more likely right.

    `mean`, `scale` (of the training features; 1 where a feature never changes) and `weight` have shape (d,).
    """

    mean: Floats
    scale: Floats
    weight: Floats
    bias: float
    kind: Literal["ridge", "logistic", "constant"]

    def predict(self, features: Features) -> Floats:
        """Compute the confidence of each row of features (n, d): n numbers in [0, 1]. Raises: DataError."""
        score = (_checked(features, self.mean.size) - self.mean) / self.scale @ self.weight + self.bias
        small = np.exp(-np.abs(score))
        confidence: Floats = np.where(score >= 0, 1, small) / (1 + small)
        return confidence


def ridge_probe(features: Features, target: ArrayLike) -> Probe:
    """Fit a ridge regression of targets in [0, 1], n of them, on features (n, d), and calibrate its score.

    Features are standardised; the penalty is the one of RIDGE_ALPHAS with the least leave-one-out squared error
    (scikit-learn's RidgeCV). A score of ridge may leave [0, 1]. Cutting it there would make ties, and cost AUROC, so
    a sigmoid is fitted to out-of-fold scores: logistic regression, scikit-learn's default penalty, on the one
    standardised score, each target a share of a right and of a wrong answer. It keeps the ranking, and scores that a
    fit saw in training would look surer than they are. Where it would fall (out of fold, the score ranks no better
    than chance), or with equal targets or fewer than MAX_FOLDS rows, the probe is the constant (sum of targets + 1) /
    (n + 2). Raises: DataError; MissingExtraError without scikit-learn.
    """
    rows, targets = _training_set(features, target)
    if len(rows) < MAX_FOLDS or np.ptp(targets) == 0:
        return _constant(rows, targets)
    try:
        from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
        from sklearn.model_selection import KFold, cross_val_predict
    except ImportError as error:
        raise _no_sklearn() from error
    mean, scale = _standardisation(rows)
    standard = (rows - mean) / scale
    ridge = RidgeCV(alphas=RIDGE_ALPHAS).fit(standard, targets)
    folds = KFold(MAX_FOLDS, shuffle=True, random_state=FOLD_SEED)
    unseen = cross_val_predict(Ridge(alpha=ridge.alpha_), standard, targets, cv=folds)
    centre, spread = unseen.mean(), unseen.std()
    if spread == 0:
        return _constant(rows, targets)
    link = LogisticRegression(tol=1e-8).fit(
        np.tile((unseen - centre) / spread, 2)[:, None],
        np.repeat((1, 0), len(targets)),
        sample_weight=np.concatenate((targets, 1 - targets)),
    )
    slope = float(link.coef_[0, 0]) / spread
    if slope <= 0:
        return _constant(rows, targets)
    bias = slope * (float(ridge.intercept_) - centre) + float(link.intercept_[0])
    return Probe(mean=mean, scale=scale, weight=slope * ridge.coef_.astype(np.float64), bias=bias, kind="ridge")


def logistic_probe(features: Features, correct: ArrayLike) -> Probe:
    """Fit a logistic regression of n labels, 0 or 1, on features (n, d).

    Features are standardised; the penalty is the one of LOGISTIC_CS with the least log loss over stratified folds
    (scikit-learn's GridSearchCV): MAX_FOLDS of them, or as many as the rarer class has answers. With fewer
    than two answers of a class the probe is the constant (k + 1) / (n + 2) for k right of n: Laplace's rule.
    Raises: DataError; MissingExtraError without scikit-learn.
    """
    rows, labels = _training_set(features, correct)
    if not np.isin(labels, (0, 1)).all():
        raise DataError("a label is neither 0 nor 1", value=float(labels[~np.isin(labels, (0, 1))][0]))
    n_folds = min(MAX_FOLDS, int(labels.sum()), int((1 - labels).sum()))
    if n_folds < 2:
        return _constant(rows, labels)
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV, StratifiedKFold
    except ImportError as error:
        raise _no_sklearn() from error
    mean, scale = _standardisation(rows)
    # LogisticRegressionCV does the same, but what it must be told changes from version to version.
    search = GridSearchCV(
        LogisticRegression(max_iter=1000),
        {"C": LOGISTIC_CS},
        cv=StratifiedKFold(n_folds, shuffle=True, random_state=FOLD_SEED),
        scoring="neg_log_loss",
    )
    model = search.fit((rows - mean) / scale, labels.astype(np.int64)).best_estimator_
    return Probe(
        mean=mean,
        scale=scale,
        weight=model.coef_[0].astype(np.float64),
        bias=float(model.intercept_[0]),
        kind="logistic",
    )


def _constant(rows: Floats, targets: Floats) -> Probe:
    mean, scale = _standardisation(rows)
    right, wrong = float(targets.sum()), float((1 - targets).sum())
    bias = float(np.log((right + 1) / (wrong + 1)))
    return Probe(mean=mean, scale=scale, weight=np.zeros_like(mean), bias=bias, kind="constant")


def _standardisation(rows: Floats) -> tuple[Floats, Floats]:
    scale = rows.std(axis=0)
    # A feature that never changes has, by rounding, a tiny deviation or none.
    mean: Floats = rows.mean(axis=0)
    return mean, np.where(scale > 1e-9 * np.abs(mean), scale, 1.0)


def _training_set(features: Features, target: ArrayLike) -> tuple[Floats, Floats]:
    rows, targets = _checked(features), np.asarray(target, dtype=np.float64)
    if targets.shape != (len(rows),) or not targets.size:
        raise DataError("a probe needs at least one row, and a target for each", value=(rows.shape, targets.shape))
    if not ((targets >= 0) & (targets <= 1)).all():
        raise DataError("a target lies outside [0, 1]", value=float(targets[~((targets >= 0) & (targets <= 1))][0]))
    return rows, targets


def _checked(features: Features, width: int | None = None) -> Floats:
    rows = np.asarray(features, dtype=np.float64)
    if rows.ndim != 2 or (width is not None and rows.shape[1] != width):
        raise DataError(f"features must have the shape (n, {width or 'd'})", value=rows.shape)
    if not np.isfinite(rows).all():
        raise DataError("a feature is not finite", where=f"row {np.flatnonzero(~np.isfinite(rows).all(axis=1))[0]}")
    return rows


def _no_sklearn() -> MissingExtraError:
    return MissingExtraError("scikit-learn", needed_for="a probe", install="pip install 'honestybench[elical]'")
