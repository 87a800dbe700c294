import sys
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from honestybench.errors import DataError, MissingExtraError
from honestybench.metrics.risk_control import threshold_at_risk


def tail(errors: int, n: int, risk: float) -> float:
    """P(at most so many errors) from the definition."""
    return sum(comb(n, k) * risk**k * (1 - risk) ** (n - k) for k in range(errors + 1))


def test_by_hand() -> None:
    """Risk .5, delta .1. With half the errors, floor(n / 4), 4 answers would not pass (P(<= 1) = 5/16), nor 6 (7/64),
    but 7 do (8/128), and these are in the upper half of 14: there it starts. One error of 7 passes; 2 of 8 fail
    (37/256) and end it, though 2 of 10 would pass again.
    """
    assert (tail(1, 4, 0.5), tail(1, 6, 0.5), tail(1, 7, 0.5)) == (5 / 16, 7 / 64, 8 / 128)
    assert tail(2, 8, 0.5) == 37 / 256 and tail(2, 10, 0.5) < 0.1
    confidence = [0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0]
    correct = [1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0]
    found = threshold_at_risk(confidence, correct, 0.5)
    assert (found.threshold, found.n_selected, found.coverage) == (0.65, 7, 0.5)
    assert found.empirical_risk == pytest.approx(1 / 7)
    # The bound is the rate at which 1 error or fewer in 7 has probability delta.
    assert found.upper_bound is not None and tail(1, 7, found.upper_bound) == pytest.approx(0.1)
    assert found.reason is None


def test_few_answers_start_where_none_may_err() -> None:
    """At risk .1, .9^22 = .098 is the first power below .1; half the errors, 1 of 22, would not do (.339)."""
    confidence = np.linspace(0.99, 0.5, 25)
    assert threshold_at_risk(confidence, [1] * 25, 0.1).threshold == 0.5
    found = threshold_at_risk(confidence, [1] * 21 + [0] * 4, 0.1)
    assert (found.threshold, found.reason) == (
        None,
        "1 errors among the 22 most confident answers do not certify a risk of 0.1",
    )
    few = threshold_at_risk(confidence[:21], [1] * 21, 0.1)
    assert (few.threshold, few.reason) == (None, "21 answers cannot certify a risk of 0.1: it takes 22")
    assert threshold_at_risk([], [], 0.1).reason == "0 answers cannot certify a risk of 0.1: it takes 22"


def test_ties_are_taken_whole() -> None:
    confidence = [0.9] * 40 + [0.3] * 40
    found = threshold_at_risk(confidence, [1] * 40 + [0] * 40, 0.1)
    assert (found.threshold, found.n_selected) == (0.9, 40)
    shuffled = np.random.default_rng(0).permutation(80)
    assert threshold_at_risk(np.array(confidence)[shuffled], np.array([1] * 40 + [0] * 40)[shuffled], 0.1) == found


def draw(rng: np.random.Generator, n: int, levels: int | None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Answers right with probability confidence squared: over-confident, so that the cut-off must be found."""
    confidence = rng.random(n)
    if levels:
        confidence = np.ceil(confidence * levels) / levels
    return confidence, (rng.random(n) < confidence**2).astype(int)


def true_risk(threshold: float, levels: int | None) -> float:
    """The mean of 1 - c^2 over the confidences at or above the threshold."""
    if levels:
        grid = np.arange(1, levels + 1) / levels
        return float(np.mean(1 - grid[grid >= threshold] ** 2))
    return 1 - (1 - threshold**3) / 3 / (1 - threshold)


@pytest.mark.parametrize("levels", [None, 20])
@pytest.mark.parametrize(("risk", "delta"), [(0.2, 0.1), (0.3, 0.2)])
def test_the_risk_is_kept_as_often_as_promised(levels: int | None, risk: float, delta: float) -> None:
    rng = np.random.default_rng(7)
    found = [threshold_at_risk(*draw(rng, 500, levels), risk, delta) for _ in range(400)]
    certified = [each.threshold for each in found if each.threshold is not None]
    violations = sum(true_risk(threshold, levels) > risk for threshold in certified)
    # Three standard errors of a share of 400 above delta; and mostly it does certify.
    assert violations / 400 <= delta + 3 * (delta * (1 - delta) / 400) ** 0.5
    assert len(certified) > 300


def test_a_confidence_that_never_keeps_the_risk_is_rarely_certified() -> None:
    """Everybody errs with probability .25 whatever the confidence: each certificate is a violation."""
    rng = np.random.default_rng(8)
    certified = [
        threshold_at_risk(rng.random(300), (rng.random(300) < 0.75).astype(int), 0.2).threshold is not None
        for _ in range(400)
    ]
    assert sum(certified) / 400 <= 0.1 + 3 * (0.09 / 400) ** 0.5


answers = st.lists(st.tuples(st.sampled_from([k / 10 for k in range(11)]), st.booleans()), min_size=1, max_size=80)


@settings(deadline=None, max_examples=60)
@given(answers, st.sampled_from([0.1, 0.3, 0.5]), st.sampled_from([0.05, 0.2]))
def test_what_is_told_holds(pairs: list[tuple[float, bool]], risk: float, delta: float) -> None:
    confidence, correct = [c for c, _ in pairs], [int(label) for _, label in pairs]
    found = threshold_at_risk(confidence, correct, risk, delta)
    if found.threshold is None:
        assert found.reason and (found.n_selected, found.coverage) == (0, 0)
        assert (found.empirical_risk, found.upper_bound) == (None, None)
        return
    selected = [label for c, label in pairs if c >= found.threshold]
    assert found.threshold in confidence
    assert found.n_selected == len(selected)
    assert found.coverage == pytest.approx(len(selected) / len(pairs))
    assert found.empirical_risk == pytest.approx(1 - sum(selected) / len(selected))
    assert found.upper_bound is not None and found.empirical_risk <= found.upper_bound <= risk + 1e-12
    assert tail(len(selected) - sum(selected), len(selected), risk) <= delta + 1e-12


@settings(deadline=None, max_examples=60)
@given(answers, st.data())
def test_righting_an_answer_never_costs_coverage(pairs: list[tuple[float, bool]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(pairs) - 1))
    righted = [(c, label or k == place) for k, (c, label) in enumerate(pairs)]
    before, after = (
        threshold_at_risk([c for c, _ in each], [int(label) for _, label in each], 0.3, 0.2).coverage
        for each in (pairs, righted)
    )
    assert after >= before


@settings(deadline=None, max_examples=60)
@given(answers, st.floats(0.01, 0.5))
def test_only_the_order_of_the_confidences_counts(pairs: list[tuple[float, bool]], shrink: float) -> None:
    confidence, correct = np.array([c for c, _ in pairs]), [int(label) for _, label in pairs]
    assert (
        threshold_at_risk(confidence * shrink, correct, 0.3).coverage
        == threshold_at_risk(confidence, correct, 0.3).coverage
    )


@pytest.mark.parametrize("options", [{"risk": 0}, {"risk": 1}, {"risk": 0.1, "delta": 0}, {"risk": float("nan")}])
def test_a_risk_must_lie_between_0_and_1(options: dict[str, float]) -> None:
    with pytest.raises(DataError, match=r"outside \(0, 1\)"):
        threshold_at_risk([0.5], [1], **options)


def test_without_scipy_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingExtraError, match=r"honestybench\[recalibrate\]"):
        threshold_at_risk([0.5], [1], 0.1)
