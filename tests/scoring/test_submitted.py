import json
import os
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow.parquet as pq
import pytest

from honestybench.errors import SubmissionError
from honestybench.labels import labels_of_release, write_labels
from honestybench.scorecard import ScoreCard, read_scorecard, rounded, write_scorecard
from honestybench.scoring import score_all, score_submission
from honestybench.scoring.recheck import differences, verify_submission
from honestybench.scoring.submitted import RejectedError

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
    rows = [{"id": each, "confidence": (value + row * value) % 1} for row, each in enumerate(ids)]
    (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
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


@pytest.mark.parametrize(
    "name", ["confidences-seed01.jsonl", "confidences-seed1.json", "Confidences.jsonl", "confidences.jsonl.partial"]
)
def test_a_file_that_would_be_left_out_is_refused(name: str, llm_folder: Path) -> None:
    folder = submit(llm_folder, "mine", 0.3, file="confidences-seed0.jsonl")
    (folder / name).write_text("", encoding="utf-8")
    with pytest.raises(SubmissionError, match=f'"{name}" is no name of a confidence file.*Remedy'):
        score_submission(folder)


@pytest.mark.parametrize("name", ["system.yaml", "confidences.jsonl", ""])
def test_links_are_not_followed(name: str, llm_folder: Path, tmp_path: Path) -> None:
    folder = submit(llm_folder, "mine", 0.3)
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SubmissionError, match="this is a link"):
        score_submission(folder)
    with pytest.raises(SubmissionError, match="this is a link"):
        score_all(llm_folder)


def test_a_pipe_is_refused_and_not_waited_for(llm_folder: Path) -> None:
    folder = submit(llm_folder, "mine", 0.3)
    (folder / "confidences.jsonl").unlink()
    os.mkfifo(folder / "confidences.jsonl")
    with pytest.raises(SubmissionError, match="no regular file"):
        score_submission(folder)


def test_the_folder_has_the_name_of_its_llm(llm_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = submit(llm_folder, "mine", 0.3)
    monkeypatch.chdir(folder)
    assert score_submission(Path("."))["system"] == "mine"
    other = llm_folder.rename(llm_folder.with_name("other-name"))
    for score in (lambda: score_all(other), lambda: score_submission(other / "mine")):
        with pytest.raises(SubmissionError, match=r"otherwise than its LLM, made-up-llm \(got 'other-name'\)"):
            score()


def test_every_folder_is_a_system_and_all_faults_are_told(llm_folder: Path) -> None:
    submit(llm_folder, "good", 0.3)
    (llm_folder / ".hidden").mkdir()
    assert list(score_all(llm_folder)[0]) == ["good"]
    (submit(llm_folder, "bare", 0.3) / "system.yaml").unlink()
    file = submit(llm_folder, "odd", 0.3) / "confidences.jsonl"
    file.write_text("0.5\n[]\n", encoding="utf-8")
    with pytest.raises(RejectedError) as caught:
        score_all(llm_folder)
    bare, *odd = caught.value.faults
    assert bare.startswith(f"{llm_folder / 'bare'}: no system.yaml here. Remedy: ")
    assert [line.split(": ")[:3] for line in odd] == [
        [str(file), "line 1", "NOT_OBJECT"],
        [str(file), "line 2", "NOT_OBJECT"],
    ]


def test_a_card_has_every_group_from_the_first_version(llm_folder: Path) -> None:
    """What is not built is null with its reason, so that readers need not change when it comes."""
    submit(llm_folder, "mine", 0.3, track="ood-")
    cards, comparison = score_all(llm_folder)
    card, reason = cards["mine"], "not computed by scorer 1"
    assert card["flags_not_computed"] == ["label_copy", "near_duplicate", "order_dependent"]
    # The small release has 4 questions in domain, 6 out of domain and 1 of MMLU.
    counts = {track: tuple(score["coverage"].values()) for track, score in card["tracks"].items()}
    assert counts == {"in_domain": (4, 0), "ood": (6, 6), "mmlu": (1, 0)}
    for track, told in (("ood", reason), ("mmlu", "not submitted")):
        score = card["tracks"][track]
        undefined = {"value": None, "reason": told}
        assert score["judge_error_band"] == score["minimum_detectable_difference"] == undefined
        null = {"mean": None, "p95": None, "reason": told}
        nulls = {"weighted": null, "macro": null, "pooled": null}
        assert score["other_ece_nulls"] == dict.fromkeys(("ece_15", "ece_mass_10", "smece", "ece_authors"), nulls)
    for table in card["tracks"]["ood"]["sources"].values():
        assert set(table["other_ece_nulls"]) == {"ece_15", "ece_mass_10", "smece", "ece_authors"}
    compared = comparison["tracks"]["ood"]
    for part in ("paired", "holm", "could_be_best", "rank_intervals"):
        assert compared[part] == {"value": None, "reason": reason}  # type: ignore[literal-required]


def test_the_tolerance_lies_between_1e_8_and_1e_10(llm_folder: Path) -> None:
    folder = submit(llm_folder, "mine", 0.3)
    scored(folder)
    for off, faults in ((1e-8, 1), (1e-10, 0)):
        card = score_submission(folder)
        brier = card["tracks"]["ood"]["aggregates"]["pooled"]["brier"]
        assert brier["value"] is not None
        brier["value"] += off
        write_scorecard(folder / "scorecard.json", card)
        found = verify_submission(folder)
        assert len(found) == faults, found
        assert all(fault.startswith("tracks.ood.aggregates.pooled.brier.value: ") for fault in found)


def test_what_a_card_says_is_shown_in_one_short_line() -> None:
    odd = "\x1b[2J" + "x" * 1000
    (fault,) = differences({odd: 1}, {}, "")
    assert fault.isprintable() and len(fault) < 150
    (fault,) = differences({"a": odd}, {"a": {"b": odd}}, "")
    assert fault.isprintable() and len(fault) < 150
