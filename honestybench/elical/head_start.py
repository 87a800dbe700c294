"""Where the confidence head starts, from what the frozen LLM says about the questions to fit."""

import numpy as np
import torch
from numpy.typing import NDArray

from honestybench.elical.estimator import ConfidenceHead

ALPHAS = np.logspace(0, 6, 13)
"""Ridge penalties to choose from, for standardised features."""


def standardise(head: ConfidenceHead, known: NDArray[np.float32]) -> None:
    """Set the head's mean and scale to those of known features (n, H); a constant feature keeps scale 1."""
    spread = known.std(axis=0, dtype=np.float64)
    head.mean.copy_(torch.as_tensor(known.mean(axis=0, dtype=np.float64), dtype=torch.float32))
    head.scale.copy_(torch.as_tensor(np.where(spread > 0, spread, 1.0), dtype=torch.float32))


def ridge_start(head: ConfidenceHead, known: NDArray[np.float32], targets: NDArray[np.float64]) -> None:
    """Set the head's weights to the ridge solution, its strength chosen by leave-one-out, through the sigmoid.

    With m the mean target, sigmoid(logit(m) + (y - m) / (m (1 - m))) meets the ridge's y to first order around m,
    and orders as it does.
    """
    from sklearn.linear_model import RidgeCV

    standard = (known - head.mean.numpy()) / head.scale.numpy()
    ridge = RidgeCV(alphas=ALPHAS).fit(standard.astype(np.float64), targets)
    mean = float(np.clip(targets.mean(), 0.01, 0.99))
    slope = 1 / (mean * (1 - mean))
    with torch.no_grad():
        head.weight.copy_(torch.as_tensor(ridge.coef_ * slope, dtype=torch.float32))
        head.bias.copy_(torch.tensor(np.log(mean / (1 - mean)) + (ridge.intercept_ - mean) * slope))
