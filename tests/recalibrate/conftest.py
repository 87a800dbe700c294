"""A release with enough labelled train questions to fit on, made from the small one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

N_TRAIN = 60
N_UNLABELLED = 6


@pytest.fixture
def write_release(small_release: ModuleType, tmp_path: Path) -> Callable[..., Path]:
    """Write the release into a new folder: `write_release(name, **options)`, options as of `small_release.write`."""
    records = small_release.records()
    model = next(record for record in records if record.example.split == "train")
    train = [
        replace(
            model,
            example=replace(model.example, id=f"{source}-train-{k:012x}", source=source, cluster=f"{source} {k}"),
            # Every tenth has no label; of the others the more probable are right, but for every fifth.
            greedy_correctness=None if k % 10 == 7 else int((k >= 15) != (k % 5 == 0)),
            greedy=replace(model.greedy, logprobs=(-3 + k / 10.5,), cumulative_logprob=-3 + k / 10.5),
        )
        for source in ("hotpotqa", "nq")
        for k in range(N_TRAIN // 2)
    ]
    evaluation = [record for record in records if record.example.split != "train"]
    annotated = sorted(train + evaluation, key=lambda record: (record.example.source, record.example.id))

    def write(name: str, **options: object) -> Path:
        small_release.write(tmp_path / name, annotated=annotated, **options)
        return tmp_path / name

    return write
