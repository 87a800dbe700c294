import sys
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from honestybench.elical.probe import LOGISTIC_CS, RIDGE_ALPHAS, Probe, logistic_probe, ridge_probe
from honestybench.errors import DataError, MissingExtraError

DIMENSIONS = 12


def drawn(n: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.int64]]:
    """Features on very different scales, the chance of a right answer (one in five), and the label."""
    rng = np.random.default_rng(seed)
    plain = rng.normal(size=(n, DIMENSIONS))
    chance = expit(1.5 * plain[:, 0] - 1.0 * plain[:, 1] - 2)
    features = plain * np.logspace(-2, 3, DIMENSIONS) + 5
    return features.astype(np.float32), chance, (rng.random(n) < chance).astype(int)


TRAIN, TRAIN_CHANCE, TRAIN_LABELS = drawn(300, 0)
HELD_OUT, HELD_OUT_CHANCE, HELD_OUT_LABELS = drawn(2000, 1)


@cache
def fitted(fit: Callable[..., Probe]) -> Probe:
    return fit(TRAIN, TRAIN_LABELS)


def sampled_accuracy(chance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.random.default_rng(2).binomial(20, chance) / 20


def test_ridge_ranks_as_the_pipeline_of_scikit_learn() -> None:
    targets = sampled_accuracy(TRAIN_CHANCE)
    expected = make_pipeline(StandardScaler(), RidgeCV(alphas=RIDGE_ALPHAS)).fit(TRAIN.astype(float), targets)
    probe = ridge_probe(TRAIN, targets)
    linear = np.log(probe.predict(HELD_OUT)) - np.log1p(-probe.predict(HELD_OUT))
    score = expected.predict(HELD_OUT.astype(float))
    # One rising straight line of the other, so equal ranks.
    assert np.corrcoef(linear, score)[0, 1] == pytest.approx(1, abs=1e-9)
    assert roc_auc_score(HELD_OUT_LABELS, probe.predict(HELD_OUT)) == pytest.approx(
        roc_auc_score(HELD_OUT_LABELS, score)
    )


def test_logistic_has_the_penalty_of_least_held_out_log_loss() -> None:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    standard = StandardScaler().fit(TRAIN.astype(float))
    rows = standard.transform(TRAIN.astype(float))

    def held_out_loss(strength: float) -> float:
        model = LogisticRegression(C=strength, max_iter=1000)
        # Five folds of equal size: the mean over them is that over all answers.
        return log_loss(TRAIN_LABELS, cross_val_predict(model, rows, TRAIN_LABELS, cv=folds, method="predict_proba"))

    best = min(LOGISTIC_CS, key=held_out_loss)
    assert LOGISTIC_CS[0] < best < LOGISTIC_CS[-1]
    expected = LogisticRegression(C=best, max_iter=1000).fit(rows, TRAIN_LABELS)
    found = fitted(logistic_probe).predict(HELD_OUT)
    assert found == pytest.approx(expected.predict_proba(standard.transform(HELD_OUT.astype(float)))[:, 1], abs=1e-4)


@pytest.mark.parametrize("kind", ["ridge", "logistic"])
def test_probes_find_the_signal_in_held_out_answers(kind: str) -> None:
    fit = {"ridge": ridge_probe, "logistic": logistic_probe}[kind]
    probe = fitted(fit)
    assert probe.kind == kind
    confidence = probe.predict(HELD_OUT)
    assert confidence.dtype == np.float64 and 0 <= confidence.min() <= confidence.max() <= 1
    # The true chances reach about .85; the base rate's log loss is what a constant gets.
    assert roc_auc_score(HELD_OUT_LABELS, HELD_OUT_CHANCE) > 0.84
    assert roc_auc_score(HELD_OUT_LABELS, confidence) > 0.75
    base = np.full(HELD_OUT_LABELS.size, HELD_OUT_LABELS.mean())
    assert log_loss(HELD_OUT_LABELS, confidence) < 0.95 * log_loss(HELD_OUT_LABELS, base)


def test_ridge_is_calibrated_on_average() -> None:
    probe = ridge_probe(TRAIN, sampled_accuracy(TRAIN_CHANCE))
    assert probe.predict(HELD_OUT).mean() == pytest.approx(HELD_OUT_CHANCE.mean(), abs=0.02)
    # No confidence was cut off at a bound.
    assert np.unique(probe.predict(HELD_OUT)).size == len(HELD_OUT)


@pytest.mark.parametrize("fit", [ridge_probe, logistic_probe])
def test_noise_gives_hardly_more_than_the_base_rate(fit: Callable[..., Probe]) -> None:
    features = np.random.default_rng(3).normal(size=(100, 60)).astype(np.float32)
    labels = (np.arange(100) % 10 == 0).astype(int)
    confidence = fit(features, labels).predict(np.random.default_rng(4).normal(size=(200, 60)))
    assert confidence.mean() == pytest.approx(0.1, abs=0.06)
    assert confidence.std() < 0.1


@pytest.mark.parametrize("fit", [ridge_probe, logistic_probe])
@pytest.mark.parametrize(
    ("labels", "expected"),
    [([1] * 8, 9 / 10), ([0] * 8, 1 / 10), ([1], 2 / 3), ([0], 1 / 3)],
)
def test_labels_of_one_class_give_laplaces_rule(fit: Callable[..., Probe], labels: list[int], expected: float) -> None:
    probe = fit(TRAIN[: len(labels)], labels)
    assert probe.kind == "constant"
    assert probe.predict(HELD_OUT[:3]) == pytest.approx([expected] * 3)


def test_one_answer_of_a_class_or_too_few_rows_give_a_constant() -> None:
    assert logistic_probe(TRAIN[:8], [1] + [0] * 7).predict(HELD_OUT[:1]) == pytest.approx([0.2])
    assert ridge_probe(TRAIN[:4], [0.0, 0.5, 0.5, 1.0]).predict(HELD_OUT[:1]) == pytest.approx([0.5])
    assert logistic_probe(TRAIN[:8], [1, 1] + [0] * 6).kind == "logistic"


def test_features_that_never_change_are_harmless() -> None:
    still = np.concatenate((TRAIN, np.full((len(TRAIN), 2), 0.1, np.float32)), axis=1)
    for fit in (ridge_probe, logistic_probe):
        found = fit(still, TRAIN_LABELS).predict(np.concatenate((HELD_OUT, np.full((len(HELD_OUT), 2), 0.1)), axis=1))
        assert found == pytest.approx(fitted(fit).predict(HELD_OUT), abs=1e-4)
    alone = ridge_probe(still[:, -2:], TRAIN_LABELS)
    assert alone.kind == "constant" and np.isfinite(alone.predict(still[:, -2:])).all()


def test_equal_input_gives_equal_probes_and_a_row_stands_alone() -> None:
    for fit in (ridge_probe, logistic_probe):
        first, second = fitted(fit), fit(TRAIN, TRAIN_LABELS)
        assert (first.weight.tobytes(), first.bias) == (second.weight.tobytes(), second.bias)
        assert first.predict(HELD_OUT[5:6])[0] == pytest.approx(first.predict(HELD_OUT)[5], abs=1e-12)


@pytest.mark.parametrize(
    ("features", "target", "told"),
    [
        (TRAIN[:5], [1, 0], "a target for each"),
        (TRAIN[:0], [], "at least one row"),
        (TRAIN[0], [1], r"shape \(n, d\)"),
        (np.where(np.arange(DIMENSIONS) == 3, np.nan, TRAIN[:6]), [1, 0, 1, 0, 1, 0], "row 0: a feature is not finite"),
        (TRAIN[:2], [1, 1.5], "outside"),
        (TRAIN[:2], [1, float("nan")], "outside"),
    ],
)
@pytest.mark.parametrize("fit", [ridge_probe, logistic_probe])
def test_bad_input_is_refused(
    fit: Callable[..., Probe], features: NDArray[np.float32], target: list[float], told: str
) -> None:
    with pytest.raises(DataError, match=told):
        fit(features, target)


def test_logistic_needs_labels_and_prediction_the_same_features() -> None:
    with pytest.raises(DataError, match="neither 0 nor 1"):
        logistic_probe(TRAIN[:2], [1, 0.5])
    probe = Probe(mean=np.zeros(2), scale=np.ones(2), weight=np.array([1.0, -1.0]), bias=0.5, kind="ridge")
    assert probe.predict(np.array([[1.0, 1.0], [800.0, -800.0]])) == pytest.approx([expit(0.5), 1])
    with pytest.raises(DataError, match=r"\(n, 2\)"):
        probe.predict(TRAIN[:2])


@pytest.mark.parametrize("fit", [ridge_probe, logistic_probe])
def test_without_scikit_learn_the_remedy_is_told(fit: Callable[..., Probe], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(MissingExtraError, match="honestybench"):
        fit(TRAIN, TRAIN_LABELS)
