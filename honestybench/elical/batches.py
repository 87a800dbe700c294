"""Order and batches: seeded by epoch, grouped by length so that hardly a position is padding."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def epoch_order(rows: Rows, seed: int, epoch: int) -> Rows:
    """Shuffle the rows for one epoch (from 0); the same for equal seed and epoch, whatever ran before."""
    return np.random.default_rng([seed, epoch]).permutation(rows)


def step_batches(order: Rows, batch_size: int) -> list[Rows]:
    """Cut an epoch's order into the batches of its optimiser steps; the last may be smaller."""
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def micro_batches(rows: Rows, lengths: NDArray[np.int64], token_budget: int, multiple_of: int = 1) -> list[Rows]:
    """Cut a batch into passes of similar length with at most `token_budget` positions each, padding included.

    `lengths` are those of all rows. A question longer than the budget gets a pass of its own. With `multiple_of`
    processes the number of passes is a multiple of it: large passes are parted, and where there are fewer questions
    than processes some passes are empty. Longest first, so that memory peaks at the start and not at the end.
    """
    ordered = rows[np.lexsort((rows, -lengths[rows]))]
    passes: list[Rows] = []
    start = 0
    while start < len(ordered):
        size = max(1, token_budget // max(1, int(lengths[ordered[start]])))
        passes.append(ordered[start : start + size])
        start += size
    return _even(passes, multiple_of)


def _even(passes: list[Rows], multiple_of: int) -> list[Rows]:
    while len(passes) % multiple_of:
        largest = max(range(len(passes)), key=lambda place: len(passes[place]))
        if len(passes[largest]) < 2:
            passes.append(passes[0][:0])
            continue
        half = (len(passes[largest]) + 1) // 2
        passes[largest : largest + 1] = [passes[largest][:half], passes[largest][half:]]
    return passes


def padding_share(passes: Sequence[Rows], lengths: NDArray[np.int64]) -> float:
    """Compute the share of positions that are padding, in [0, 1)."""
    filled = [part for part in passes if len(part)]
    positions = sum(len(part) * int(lengths[part].max()) for part in filled)
    return 1 - sum(int(lengths[part].sum()) for part in filled) / positions if positions else 0.0
