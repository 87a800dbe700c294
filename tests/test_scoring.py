import json
import math
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

import honestybench
from honestybench.errors import DataError, SubmissionError
from honestybench.labels import Labels, labels_of_release, write_labels
from honestybench.metrics import METRICS
from honestybench.scorecard import ScoreCard, read_scorecard, rounded, write_scorecard
from honestybench.scoring import score_all, score_file, score_submission
from honestybench.scoring.comparison import compare_track
from honestybench.scoring.labelled import labelled_tracks
from honestybench.scoring.recheck import differences, verify_submission

SETS = json.loads((Path(__file__).parent / "golden" / "metrics.json").read_text(encoding="utf-8"))["datasets"]
SYSTEM = """\
name: Mine
family: mine
llm: made-up-llm
release: {release}
method_class: other
sees: question
labels_used: 0
samples_per_question: 0
extra_passes: 0
selected_on: none
authors: [Somebody]
date: 2026-01-31
description: Made up.
"""


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


def test_the_weighted_interval_combines_those_of_the_sources(tmp_path: Path) -> None:
    labels, given = made_up({"a": (30, 50), "b": (20, 20)})
    track = score_file(write(tmp_path / "c.jsonl", given), labels)["tracks"]["labels"]

    def variance(value: dict[str, float]) -> float:
        """Undo the logit interval: half its width is 1.96 sd / (a (1 - a))."""
        low, high = (math.log(value[key] / (1 - value[key])) for key in ("ci_low", "ci_high"))
        return ((high - low) / 2 / 1.959963984540054 * value["value"] * (1 - value["value"])) ** 2

    of_a, of_b = (variance(track["sources"][name]["metrics"]["auroc"]) for name in ("a", "b"))
    expected = (80 / 120) ** 2 * of_a + (40 / 120) ** 2 * of_b
    assert variance(track["headline"]) == pytest.approx(expected)


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


@pytest.fixture
def llm_folder(small_release: ModuleType, tmp_path: Path) -> Path:
    """A submissions/<llm>/ folder with labels and no system yet."""
    small_release.write(tmp_path / "release")
    labels = labels_of_release(tmp_path / "release")
    write_labels(labels, tmp_path / "made-up-llm")
    return tmp_path / "made-up-llm"


def submit(llm_folder: Path, name: str, value: float, file: str = "confidences.jsonl", track: str = "") -> Path:
    """Write a system that answers with values around one number, for one track or all."""
    release = json.loads((llm_folder / "release.json").read_text(encoding="utf-8"))["release_id"]
    folder = llm_folder / name
    folder.mkdir(exist_ok=True)
    (folder / "system.yaml").write_text(SYSTEM.format(release=release), encoding="utf-8")
    ids = [each for each in sorted(labels_ids(llm_folder)) if f"-{track}" in each]
    write(folder / file, {each: (value + row * value) % 1 for row, each in enumerate(ids)})
    return folder


def labels_ids(llm_folder: Path) -> list[str]:
    return [str(each) for each in pq.read_table(llm_folder / "labels.parquet")["id"].to_pylist()]


def test_a_track_without_its_ids_is_not_submitted(llm_folder: Path) -> None:
    card = score_submission(submit(llm_folder, "mine", 0.3, track="ood-"))
    assert [card["tracks"][track]["status"] for track in card["tracks"]] == ["not_submitted", "scored", "not_submitted"]
    left = card["tracks"]["in_domain"]
    assert left["headline"]["reason"] == "not submitted" and left["aggregates"]["weighted"]["auroc"]["value"] is None
    assert (card["llm"], card["system"]) == ("made-up-llm", "mine")


def test_seeds_give_mean_and_spread(llm_folder: Path) -> None:
    values = []
    for seed, value in enumerate((0.37, 0.11, 0.83)):
        alone = score_submission(submit(llm_folder, f"alone{seed}", value))
        values.append(alone["tracks"]["ood"]["pooled_auroc"]["value"])
        folder = submit(llm_folder, "seeds", value, file=f"confidences-seed{seed}.jsonl")
    card = score_submission(folder)
    assert [each["seed"] for each in card["inputs"]] == [0, 1, 2]
    assert card["tracks"]["ood"]["pooled_auroc"]["value"] == pytest.approx(np.mean(values))
    assert card["seeds"] is not None
    spread = card["seeds"]["ood"]
    assert list(spread["by_seed"]) == ["0", "1", "2"]
    assert spread["sd"] == pytest.approx(np.std(values, ddof=1))
    assert (spread["minimum"], spread["maximum"]) == (min(values), max(values))


def test_faulty_folders_are_refused(llm_folder: Path) -> None:
    folder = submit(llm_folder, "mine", 0.3)
    submit(llm_folder, "mine", 0.3, file="confidences-seed0.jsonl")
    with pytest.raises(SubmissionError, match="with and without a seed"):
        score_submission(folder)
    (folder / "confidences.jsonl").unlink()
    submit(llm_folder, "mine", 0.3, file="confidences-seed1.jsonl", track="ood-")
    with pytest.raises(SubmissionError, match="different tracks"):
        score_submission(folder)
    for path in folder.glob("confidences*"):
        path.unlink()
    with pytest.raises(SubmissionError, match="no confidence file"):
        score_submission(folder)
    (folder / "system.yaml").write_text(SYSTEM.format(release="0" * 64), encoding="utf-8")
    with pytest.raises(SubmissionError, match="release must be that of the labels"):
        score_submission(folder)


def test_a_rejected_file_is_not_scored(llm_folder: Path) -> None:
    folder = submit(llm_folder, "mine", 0.3)
    with (folder / "confidences.jsonl").open("a", encoding="utf-8") as file:
        file.write('\n{"id": "nq-ood-000000000000", "confidence": NaN}')
    with pytest.raises(SubmissionError, match="NOT_JSON_NUMBER"):
        score_submission(folder)


def scored(folder: Path) -> ScoreCard:
    card = score_submission(folder)
    write_scorecard(folder / "scorecard.json", card)
    return card


def test_a_committed_card_is_verified(llm_folder: Path) -> None:
    folder = submit(llm_folder, "mine", 0.3)
    card = scored(folder)
    assert verify_submission(folder) == []
    assert read_scorecard(folder / "scorecard.json") == rounded(card)
    committed = read_scorecard(folder / "scorecard.json")
    committed["tracks"]["ood"]["aggregates"]["pooled"]["brier"]["value"] = 0.01
    write_scorecard(folder / "scorecard.json", committed)
    (fault,) = verify_submission(folder)
    assert fault.startswith("tracks.ood.aggregates.pooled.brier.value: 0.01 in the card, 0.")


def test_changed_confidences_are_found(llm_folder: Path) -> None:
    folder = submit(llm_folder, "mine", 0.3)
    scored(folder)
    submit(llm_folder, "mine", 0.4)
    assert any(fault.startswith("inputs[0].sha256: ") for fault in verify_submission(folder))


def test_differences_by_kind() -> None:
    assert list(differences({"a": 1.0, "b": [1]}, {"a": 1 + 1e-12, "b": [1]}, "")) == []
    assert list(differences({"a": 1.0}, {"a": None}, "")) == ["a: 1.0 in the card, None now"]
    assert list(differences({"a": 1}, {"b": 1}, "")) == ["a: only in the committed card", "b: only in the new card"]
    assert list(differences({"a": [1, 2]}, {"a": [1]}, "")) == ["a: 2 entries in the card, 1 entries now"]


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


def test_all_systems_of_a_folder_are_compared(llm_folder: Path) -> None:
    submit(llm_folder, "whole", 0.37)
    submit(llm_folder, "part", 0.11, track="ood-")
    cards, comparison = score_all(llm_folder)
    assert sorted(cards) == ["part", "whole"] and comparison["llm"] == "made-up-llm"
    systems = {track: compared["systems"] for track, compared in comparison["tracks"].items()}
    assert systems["ood"] == ["part", "whole"]
    assert all(names == ["whole"] for track, names in systems.items() if track != "ood")
    metric = comparison["tracks"]["ood"]["metrics"]["auroc"]
    assert metric["values"] == [cards[name]["tracks"]["ood"]["headline"]["value"] for name in ("part", "whole")]


def test_a_track_without_any_label_is_undefined(tmp_path: Path) -> None:
    labels, given = made_up({"a": (2, 3)})
    unparsed = Labels(columns={**labels.columns, "greedy_correctness": [None] * 5})
    track = score_file(write(tmp_path / "c.jsonl", given), unparsed)["tracks"]["labels"]
    assert (track["status"], track["n"], track["n_unlabelled"], track["sources"]) == ("scored", 0, 5, {})
    assert track["headline"]["reason"] == "no labelled answers"
    assert track["pooled_auroc"]["reason"] == "no answers"
    assert track["ece_10_null"]["pooled"]["reason"] == "no answers"
