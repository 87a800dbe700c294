"""What the baselines know of the whole release beside the row: means over train, and what stands in for nulls."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from honestybench.records import TRACKS
from honestybench.release import read_manifest
from honestybench.shards import iter_batches

VALUES = ("self_consistency", "sample_accuracy")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMean:
    """The mean of a stored column, which stands in for its nulls.

    `value` is the mean over the train questions that have one, over the evaluation questions where no train question
    has (`of_train` is false), None where none has; `n_behind` counts the questions behind it. `n_known` and `n_null`
    count the evaluation questions with and without a value of their own.
    """

    value: float | None
    of_train: bool
    n_behind: int
    n_known: int
    n_null: int

    @property
    def whose(self) -> str:
        """Name the questions behind the mean."""
        return "train questions" if self.of_train else "evaluation questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What a baseline knows beside the row.

    `base_rate` is the accuracy of the greedy answers on `n_train_labels` train questions, None without any.
    `sample_accuracy` may come from evaluation labels: only the oracle reads it.
    """

    base_rate: float | None
    n_train_labels: int
    self_consistency: StoredMean
    sample_accuracy: StoredMean


def read_background(release: Path, llm: str) -> Background:
    """Gather what the baselines may know of the whole release. Raises: UnknownNameError, ReleaseError."""
    splits = read_manifest(release).splits(llm)
    train = _columns(release, llm, [split for split in splits if split not in TRACKS], ("greedy_correctness", *VALUES))
    evaluated = _columns(release, llm, [split for split in splits if split in TRACKS], VALUES)
    labels = _known(train["greedy_correctness"])
    means = {name: _stored_mean(train[name], evaluated[name]) for name in VALUES}
    return Background(base_rate=_mean(labels), n_train_labels=len(labels), **means)


def _stored_mean(train: Sequence[float | None], evaluated: Sequence[float | None]) -> StoredMean:
    of_train, of_evaluated = _known(train), _known(evaluated)
    behind = of_train or of_evaluated
    return StoredMean(
        value=_mean(behind),
        of_train=bool(of_train),
        n_behind=len(behind),
        n_known=len(of_evaluated),
        n_null=len(evaluated) - len(of_evaluated),
    )


def _columns(release: Path, llm: str, splits: Iterable[str], names: Sequence[str]) -> dict[str, list[float | None]]:
    columns: dict[str, list[float | None]] = {name: [] for name in names}
    for split in splits:
        for batch in iter_batches(release, llm, split, names):
            for name in names:
                columns[name] += batch.column(name).to_pylist()
    return columns


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
