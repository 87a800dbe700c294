from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestybench.errors import UsageError
from honestybench.subsets import LABEL_GRID, carve, label_order, label_subset

sizes = st.dictionaries(st.sampled_from("abcde"), st.integers(1, 60), min_size=1)


def pool(counts: dict[str, int]) -> dict[str, str]:
    return {f"{source}-train-{number}": source for source, count in counts.items() for number in range(count)}


@given(sizes, st.integers(0, 9), st.data())
def test_each_beginning_is_stratified(counts: dict[str, int], seed: int, data: st.DataObject) -> None:
    sources = pool(counts)
    n = data.draw(st.integers(1, len(sources)))
    order = label_order(sources, seed)
    assert sorted(order) == sorted(sources)
    taken = Counter(sources[example_id] for example_id in label_subset(order, n))
    for source, count in counts.items():
        assert abs(taken[source] - n * count / len(sources)) <= 1 + 1e-9 or len(counts) > 2
        # With many sources the shares are rounded one after another: off by less than one for each.
        assert abs(taken[source] - n * count / len(sources)) < len(counts)


@given(sizes, st.integers(0, 9))
def test_order_depends_on_the_seed_and_the_ids_alone(counts: dict[str, int], seed: int) -> None:
    sources = pool(counts)
    backwards = dict(reversed(sources.items()))
    assert label_order(sources, seed) == label_order(backwards, seed)


def test_another_seed_gives_another_order() -> None:
    sources = pool({"a": 50})
    assert label_order(sources, 0) != label_order(sources, 1)


@given(st.integers(0, 200))
def test_selection_is_a_fifth_and_nested(n: int) -> None:
    order = [str(number) for number in range(200)]
    fit, selection = carve(order[:n])
    assert sorted(fit + selection) == sorted(order[:n])
    assert len(selection) == n // 5
    assert set(selection) <= set(carve(order)[1])


@pytest.mark.parametrize("n", [0, -1, 4])
def test_too_many_or_no_labels_are_refused(n: int) -> None:
    with pytest.raises(UsageError, match="use 1 to 3"):
        label_subset(["x", "y", "z"], n)


def test_grid_grows() -> None:
    assert list(LABEL_GRID) == sorted(set(LABEL_GRID))
