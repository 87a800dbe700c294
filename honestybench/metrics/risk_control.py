"""A confidence cut-off above which the error rate is certified to stay below a chosen risk."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from honestybench.errors import DataError, MissingExtraError
from honestybench.metrics.table import ConfidenceTable, Counts, Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskThreshold:
    """A certified cut-off: trust an answer whose confidence is at least `threshold`.

    `n_selected` of the calibration answers lie there, the share `coverage` of all; `empirical_risk` is their error
    rate, `upper_bound` its exact (Clopper-Pearson) one-sided bound at level 1 - delta, at most the risk asked for.
    Where no cut-off can be certified, `reason` says why and the other fields are None (n_selected 0, coverage 0).
    """

    threshold: float | None
    n_selected: int = 0
    coverage: float = 0.0
    empirical_risk: float | None = None
    upper_bound: float | None = None
    reason: str | None = None


def threshold_at_risk(confidence: ArrayLike, correct: ArrayLike, risk: float, delta: float = 0.1) -> RiskThreshold:
    """Find the lowest cut-off at or above which the error rate is at most `risk`, with probability 1 - `delta`.

    `confidence` are n finite numbers, `correct` as many labels 0 or 1: calibration answers, drawn like those that the
    cut-off is for and used for nothing else; `risk` and `delta` lie in (0, 1). The probability is over their draw.

    Learn then Test (Angelopoulos et al., 2021) by fixed-sequence testing: cut-offs, the distinct confidences, are
    tested downwards, each against "the error rate above is over the risk" with the exact binomial tail at level
    `delta`, and the first that fails ends it; so no correction for many tests is due. Above the highest cut-offs lie
    too few answers for any of them to pass, so the sequence starts where a cut-off would pass if it had half the
    errors allowed, floor(n risk / 2) among n: where it would need to have none, one unlucky error would end it. If
    no such cut-off lies in the upper half of the answers, it starts where one would pass with no error. Neither rule
    looks at a label. The level is exact for cut-offs fixed beforehand, as with a confidence of few
    values; one that is itself an observed confidence shifts it by at most that one answer of n.

    Raises: DataError; MissingExtraError without scipy.
    """
    for name, value in (("risk", risk), ("delta", delta)):
        if not 0 < value < 1:
            raise DataError(f"the {name} lies outside (0, 1)", value=value)
    table = ConfidenceTable.of(confidence, correct)
    n, errors = np.cumsum(table.n[::-1]), np.cumsum(table.n_wrong[::-1])
    could_pass = (_tail(np.floor(n * risk / 2), n, risk) <= delta) & (n <= table.total / 2)
    if not could_pass.any():
        could_pass = _tail(np.zeros_like(n), n, risk) <= delta
    if not could_pass.any():
        needed = int(np.ceil(np.log(delta) / np.log1p(-risk)))
        return RiskThreshold(
            threshold=None, reason=f"{table.total} answers cannot certify a risk of {risk:g}: it takes {needed}"
        )
    start = int(could_pass.argmax())
    passed = _tail(errors[start:], n[start:], risk) <= delta
    if not passed[0]:
        told = f"{errors[start]} errors among the {n[start]} most confident answers"
        return RiskThreshold(threshold=None, reason=f"{told} do not certify a risk of {risk:g}")
    last = start + (passed.size if passed.all() else int(passed.argmin())) - 1
    return RiskThreshold(
        threshold=float(table.confidence[::-1][last]),
        n_selected=int(n[last]),
        coverage=float(n[last] / table.total),
        empirical_risk=float(errors[last] / n[last]),
        upper_bound=_upper_bound(int(errors[last]), int(n[last]), delta),
    )


def _tail(errors: Counts | Floats, n: Counts, risk: float) -> Floats:
    """Compute the probability of at most so many errors among n answers that each err with probability `risk`."""
    try:
        from scipy.stats import binom
    except ImportError as error:
        raise _no_scipy() from error
    return np.asarray(binom.cdf(errors, n, risk), dtype=np.float64)


def _upper_bound(errors: int, n: int, delta: float) -> float:
    """Compute the error rate at which so few errors have probability `delta`; 1 where all are errors."""
    try:
        from scipy.stats import beta
    except ImportError as error:
        raise _no_scipy() from error
    return float(beta.ppf(1 - delta, errors + 1, n - errors)) if errors < n else 1.0


def _no_scipy() -> MissingExtraError:
    return MissingExtraError(
        "scipy", needed_for="a risk-controlled threshold", install="pip install 'honestybench[recalibrate]'"
    )
