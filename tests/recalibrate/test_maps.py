import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from honestybench.errors import DataError, MissingExtraError, UnknownNameError
from honestybench.recalibrate.maps import METHODS, SigmoidMap, fit

Floats = NDArray[np.float64]


def simulated(n: int, seed: int, slope: float = 0.5, intercept: float = -1.0) -> tuple[Floats, NDArray[np.int64]]:
    """Confidences, and labels whose logit is slope x logit(confidence) + intercept."""
    rng = np.random.default_rng(seed)
    confidence = rng.beta(0.8, 1.2, n)
    return confidence, (rng.random(n) < expit(slope * logit(confidence) + intercept)).astype(int)


def population(confidence: Floats, share_right: Floats, n: int) -> tuple[Floats, NDArray[np.int64]]:
    """n answers at each confidence, of which the given share is right."""
    right = np.round(share_right * n).astype(int)
    return np.repeat(confidence, n), np.concatenate([np.repeat((1, 0), (k, n - k)) for k in right])


def smoothed_fit(features: Floats, labels: NDArray[np.int64]) -> Floats:
    """Slopes and intercept by scipy from the definition: log loss against Platt's targets, answer by answer."""
    k, j = labels.sum(), (1 - labels).sum()
    target = np.where(labels == 1, (k + 1) / (k + 2), 1 / (j + 2))
    design = np.column_stack((features, np.ones(len(features))))

    def loss(weights: Floats) -> float:
        score = design @ weights
        return float((np.logaddexp(0, score) - target * score).mean())

    def slope(weights: Floats) -> Floats:
        return design.T @ (expit(design @ weights) - target) / len(target)

    return minimize(loss, np.zeros(design.shape[1]), jac=slope, method="BFGS", options={"gtol": 1e-9}).x


def test_platt_minimises_the_smoothed_log_loss() -> None:
    confidence, labels = simulated(150, seed=1)
    found = fit("platt", confidence, labels)
    slope, intercept = smoothed_fit(logit(confidence)[:, None], labels)
    assert isinstance(found, SigmoidMap) and found.a == found.b
    assert (found.a, found.m) == pytest.approx((slope, intercept), rel=1e-5)
    assert found(confidence) == pytest.approx(expit(slope * logit(confidence) + intercept), abs=1e-6)


def test_beta_minimises_the_smoothed_log_loss() -> None:
    confidence, labels = simulated(400, seed=2)
    found = fit("beta", confidence, labels)
    assert isinstance(found, SigmoidMap)
    expected = smoothed_fit(np.column_stack((np.log(confidence), -np.log1p(-confidence))), labels)
    assert expected[:2].min() > 0
    assert (found.a, found.b, found.m) == pytest.approx(tuple(expected), rel=1e-4)


def test_smoothing_matters_only_with_few_labels() -> None:
    confidence, labels = simulated(20_000, seed=3)
    found = fit("platt", confidence, labels)
    plain = LogisticRegression(C=np.inf, tol=1e-8).fit(logit(confidence)[:, None], labels)
    assert isinstance(found, SigmoidMap)
    assert (found.a, found.m) == pytest.approx((plain.coef_[0, 0], plain.intercept_[0]), abs=2e-3)


def test_labels_that_part_the_confidences_give_a_finite_map() -> None:
    """Unsmoothed logistic regression has no finite slope here. By symmetry m = 0; the targets are 3/4 and 1/4."""
    found = fit("platt", [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    slope, _ = smoothed_fit(logit(np.array([0.1, 0.2, 0.8, 0.9]))[:, None], np.array([0, 0, 1, 1]))
    assert isinstance(found, SigmoidMap)
    assert (found.a, found.m) == pytest.approx((slope, 0), abs=1e-5)
    assert 0.7 < found([0.9])[0] < 0.8


def test_beta_drops_a_negative_term_and_fits_again() -> None:
    """Labels follow -2 ln(1 - c) - 0.7 ln c: the free slope on ln c is negative, and the map would fall near 0."""
    rng = np.random.default_rng(4)
    confidence = rng.uniform(0.02, 0.98, 3000)
    score = -2 * np.log1p(-confidence) - 0.7 * np.log(confidence) - 2
    labels = (rng.random(3000) < expit(score)).astype(int)
    both = np.column_stack((np.log(confidence), -np.log1p(-confidence)))
    assert smoothed_fit(both, labels)[0] < 0
    found = fit("beta", confidence, labels)
    assert isinstance(found, SigmoidMap) and found.a == 0
    assert (found.b, found.m) == pytest.approx(tuple(smoothed_fit(both[:, 1:], labels)), rel=1e-5)


def test_isotonic_by_hand() -> None:
    """Pool adjacent violators on 0 1 0 0 1 1: the 1 joins the two zeros after it, (1 + 0 + 0) / 3."""
    confidence = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    found = fit("isotonic", confidence, [0, 1, 0, 0, 1, 1])
    assert found(confidence) == pytest.approx([0, 1 / 3, 1 / 3, 1 / 3, 1, 1])
    # Flat beyond the ends; on a straight line between the points.
    assert found([0, 0.15, 0.45, 1]) == pytest.approx([0, 1 / 6, 2 / 3, 1])


def test_isotonic_weighs_ties_by_their_number() -> None:
    # Three answers at .3 with one right, then one wrong answer at .6: pooled to 1 right of 4.
    found = fit("isotonic", [0.1, 0.3, 0.3, 0.3, 0.6, 0.9], [0, 1, 0, 0, 0, 1])
    assert found([0.3, 0.6]) == pytest.approx([0.25, 0.25])


@pytest.mark.parametrize("method", METHODS)
def test_calibrated_confidences_stay_as_they_are(method: str) -> None:
    grid = np.linspace(0.05, 0.95, 19)
    found = fit(method, *population(grid, grid, 10_000))
    assert found(grid) == pytest.approx(grid, abs=1e-3)
    if isinstance(found, SigmoidMap):
        assert (found.a, found.b, found.m) == pytest.approx((1, 1, 0), abs=0.01)


@pytest.mark.parametrize("temperature", [0.5, 2.5])
def test_temperature_is_recovered(temperature: float) -> None:
    scores = np.linspace(-4, 4, 33)
    found = fit("temperature", *population(expit(scores), expit(scores / temperature), 5000))
    assert isinstance(found, SigmoidMap) and found.m == 0 and found.a == found.b
    assert 1 / found.a == pytest.approx(temperature, rel=0.01)


def test_a_bound_stands_near_the_nearest_confidence() -> None:
    """Half-way to .05 and to .95 would be .025; a hundredth is the most that an end is flat on."""
    found = fit("platt", *population(np.array([0, 0.05, 0.5, 0.95, 1]), np.array([0.1, 0.2, 0.5, 0.7, 0.8]), 100))
    assert isinstance(found, SigmoidMap) and (found.low, found.high) == (0.01, 0.99)
    tiny = fit("platt", [0, 1e-6, 0.5, 1 - 2**-20], [0, 0, 1, 1])
    assert isinstance(tiny, SigmoidMap) and (tiny.low, tiny.high) == (5e-7, 1 - 2**-21)
    assert np.ptp(tiny([0, 1e-9, 5e-7])) == 0


awkward = st.sampled_from([0.0, 1e-300, 1e-15, 1e-9, 0.05, 0.1, 0.5, 0.95, 1 - 1e-15, 1.0])
labelled = st.lists(st.tuples(awkward | st.floats(0, 1), st.booleans()), min_size=1, max_size=30)


@settings(deadline=None, max_examples=150)
@given(labelled)
def test_every_map_rises_inside_0_to_1_and_ignores_order(pairs: list[tuple[float, bool]]) -> None:
    confidence, correct = np.array([c for c, _ in pairs]), np.array([int(label) for _, label in pairs])
    grid = np.unique(np.concatenate((confidence, np.linspace(0, 1, 101), 10.0 ** np.arange(-20, 0))))
    for method in METHODS:
        found = fit(method, confidence, correct)
        mapped = found(grid)
        assert mapped.dtype == np.float64
        assert mapped.min() >= 0 and mapped.max() <= 1
        # Beyond rounding; NaN would fail this too.
        assert (np.diff(mapped) >= -1e-9).all()
        backwards = fit(method, confidence[::-1], correct[::-1])
        assert backwards(grid).tobytes() == mapped.tobytes()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("confidence", "correct", "expected"),
    [
        ([0.1, 0.5, 0.9], [1, 1, 1], 4 / 5),
        ([0.1, 0.5, 0.9], [0, 0, 0], 1 / 5),
        ([0.7], [1], 2 / 3),
        ([0.4, 0.4, 0.4], [1, 0, 0], 2 / 5),
        ([0.0, 0.0, 1e-13], [1, 0, 0], 2 / 5),
        # The labels rank these the wrong way round: the best map that does not fall is flat.
        ([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0], 3 / 6),
        ([0.6, 0.7, 0.8, 0.9], [1, 0, 0, 0], 2 / 6),
    ],
)
def test_without_a_rising_map_laplaces_rule_holds(
    method: str, confidence: list[float], correct: list[int], expected: float
) -> None:
    found = fit(method, confidence, correct)
    assert found.is_constant
    assert found([0, 0.3, 1]) == pytest.approx([expected] * 3, rel=1e-12)


@pytest.mark.parametrize(
    ("confidence", "correct", "told"),
    [
        ([], [], "0 confidences, 0 labels"),
        ([0.5, 0.6], [1], "2 confidences, 1 labels"),
        ([0.5, 0.6], [1, 2], "one label, 0 or 1"),
        ([0.5, 1.1], [1, 0], r"\[0, 1\]"),
        ([0.5, float("nan")], [1, 0], r"\[0, 1\]"),
    ],
)
def test_bad_input_is_refused(confidence: list[float], correct: list[int], told: str) -> None:
    with pytest.raises(DataError, match=told):
        fit("platt", confidence, correct)


def test_a_map_refuses_what_is_no_confidence() -> None:
    for method in METHODS:
        with pytest.raises(DataError):
            fit(method, [0.2, 0.8, 0.4], [0, 1, 0])([float("nan")])


def test_unknown_method_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="platt"):
        fit("plat", [0.5], [1])


@pytest.mark.parametrize(("method", "module"), [("platt", "sklearn.linear_model"), ("isotonic", "sklearn.isotonic")])
def test_without_scikit_learn_the_remedy_is_told(method: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"honestybench\[recalibrate\]"):
        fit(method, [0.2, 0.8], [0, 1])
