"""The head's start against closed forms written out in numpy."""

import numpy as np
import pytest
import torch

from honestybench.elical.estimator import ConfidenceHead
from honestybench.elical.head_start import ALPHAS, ridge_start, standardise


def known(n: int = 60, size: int = 4) -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(0)
    features = (chance.normal(size=(n, size)) * [1, 5, 0.1, 2] + [0, 10, 3, -4]).astype(np.float32)
    targets = np.clip(0.5 + 0.2 * (features[:, 0] - 0) + 0.1 * chance.normal(size=n), 0, 1)
    return features, targets


def test_features_get_mean_0_and_spread_1() -> None:
    features, _ = known()
    features[:, 3] = 7.0
    head = ConfidenceHead(4)
    standardise(head, features)
    standard = (features - head.mean.numpy()) / head.scale.numpy()
    assert standard.mean(0) == pytest.approx([0, 0, 0, 0], abs=1e-5)
    assert standard.std(0) == pytest.approx([1, 1, 1, 0], abs=1e-5)
    assert head.scale[3] == 1


def test_the_ridge_is_the_one_of_least_leave_one_out_error() -> None:
    features, targets = known()
    head = ConfidenceHead(4)
    standardise(head, features)
    ridge_start(head, features, targets)
    x = (features - features.mean(0, dtype=float)) / features.std(0, dtype=float)
    y = targets - targets.mean()
    best = (np.inf, np.zeros(4))
    for alpha in ALPHAS:
        inverse = np.linalg.inv(x.T @ x + alpha * np.eye(4))
        # The unpenalised intercept adds 1/n to each leverage.
        leverage = np.einsum("ij,jk,ik->i", x, inverse, x) + 1 / len(x)
        weights = inverse @ x.T @ y
        error = float(np.mean(((y - x @ weights) / (1 - leverage)) ** 2))
        best = min(best, (error, weights), key=lambda pair: pair[0])
    m = targets.mean()
    assert head.weight.tolist() == pytest.approx((best[1] / (m * (1 - m))).tolist(), abs=1e-4)
    assert head.bias.item() == pytest.approx(np.log(m / (1 - m)), abs=1e-5)


def test_the_confidence_meets_the_ridge_around_the_mean() -> None:
    features, targets = known()
    head = ConfidenceHead(4)
    standardise(head, features)
    ridge_start(head, features, targets)
    with torch.no_grad():
        middle = torch.sigmoid(head(torch.from_numpy(features.mean(0)))).item()
        first = torch.sigmoid(head(torch.from_numpy(features))).numpy()
    assert middle == pytest.approx(targets.mean(), abs=1e-5)
    assert np.corrcoef(first, targets)[0, 1] > 0.8


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_targets_that_are_all_equal_leave_the_head_finite(value: float) -> None:
    features, targets = known()
    head = ConfidenceHead(4)
    standardise(head, features)
    ridge_start(head, features, np.full_like(targets, value))
    assert torch.isfinite(head.weight).all() and torch.isfinite(head.bias)
    with torch.no_grad():
        found = torch.sigmoid(head(torch.from_numpy(features))).numpy()
    # The mean is taken for .01 or .99 at the least.
    assert np.abs(found - value).max() < 0.05
