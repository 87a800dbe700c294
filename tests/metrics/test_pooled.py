import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestybench.metrics.discrimination import auroc, auroc_covariance, auroc_estimate, placements
from honestybench.metrics.pooled import pooled_auroc, pooled_covariance
from honestybench.metrics.table import ConfidenceTable

sources = st.lists(
    st.lists(st.tuples(st.integers(0, 5).map(lambda k: k / 5), st.integers(0, 1)), min_size=1, max_size=8), max_size=4
)


def tables(parts: list[list[tuple[float, int]]]) -> list[ConfidenceTable]:
    return [ConfidenceTable.of([c for c, _ in part], [y for _, y in part]) for part in parts]


@settings(deadline=None)
@given(sources)
def test_value_counts_the_pairs_inside_sources(parts: list[list[tuple[float, int]]]) -> None:
    won = [(c > d) + (c == d) / 2 for part in parts for c, y in part if y for d, z in part if not z]
    estimate = pooled_auroc(tables(parts))
    if won:
        assert estimate.value == pytest.approx(np.mean(won), abs=1e-12)
    else:
        assert estimate.value is None and estimate.reason


def test_one_source_is_its_auroc_with_nearly_its_variance() -> None:
    generator = np.random.default_rng(3)
    correct = generator.integers(0, 2, 400)
    confidence = generator.random(400) + correct / 2
    table = ConfidenceTable.of(confidence, correct)
    plain, pooled = auroc_estimate(table), pooled_auroc([table])
    assert pooled.value == plain.value and plain.variance is not None
    # They differ by factors n / (n - 1) of about 200 and 400 only.
    assert pooled.variance == pytest.approx(plain.variance, rel=0.01)


def test_variance_is_that_of_repeated_draws() -> None:
    """Six sources of 12 answers, few of them right: the mean estimated variance meets the observed one."""
    generator = np.random.default_rng(11)
    values, variances = [], []
    for _ in range(1500):
        drawn = []
        for accuracy in (0.1, 0.1, 0.2, 0.3, 0.4, 0.5):
            correct = (generator.random(12) < accuracy).astype(int)
            drawn.append(ConfidenceTable.of(generator.normal(correct * 0.8 + 3 * accuracy), correct))
        estimate = pooled_auroc(drawn)
        if estimate.variance is not None:
            values.append(estimate.value)
            variances.append(estimate.variance)
    assert np.mean(variances) == pytest.approx(np.var(values, ddof=1), rel=0.15)


def test_a_source_without_pairs_changes_nothing() -> None:
    parts = [[(0.2, 0), (0.6, 1), (0.4, 1), (0.5, 0)], [(0.9, 0), (0.1, 0)]]
    assert pooled_auroc(tables(parts)) == pooled_auroc(tables(parts[:1]))


@pytest.mark.parametrize(("confidence", "value"), [([0.9, 0.8, 0.1], 1), ([0.1, 0.2, 0.9], 0)])
def test_a_perfect_ranking_has_no_interval(confidence: list[float], value: float) -> None:
    estimate = pooled_auroc([ConfidenceTable.of(confidence, [1, 1, 0])])
    assert estimate.value == value and estimate.interval("logit") is None


def test_covariances_have_the_variances_as_their_diagonal() -> None:
    generator = np.random.default_rng(5)
    labels = [np.arange(size) % 3 == 0 for size in (20, 35)]
    drawn = [[generator.random(each.size) + each * shift for shift in (0.2, 0.5)] for each in labels]
    strata = [(np.array([placements(c, y) for c in both]), y) for both, y in zip(drawn, labels, strict=True)]
    estimates = [
        pooled_auroc([ConfidenceTable.of(both[k], y) for both, y in zip(drawn, labels, strict=True)]) for k in (0, 1)
    ]
    covariance = pooled_covariance(strata, [float(each.value or 0) for each in estimates])
    assert np.diag(covariance) == pytest.approx([each.variance for each in estimates], rel=1e-12)
    rows, first = strata[0]
    plain = [auroc_estimate(ConfidenceTable.of(each, first)) for each in drawn[0]]
    assert rows[:, first].mean(axis=1) == pytest.approx([auroc(each, first) for each in drawn[0]])
    assert np.diag(auroc_covariance(rows, first)) == pytest.approx([each.variance for each in plain], rel=1e-12)
