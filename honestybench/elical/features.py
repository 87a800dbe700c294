"""Compute what a frozen decoder gives once and keep it on disk: features, or what enters its top layers."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from honestybench.elical.batches import Rows, micro_batches
from honestybench.elical.estimator import Estimator
from honestybench.elical.feeds import TokenFeed
from honestybench.errors import DataError
from honestybench.progress import Meter
from honestybench.storage import refused_writes

CHUNK = 512
"""Questions between two points from which an interrupted pass goes on."""


def features(
    estimator: Estimator, feed: TokenFeed, store: Path | None, token_budget: int, meter: Meter | None = None
) -> NDArray[np.float32]:
    """Compute the last hidden state (n, H) of each prompt's last token, or take it from the file `store`."""
    ends = np.arange(1, len(feed.lengths) + 1)

    def last(inputs: Tensor, mask: Tensor) -> list[Tensor]:
        return list(estimator.hidden(*_placed(estimator, inputs, mask))[:, None].float())

    return _computed(last, feed, ends, _width(estimator), store, token_budget, meter)


def lower_states(
    estimator: Estimator, feed: TokenFeed, store: Path | None, token_budget: int, meter: Meter | None = None
) -> NDArray[np.float32]:
    """Compute the hidden states (sum of lengths, H) of all positions, row after row, or take them from `store`."""

    def own(inputs: Tensor, mask: Tensor) -> list[Tensor]:
        states = estimator.states(*_placed(estimator, inputs, mask)).float()
        return [row[: int(length)] for row, length in zip(states, mask.sum(1), strict=True)]

    return _computed(own, feed, np.cumsum(feed.lengths), _width(estimator), store, token_budget, meter)


def _computed(
    compute: Callable[[Tensor, Tensor], list[Tensor]],
    feed: TokenFeed,
    ends: Rows,
    width: int,
    store: Path | None,
    token_budget: int,
    meter: Meter | None,
) -> NDArray[np.float32]:
    """Fill an array whose row range of question i ends at `ends[i]`, chunk by chunk."""
    shape, starts = (int(ends[-1]), width), np.concatenate([[0], ends[:-1]])
    target = _Target(store, shape)
    with torch.no_grad():
        for first in range(0, len(ends), CHUNK):
            rows = np.arange(first, min(first + CHUNK, len(ends)))
            reused = rows[-1] < target.n_done
            if not reused:
                for part in micro_batches(rows, feed.lengths, token_budget):
                    for row, states in zip(part, compute(*feed.batch(part)), strict=True):
                        target.array[starts[row] : ends[row]] = states.cpu().numpy()
                target.mark(int(rows[-1]) + 1)
            if meter is not None:
                meter.advance(len(rows), reused=bool(reused))
    return target.finish()


def read_kept(store: Path) -> NDArray[np.float32]:
    """Open a finished file without reading it into memory. Raises: DataError when it is damaged."""
    try:
        kept: NDArray[np.float32] = np.load(store, mmap_mode="r")
    except (ValueError, EOFError) as error:
        remedy = "delete it; it is computed again"
        raise DataError(f"the file cannot be read: {error}", where=str(store), remedy=remedy) from error
    return kept


class _Target:
    """The array to fill: in memory, or a file that counts beside it how many questions are in it."""

    def __init__(self, store: Path | None, shape: tuple[int, int]) -> None:
        self.n_done = 0
        self._store = store
        if store is None:
            self.array: NDArray[np.float32] = np.empty(shape, dtype=np.float32)
            return
        self._partial, self._count = store.with_suffix(".partial.npy"), store.with_suffix(".count.json")
        with refused_writes(store):
            store.parent.mkdir(parents=True, exist_ok=True)
            if store.exists():
                self.array, self.n_done = read_kept(store), shape[0]
            elif self._partial.exists() and self._count.exists():
                self.array = np.load(self._partial, mmap_mode="r+")
                self.n_done = int(json.loads(self._count.read_text()))
            else:
                # A count that outlived its file would pass what is not computed yet for done.
                self._count.unlink(missing_ok=True)
                opened: NDArray[np.float32] = np.lib.format.open_memmap(  # type: ignore[no-untyped-call]
                    self._partial, mode="w+", dtype=np.float32, shape=shape
                )
                self.array = opened
                # A full disk is told now; found out while writing into the map it would kill the process.
                with self._partial.open("r+b") as file:
                    os.posix_fallocate(file.fileno(), 0, self._partial.stat().st_size)

    def mark(self, n_done: int) -> None:
        """Say that the first questions are in the array, for good."""
        if self._store is not None:
            with refused_writes(self._store):
                self.array.flush()  # type: ignore[attr-defined]
                aside = self._count.with_suffix(".new")
                aside.write_text(json.dumps(n_done))
                os.replace(aside, self._count)

    def finish(self) -> NDArray[np.float32]:
        """Give the filled array; on disk under its final name."""
        if self._store is not None and not self._store.exists():
            with refused_writes(self._store):
                os.replace(self._partial, self._store)
                self._count.unlink(missing_ok=True)
        return self.array


def _placed(estimator: Estimator, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    return inputs.to(estimator.prefix.device), mask.to(estimator.prefix.device)


def _width(estimator: Estimator) -> int:
    return int(estimator.head.weight.numel())
