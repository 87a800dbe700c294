import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestybench.elical.batches import epoch_order, micro_batches, padding_share, step_batches

lengths = st.lists(st.integers(1, 60), min_size=1, max_size=80).map(lambda found: np.array(found, dtype=np.int64))


@given(lengths, st.integers(1, 200), st.integers(1, 4), st.integers(0, 100))
def test_passes_part_the_rows_within_the_budget(found, budget: int, processes: int, shared: int) -> None:
    rows = np.arange(len(found))[::2]
    passes = micro_batches(rows, found, budget, multiple_of=processes, shared=shared)
    assert sorted(np.concatenate(passes).tolist()) == rows.tolist()
    assert len(passes) % processes == 0
    for part in passes:
        assert len(part) <= 1 or len(part) * found[part].max() <= budget
    assert all(
        (part.tolist() == again.tolist())
        for part, again in zip(
            passes, micro_batches(rows[::-1], found, budget, multiple_of=processes, shared=shared), strict=True
        )
    )


@given(lengths, st.integers(1, 200), st.integers(0, 100))
def test_no_cut_of_the_sorted_rows_is_less_work(found, budget: int, shared: int) -> None:
    """Against every way to cut the first seven rows, longest first."""
    found = np.sort(found[:7])[::-1]

    def work(passes: list[list[int]]) -> float:
        return sum(len(part) * max(part) + shared + budget // 32 for part in passes)

    ways = []
    for cuts in range(1 << (len(found) - 1)):
        parts: list[list[int]] = [[int(found[0])]]
        for place, length in enumerate(found[1:]):
            if cuts >> place & 1:
                parts.append([])
            parts[-1].append(int(length))
        if all(len(part) == 1 or len(part) * part[0] <= budget for part in parts):
            ways.append(work(parts))
    passes = micro_batches(np.arange(len(found)), found, budget, shared=shared)
    assert work([found[part].tolist() for part in passes]) == min(ways)


def test_fewer_questions_than_processes_leave_empty_passes() -> None:
    passes = micro_batches(np.array([0]), np.array([5]), 100, multiple_of=3)
    assert [part.tolist() for part in passes] == [[0], [], []]


def test_padding_by_hand() -> None:
    # Two rows of 4 and 2 in one pass are 8 positions for 6 tokens; a row of 3 by itself has no padding: 2 of 11.
    found = np.array([4, 2, 3])
    assert padding_share([np.array([0, 1]), np.array([2]), np.array([], dtype=int)], found) == pytest.approx(2 / 11)


@given(st.integers(1, 50), st.integers(0, 5), st.integers(0, 5), st.integers(1, 60))
def test_an_epoch_is_a_seeded_permutation_in_steps(n: int, seed: int, epoch: int, size: int) -> None:
    rows = np.arange(100, 100 + n)
    order = epoch_order(rows, seed, epoch)
    assert sorted(order) == rows.tolist() and (order == epoch_order(rows, seed, epoch)).all()
    steps = step_batches(order, size)
    assert np.concatenate(steps).tolist() == order.tolist()
    assert all(len(step) == size for step in steps[:-1])


def test_epochs_and_seeds_differ() -> None:
    rows = np.arange(50)
    orders = {tuple(epoch_order(rows, seed, epoch)) for seed in (0, 1) for epoch in (0, 1)}
    assert len(orders) == 4
