"""A measured number with its variance, how intervals follow from it, and how estimates are averaged."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from honestybench.errors import DataError

Scale = Literal["logit", "plain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value with its sampling variance. A value of None has a `reason`; a variance of None is unknown."""

    value: float | None
    variance: float | None = None
    reason: str | None = None

    def interval(self, scale: Scale, level: float = 0.95) -> tuple[float, float] | None:
        """Compute a two-sided normal interval of a value in [0, 1].

        On the scale "logit" its bounds stay inside (0, 1) and cover better than the plain ones in small
        samples; "plain" bounds are cut at 0 and 1. None where the variance is unknown or zero, or where
        the value has no logit. Raises: DataError for a level outside (0, 1).
        """
        if not 0 < level < 1:
            raise DataError("a confidence level lies outside (0, 1)", value=level)
        if self.value is None or not self.variance:
            return None
        reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(self.variance)
        if scale == "plain":
            return max(0.0, self.value - reach), min(1.0, self.value + reach)
        if not 0 < self.value < 1:
            return None
        centre = math.log(self.value / (1 - self.value))
        # Delta method: the derivative of the logit is 1 / (a (1 - a)).
        reach /= self.value * (1 - self.value)
        return 1 / (1 + math.exp(reach - centre)), 1 / (1 + math.exp(-reach - centre))


def weighted_mean(estimates: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """Average defined estimates from independent answers; the weights are fixed and need not sum to 1.

    The variance is known when every one is.
    """
    total = sum(weights)
    shares = [weight / total for weight in weights]
    value = sum(share * _defined(estimate) for share, estimate in zip(shares, estimates, strict=True))
    variances = [estimate.variance for estimate in estimates]
    known = [variance for variance in variances if variance is not None]
    whole = len(known) == len(variances)
    spread = sum(share**2 * variance for share, variance in zip(shares, known, strict=True)) if whole else None
    return Estimate(value=value, variance=spread)


def mean_over_seeds(estimates: Sequence[Estimate]) -> Estimate:
    """Average one metric over seeds that answered for the same answers.

    The variance is the mean of theirs: the variance of the mean, were the seeds to move together, and
    an upper bound of it otherwise. Undefined with the first reason when one is undefined.
    """
    for estimate in estimates:
        if estimate.value is None:
            return estimate
    variances = [estimate.variance for estimate in estimates if estimate.variance is not None]
    return Estimate(
        value=sum(_defined(estimate) for estimate in estimates) / len(estimates),
        variance=sum(variances) / len(variances) if len(variances) == len(estimates) else None,
    )


def _defined(estimate: Estimate) -> float:
    if estimate.value is None:
        raise DataError("an undefined value cannot be averaged", value=estimate.reason)
    return estimate.value
