import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from honestybench.metrics.decision import alignment, alignment_part, alignment_ranks, fit_threshold
from honestybench.metrics.table import ConfidenceTable

SETS = json.loads((Path(__file__).parents[1] / "golden" / "metrics.json").read_text(encoding="utf-8"))["datasets"]


@pytest.mark.parametrize("dataset", SETS)
def test_golden_threshold(dataset: str) -> None:
    golden = SETS[dataset]
    rows = [row for row in range(len(golden["correct"])) if f"{dataset}-{row:04d}" in golden["fitted_on"]]
    table = ConfidenceTable.of([golden["confidence"][row] for row in rows], [golden["correct"][row] for row in rows])
    assert fit_threshold(table) == golden["threshold"]


def test_the_fifth_of_smallest_digests_fits_whatever_the_order() -> None:
    names = [("nq", f"id-{number}") for number in range(24)]
    digest = {name: hashlib.sha256(f"honestybench-align-v1|{name[0]}|{name[1]}".encode()).hexdigest() for name in names}
    expected = set(sorted(names, key=digest.__getitem__)[:4])
    for order in (names, names[::-1], names[7:] + names[:7]):
        fitted = alignment_part(alignment_ranks(order))
        assert {name for name, chosen in zip(order, fitted, strict=True) if chosen} == expected


def test_threshold_and_hits_by_hand() -> None:
    # Fitted: wrong at .2 and .4, right at .6: the smallest threshold that parts them is .41.
    fitted_on = ConfidenceTable.of([0.2, 0.4, 0.6], [0, 0, 1])
    assert fit_threshold(fitted_on) == 0.41
    # At .41: .5 right is a hit, .5 wrong a miss, .41 right a hit, .40 wrong a hit.
    tested_on = ConfidenceTable.of([0.5, 0.5, 0.41, 0.4], [1, 0, 1, 0])
    assert alignment(fitted_on, tested_on).value == 0.75


@pytest.mark.parametrize("confidence", [[], [0.7], [0.7, 0.7]])
def test_no_threshold_parts_equal_confidences(confidence: list[float]) -> None:
    assert fit_threshold(ConfidenceTable.of(confidence, [1] * len(confidence))) == 0.5


def test_ranks_are_a_permutation() -> None:
    ranks = alignment_ranks(("s", str(number)) for number in range(50))
    assert (np.sort(ranks) == np.arange(50)).all()
