import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

import honestybench
from honestybench.errors import DataError, SubmissionError
from honestybench.labels import Labels
from honestybench.metrics import METRICS
from honestybench.scoring import score_file
from honestybench.scoring.comparison import compare_track
from honestybench.scoring.labelled import labelled_tracks
from honestybench.scoring.recheck import differences


def made_up(sizes: dict[str, tuple[int, int]], seed: int = 1) -> tuple[Labels, dict[str, float]]:
    """Labels with so many (right, wrong) answers by source, and confidences that rank right ones higher."""
    generator = np.random.default_rng(seed)
    sources = [source for source, counts in sizes.items() for _ in range(sum(counts))]
    correct = [label for right, wrong in sizes.values() for label in [1] * right + [0] * wrong]
    ids = [f"{source}-{row}" for row, source in enumerate(sources)]
    confidence = (generator.integers(0, 15, len(ids)) + 5 * np.array(correct)) / 20
    columns: dict[str, list[object]] = {
        "id": list(ids),
        "source": list(sources),
        "split": ["labels"] * len(ids),
        "greedy_correctness": list(correct),
    }
    return Labels(columns=columns), dict(zip(ids, confidence.tolist(), strict=True))


def write(path: Path, confidences: dict[str, float], order: Sequence[str] | None = None) -> Path:
    lines = [json.dumps({"id": each, "confidence": confidences[each]}) for each in order or confidences]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def of_source(labels: Labels, confidences: dict[str, float], *sources: str) -> tuple[list[int], list[float]]:
    columns = labels.columns
    rows = [row for row, source in enumerate(columns["source"]) if source in sources]
    return (
        [int(str(columns["greedy_correctness"][row])) for row in rows],
        [confidences[str(columns["id"][row])] for row in rows],
    )


def test_arrays_by_hand() -> None:
    table = honestybench.score([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0])
    metrics = table["metrics"]
    assert list(metrics) == list(METRICS)
    # Pairs: .9>.5, .9>.1, .5=.5, .5>.1 -> 3.5 / 4. Losses: .01, .25, .25, .01. Bins: .9-1, 1-1, .1-0.
    assert metrics["auroc"]["value"] == 0.875
    assert metrics["brier"]["value"] == pytest.approx(0.13)
    assert metrics["ece_10"]["value"] == pytest.approx((0.1 + 0 + 0.1) / 4)
    assert (table["n"], table["n_correct"], table["flags"]) == (4, 2, ["few"])
    for name, value in metrics.items():
        assert (value["value"] is None) == bool(value["reason"]), name
    assert metrics["smece"]["reason"] == "not computed by scorer 1"


def test_arrays_of_one_class_are_undefined_with_the_reason() -> None:
    table = honestybench.score(np.array([0.2, 0.2]), np.array([True, True]))
    assert table["metrics"]["auroc"] == {
        "value": None,
        "ci_low": None,
        "ci_high": None,
        "n": 2,
        "reason": "all 2 answers correct",
    }
    assert table["flags"] == ["few", "one_class", "constant"]


@pytest.mark.parametrize(
    ("confidence", "correct", "words"), [([1.2], [1], "outside"), ([0.1, 0.2], [1], "length"), ([0.1], [2], "0 nor 1")]
)
def test_bad_arrays_are_refused(confidence: list[float], correct: list[int], words: str) -> None:
    with pytest.raises(DataError, match=words):
        honestybench.score(confidence, correct)


@pytest.mark.parametrize(
    ("confidence", "correct", "words"),
    [
        (["a"], [1], "the confidences must be numbers"),
        (["0.9"], [1], "the confidences must be numbers"),
        ([0.5, True], [1, 0], "the confidences must be numbers"),
        ([True], [1], "the confidences must be numbers"),
        ([0.5 + 1j], [1], "the confidences must be numbers"),
        ([None], [1], "the confidences must be numbers"),
        ([[0.1], [0.2, 0.3]], [1, 0], "the confidences are no list of numbers"),
        ([0.5], ["1"], "the labels must be numbers"),
        ([0.5], [None], "the labels must be numbers"),
        ([0.5, 0.5], [[1], [1, 0]], "the labels are no list of numbers"),
        (0.5, 1, "two lists of one length"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused(confidence: Any, correct: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        honestybench.score(confidence, correct)


def test_aggregates_leave_few_sources_out(tmp_path: Path) -> None:
    labels, given = made_up({"large": (30, 50), "small": (10, 12), "few": (40, 9)})
    track = score_file(write(tmp_path / "c.jsonl", given), labels)["tracks"]["labels"]
    areas = {name: roc_auc_score(*of_source(labels, given, name)) for name in ("large", "small")}
    briers = {name: brier_score_loss(*of_source(labels, given, name)) for name in ("large", "small")}
    aggregates = track["aggregates"]
    assert aggregates["weighted"]["auroc"]["value"] == pytest.approx((80 * areas["large"] + 22 * areas["small"]) / 102)
    assert aggregates["weighted"]["auroc"]["n"] == 102
    assert aggregates["macro"]["brier"]["value"] == pytest.approx((briers["large"] + briers["small"]) / 2)
    every = of_source(labels, given, "large", "small", "few")
    assert aggregates["pooled"]["brier"]["value"] == pytest.approx(brier_score_loss(*every))
    assert track["left_out"]["auroc"] == {"few": "40 right and 9 wrong answers; 10 of each are needed"}
    assert track["sources"]["few"]["flags"] == ["few"]
    assert track["sources"]["few"]["metrics"]["auroc"]["value"] is not None
    assert (track["headline"]["kind"], track["headline"]["banner"]) == ("weighted", None)
    assert track["headline"]["value"] == aggregates["weighted"]["auroc"]["value"]


def variance(value: Mapping[str, Any]) -> float:
    """Undo a logit interval: half its width is 1.96 sd / (a (1 - a))."""
    low, high = (math.log(value[key] / (1 - value[key])) for key in ("ci_low", "ci_high"))
    return float(((high - low) / 2 / 1.959963984540054 * value["value"] * (1 - value["value"])) ** 2)


def test_the_weighted_interval_combines_those_of_the_sources(tmp_path: Path) -> None:
    labels, given = made_up({"a": (30, 50), "b": (20, 20)})
    track = score_file(write(tmp_path / "c.jsonl", given), labels)["tracks"]["labels"]
    of_a, of_b = (variance(track["sources"][name]["metrics"]["auroc"]) for name in ("a", "b"))
    expected = (80 / 120) ** 2 * of_a + (40 / 120) ** 2 * of_b
    assert variance(track["headline"]) == pytest.approx(expected)


def test_the_null_of_a_mean_is_the_mean_of_the_nulls(tmp_path: Path) -> None:
    labels, given = made_up({"a": (40, 40), "b": (20, 20), "few": (1, 30)})
    track = score_file(write(tmp_path / "c.jsonl", given), labels)["tracks"]["labels"]
    means = {name: table["ece_10_null"]["mean"] or 0 for name, table in track["sources"].items()}
    null = track["ece_10_null"]
    assert null["weighted"]["mean"] == pytest.approx((80 * means["a"] + 40 * means["b"]) / 120)
    assert null["macro"]["mean"] == pytest.approx((means["a"] + means["b"]) / 2)
    # All together: gaps of different sources cancel, as in one simulation of all answers; 1000 draws of sd < .04.
    correct, confidence = of_source(labels, given, "a", "b", "few")
    together = honestybench.score(confidence, correct)["ece_10_null"]
    assert null["pooled"]["mean"] == pytest.approx(together["mean"], abs=5 * 0.04 * (2 / 1000) ** 0.5)
    assert null["pooled"]["mean"] < null["weighted"]["mean"]


def test_equal_sources_have_independent_nulls(tmp_path: Path) -> None:
    labels, given = made_up({"a": (15, 15), "b": (15, 15)})
    equal = {name: index % 30 / 30 for index, name in enumerate(given)}
    sources = score_file(write(tmp_path / "c.jsonl", equal), labels)["tracks"]["labels"]["sources"]
    assert sources["a"]["metrics"] == {**sources["b"]["metrics"], "alignment": sources["a"]["metrics"]["alignment"]}
    assert sources["a"]["ece_10_null"] != sources["b"]["ece_10_null"]


def test_few_counting_sources_make_the_headline_pooled(tmp_path: Path) -> None:
    labels, given = made_up({"a": (12, 12), "b": (3, 9), "c": (1, 7)})
    track = score_file(write(tmp_path / "c.jsonl", given), labels)["tracks"]["labels"]
    headline = track["headline"]
    pairs = []
    for name in ("a", "b", "c"):
        correct, confidence = of_source(labels, given, name)
        rated = list(zip(correct, confidence, strict=True))
        pairs += [(p > q) + (p == q) / 2 for y, p in rated if y for z, q in rated if not z]
    assert headline["kind"] == "pooled"
    assert headline["value"] == pytest.approx(np.mean(pairs))
    assert headline["banner"] is not None and "16 right answers of 44" in headline["banner"]
    assert headline["value"] == track["pooled_auroc"]["value"] == track["aggregates"]["pooled"]["auroc"]["value"]
    # Half of the sources are not fewer than half.
    labels, given = made_up({"a": (12, 12), "b": (3, 9)})
    halved = score_file(write(tmp_path / "c.jsonl", given), labels)["tracks"]["labels"]
    assert halved["headline"]["kind"] == "weighted"


def test_the_order_of_lines_and_gold_changes_nothing(tmp_path: Path) -> None:
    labels, given = made_up({"a": (12, 14), "b": (4, 9)})
    card = score_file(write(tmp_path / "c.jsonl", given), labels)
    shuffled = [int(row) for row in np.random.default_rng(2).permutation(len(given))]
    columns = {name: [column[row] for row in shuffled] for name, column in labels.columns.items()}
    other = write(tmp_path / "d.jsonl", given, order=sorted(given, reverse=True))
    again = score_file(other, Labels(columns=columns))
    assert list(differences(card["tracks"], again["tracks"], "")) == []


def test_unlabelled_answers_are_dropped_and_counted(tmp_path: Path) -> None:
    labels, given = made_up({"a": (12, 14)})
    verdicts = [None if row in (0, 20) else label for row, label in enumerate(labels.columns["greedy_correctness"])]
    dropped = Labels(columns={**labels.columns, "greedy_correctness": verdicts})
    track = score_file(write(tmp_path / "c.jsonl", given), dropped)["tracks"]["labels"]
    assert (track["n"], track["n_correct"], track["n_unlabelled"]) == (24, 11, 2)
    with pytest.raises(SubmissionError, match="MISSING_IDS"):
        score_file(write(tmp_path / "d.jsonl", {k: v for k, v in list(given.items())[1:]}), dropped)


def test_slices_select_rows_and_keep_labels(tmp_path: Path) -> None:
    labels, given = made_up({"a": (12, 14), "b": (11, 10)})
    n = len(given)
    flags: list[object] = [["duplicate"] if row % 3 == 0 else ["yes_no"] for row in range(n)]
    hops: list[object] = [2 if row % 2 else None for row in range(n)]
    sliced = Labels(columns={**labels.columns, "flags": flags, "hops": hops})
    track = score_file(write(tmp_path / "c.jsonl", given), sliced)["tracks"]["labels"]
    assert list(track["slices"]) == ["all", "clean", "source:a", "source:b", "hops:2"]
    assert track["slices"]["all"]["metrics"] == track["aggregates"]["pooled"]
    assert track["slices"]["all"]["headline"] == track["headline"]
    assert track["slices"]["clean"]["n"] == sum(row % 3 > 0 for row in range(n))
    correct, confidence = of_source(labels, given, "a", "b")
    odd = slice(1, None, 2)
    assert track["slices"]["hops:2"]["metrics"]["brier"]["value"] == pytest.approx(
        brier_score_loss(correct[odd], confidence[odd])
    )
    assert track["slices"]["source:a"]["metrics"]["auroc"]["value"] == pytest.approx(
        roc_auc_score(*of_source(labels, given, "a"))
    )


def test_curves_and_confident_errors(tmp_path: Path) -> None:
    labels, given = made_up({"a": (30, 60)})
    track = score_file(write(tmp_path / "c.jsonl", given), labels)["tracks"]["labels"]
    curves = track["curves"]
    assert sum(each["n"] for each in curves["reliability"]) == 90 and all(each["n"] for each in curves["reliability"])
    assert all(each["ci_low"] <= each["accuracy"] <= each["ci_high"] for each in curves["reliability"])
    assert len(curves["histogram"]) == 20
    assert sum(each["n_correct"] for each in curves["histogram"]) == 30
    assert curves["risk_coverage"][-1] == pytest.approx([1, 60 / 90])
    wrong = {
        str(example_id) for example_id, label in zip(*list(labels.columns.values())[::3], strict=True) if not label
    }
    errors = [(each["id"], each["confidence"]) for each in track["confident_errors"]]
    assert errors == sorted(((k, given[k]) for k in wrong), key=lambda pair: (-pair[1], pair[0]))[:50]


def test_flags_of_the_card(tmp_path: Path) -> None:
    labels, given = made_up({"a": (12, 14), "b": (0, 9)})
    correct, _ = of_source(labels, given, "a", "b")
    leaked = dict(zip(given, map(float, correct), strict=True))
    card = score_file(write(tmp_path / "c.jsonl", leaked), labels)
    assert card["flags"] == ["few", "one_class", "too_good"]
    clipped = score_file(write(tmp_path / "c.jsonl", {each: 1 + 1e-7 for each in given}), labels)
    assert clipped["flags"] == ["few", "one_class", "constant", "clipped"]
    assert {warning["code"] for warning in clipped["warnings"]} == {"CLIPPED", "CONSTANT"}


@pytest.mark.parametrize(
    ("sizes", "kind"),
    [({"a": (30, 50), "b": (20, 20), "c": (3, 9)}, "weighted"), ({"a": (12, 12), "b": (3, 9), "c": (1, 7)}, "pooled")],
)
def test_compared_variances_are_those_of_the_intervals(sizes, kind: str, tmp_path: Path) -> None:
    labels, given = made_up(sizes)
    _, other = made_up(sizes, seed=2)
    track = labelled_tracks(labels)["labels"]
    headlines = [
        score_file(write(tmp_path / "c.jsonl", each), labels)["tracks"]["labels"]["headline"] for each in (given, other)
    ]
    systems = {"a": track.answers([given]), "b": track.answers([other]), "c": track.answers([given])}
    values = {name: headline["value"] for name, headline in zip("abc", [*headlines, headlines[0]], strict=True)}
    metric = compare_track(systems, values)["metrics"]["auroc"]
    covariance = np.array(metric["covariance"])
    assert metric["kind"] == kind
    assert np.diag(covariance) == pytest.approx([variance(headlines[k]) for k in (0, 1, 0)])
    # A system and itself differ by nothing, with certainty.
    assert covariance[0, 0] + covariance[2, 2] - 2 * covariance[0, 2] == pytest.approx(0, abs=1e-15)


def test_a_track_without_any_label_is_undefined(tmp_path: Path) -> None:
    labels, given = made_up({"a": (2, 3)})
    unparsed = Labels(columns={**labels.columns, "greedy_correctness": [None] * 5})
    track = score_file(write(tmp_path / "c.jsonl", given), unparsed)["tracks"]["labels"]
    assert (track["status"], track["n"], track["n_unlabelled"], track["sources"]) == ("scored", 0, 5, {})
    assert track["headline"]["reason"] == "no labelled answers"
    assert track["pooled_auroc"]["reason"] == "no answers"
    assert track["ece_10_null"]["pooled"]["reason"] == "no answers"
