import json
from pathlib import Path

import pytest

from honestybench.labels import Labels
from honestybench.scoring.comparison import compare_track
from honestybench.scoring.labelled import labelled_tracks

SETS = json.loads((Path(__file__).parents[1] / "golden" / "metrics.json").read_text(encoding="utf-8"))["datasets"]


def test_the_comparison_holds_the_golden_covariance(tmp_path: Path) -> None:
    """Two systems on one source: values and covariance are DeLong's, from exact arithmetic."""
    golden = SETS["g2_quantised_20"]
    ids = [f"q{row:04d}" for row in range(200)]
    columns: dict[str, list[object]] = {
        "id": list(ids),
        "source": ["one"] * 200,
        "split": ["labels"] * 200,
        "greedy_correctness": list(golden["correct"]),
    }
    track = labelled_tracks(Labels(columns=columns))["labels"]
    systems = {
        name: track.answers([dict(zip(ids, golden[key], strict=True))])
        for name, key in (("b", "second_confidence"), ("a", "confidence"))
    }
    moments = golden["delong_pair"]
    compared = compare_track(systems, {"a": moments["auc1"], "b": moments["auc2"]})
    assert compared["systems"] == ["a", "b"]
    metric = compared["metrics"]["auroc"]
    assert (metric["kind"], metric["values"]) == ("weighted", [moments["auc1"], moments["auc2"]])
    expected = [[moments["var1"], moments["cov"]], [moments["cov"], moments["var2"]]]
    assert metric["covariance"] == [pytest.approx(row, rel=1e-9) for row in expected]
    assert compared["metrics"]["brier"]["reason"] and compared["rank_intervals"]["reason"]
