"""Order and batches: seeded by epoch, grouped by length so that hardly a position is padding."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

PASS_SHARE = 32
"""Starting a forward pass counts as this part of the budget's positions."""


def epoch_order(rows: Rows, seed: int, epoch: int) -> Rows:
    """Shuffle the rows for one epoch (from 0); the same for equal seed and epoch, whatever ran before."""
    return np.random.default_rng([seed, epoch]).permutation(rows)


def step_batches(order: Rows, batch_size: int) -> list[Rows]:
    """Cut an epoch's order into the batches of its optimiser steps; the last may be smaller."""
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def micro_batches(
    rows: Rows, lengths: NDArray[np.int64], token_budget: int, *, multiple_of: int = 1, shared: int = 0
) -> list[Rows]:
    """Cut a batch into passes with at most `token_budget` positions each, padding included, for the least work.

    `lengths` are those of all rows. Work is counted in positions: those of a pass, padding included, and what every
    pass costs, `shared` positions that it computes again and a share of the budget for starting it. A question longer
    than the budget gets a pass of its own. With `multiple_of` processes the number of passes is a multiple of it:
    large passes are parted, and where there are fewer questions than processes some are empty. Longest first, so
    that memory peaks at the start and not at the end.
    """
    ordered = rows[np.lexsort((rows, -lengths[rows]))]
    longest = lengths[ordered]
    each = shared + token_budget // PASS_SHARE
    least = np.zeros(len(ordered) + 1)
    first = np.zeros(len(ordered) + 1, dtype=np.int64)
    for end in range(1, len(ordered) + 1):
        # A pass from `start` to `end` computes its longest row's length for every row.
        positions = (end - np.arange(end)) * longest[:end]
        fits = positions <= token_budget
        fits[end - 1] = True
        work = np.where(fits, least[:end] + positions + each, np.inf)
        first[end] = int(work.argmin())
        least[end] = work[first[end]]
    passes: list[Rows] = []
    end = len(ordered)
    while end:
        passes.append(ordered[first[end] : end])
        end = int(first[end])
    return _even(passes[::-1], multiple_of)


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
