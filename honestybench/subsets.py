"""Which train questions give their labels: nested subsets, stratified by source, and a part of them to select on."""

import hashlib
from collections.abc import Mapping, Sequence

from honestybench.errors import UsageError

SELECTION_STRIDE = 5
"""One label in five is for selection: checkpoints, regularisation."""

LABEL_GRID = (100, 300, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
"""Numbers of labels that published curves share; all labels come on top."""


def label_order(sources: Mapping[str, str], seed: int) -> list[str]:
    """Order train ids (`sources`: id -> source) so that each beginning of the list is a stratified subset.

    Within a source the order is that of a hash of seed and id. The k-th of a source with N questions stands at
    (k - 1/2) / N, so the first n hold each source's share of n to within one question. Subsets of one seed are
    nested: the first 1,000 are inside the first 2,000.
    """
    by_source: dict[str, list[str]] = {}
    for example_id, source in sources.items():
        by_source.setdefault(source, []).append(example_id)
    placed: list[tuple[float, str, str]] = []
    for source, ids in by_source.items():
        ids.sort(key=lambda example_id: (_hash(seed, example_id), example_id))
        placed += [((k + 0.5) / len(ids), _hash(seed, source), example_id) for k, example_id in enumerate(ids)]
    return [example_id for _, _, example_id in sorted(placed)]


def label_subset(order: Sequence[str], n_labels: int) -> Sequence[str]:
    """Take the first `n_labels` ids of a label order. Raises: UsageError when there are fewer, or none is asked for."""
    if not 1 <= n_labels <= len(order):
        raise UsageError(
            "there are not that many labelled train questions",
            where="labels",
            value=n_labels,
            remedy=f"use 1 to {len(order)}",
        )
    return order[:n_labels]


def carve(subset: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part a label subset into ids to fit on and ids to select on: every fifth, stratified and nested as the subset is.

    A subset of fewer than five leaves nothing to select on.
    """
    last = SELECTION_STRIDE - 1
    fit = [example_id for place, example_id in enumerate(subset) if place % SELECTION_STRIDE != last]
    return fit, list(subset[last::SELECTION_STRIDE])


def _hash(seed: int, text: str) -> str:
    return hashlib.sha256(f"{seed}\0{text}".encode()).hexdigest()
