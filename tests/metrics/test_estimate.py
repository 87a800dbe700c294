import pytest
from scipy.stats import norm

from honestybench.errors import DataError
from honestybench.metrics.estimate import Estimate, mean_over_seeds, weighted_mean


def test_plain_interval_is_cut_at_the_bounds() -> None:
    reach = norm.ppf(0.975) * 0.1
    assert Estimate(value=0.5, variance=0.01).interval("plain") == pytest.approx((0.5 - reach, 0.5 + reach))
    assert Estimate(value=0.05, variance=0.01).interval("plain") == pytest.approx((0, 0.05 + reach))
    assert Estimate(value=0.95, variance=0.01).interval("plain") == pytest.approx((0.95 - reach, 1))


def test_no_interval_without_value_variance_or_logit() -> None:
    assert Estimate(value=None, reason="no answers").interval("plain") is None
    assert Estimate(value=0.5).interval("logit") is None
    assert Estimate(value=0.5, variance=0.0).interval("logit") is None
    assert Estimate(value=1.0, variance=0.1).interval("logit") is None


def test_weighted_mean_by_hand() -> None:
    # Shares 1/4 and 3/4: .25 * .4 + .75 * .8 = .7; variance .0625 * .16 + .5625 * .04 = .0325.
    mean = weighted_mean([Estimate(value=0.4, variance=0.16), Estimate(value=0.8, variance=0.04)], [10, 30])
    assert (mean.value, mean.variance) == pytest.approx((0.7, 0.0325))
    assert weighted_mean([Estimate(value=0.4, variance=0.16), Estimate(value=0.8)], [1, 1]).variance is None


def test_an_undefined_value_is_never_averaged() -> None:
    with pytest.raises(DataError, match="undefined"):
        weighted_mean([Estimate(value=None, reason="all wrong"), Estimate(value=1.0)], [1, 1])


def test_seeds_share_their_answers() -> None:
    mean = mean_over_seeds([Estimate(value=0.4, variance=0.01), Estimate(value=0.6, variance=0.03)])
    assert (mean.value, mean.variance) == pytest.approx((0.5, 0.02))
    undefined = Estimate(value=None, reason="all wrong")
    assert mean_over_seeds([Estimate(value=0.4), undefined]) == undefined
