import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from honestybench.baselines import write_baselines
from honestybench.errors import DataError, SubmissionError, UsageError
from honestybench.labels import labels_of_release
from honestybench.recalibrate import (
    METHODS,
    Base,
    Recalibrated,
    drawn_ids,
    fit,
    stored_base,
    submitted_base,
    write_recalibrated,
)
from honestybench.shards import read_table
from honestybench.submission import read_confidences, read_system
from honestybench.subsets import label_order

TODAY = date(2026, 1, 31)
LLM = "made-up-llm"
WriteRelease = Callable[..., Path]


def write(release: Path, folder: Path, base: Base, method: str = "platt", **options: int | None) -> Recalibrated:
    return write_recalibrated(
        release, LLM, base, method, folder, **{"n_labels": 20, "n_seeds": 2, **options}, today=TODAY
    )


def confidences(path: Path) -> dict[str, float]:
    return {row["id"]: row["confidence"] for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("method", METHODS)
def test_each_method_writes_an_ordinary_submission(method: str, write_release: WriteRelease, tmp_path: Path) -> None:
    release, folder = write_release("release"), tmp_path / "out"
    done = write(release, folder, stored_base(release, LLM, "prob"), method)
    assert (done.n_labels, done.n_unlabelled, done.n_rows, done.n_files) == (20, 6, 11, 2)
    system = read_system(folder / "system.yaml")
    assert (system.family, system.method_class, system.labels_used) == (f"{method}(prob)", "calibration", 20)
    # As the base: the greedy answer, no samples, no passes, nothing selected.
    assert (system.sees, system.samples_per_question, system.extra_passes, system.selected_on) == (
        "answer",
        0,
        0,
        "none",
    )
    assert METHODS[method].name in system.name
    known = labels_of_release(release).known
    for seed in (0, 1):
        assert read_confidences(folder / f"confidences-seed{seed}.jsonl", known).confidences is not None
    assert sorted(contents(folder)) == ["confidences-seed0.jsonl", "confidences-seed1.jsonl", "system.yaml"]


def test_the_map_is_fitted_on_the_first_labels_of_the_seeds_order(write_release: WriteRelease, tmp_path: Path) -> None:
    release, folder = write_release("release"), tmp_path / "out"
    write(release, folder, stored_base(release, LLM, "prob"))
    columns = ("id", "source", "greedy_correctness", "greedy_cumulative_logprob")
    train = [
        row for row in read_table(release, LLM, "train", columns).to_pylist() if row["greedy_correctness"] in (0, 1)
    ]
    assert len(train) == 54
    by_id = {row["id"]: row for row in train}
    for seed in (0, 1):
        chosen = [by_id[each] for each in label_order({row["id"]: row["source"] for row in train}, seed)[:20]]
        expected = fit(
            "platt",
            [math.exp(row["greedy_cumulative_logprob"]) for row in chosen],
            [row["greedy_correctness"] for row in chosen],
        )
        assert not expected.is_constant
        for track in ("in_domain", "ood", "mmlu"):
            for row in read_table(release, LLM, track, columns).to_pylist():
                mapped = expected([math.exp(row["greedy_cumulative_logprob"])])[0]
                assert confidences(folder / f"confidences-seed{seed}.jsonl")[row["id"]] == pytest.approx(mapped)


def test_all_labels_give_one_file(write_release: WriteRelease, tmp_path: Path) -> None:
    release = write_release("release")
    base = stored_base(release, LLM, "prob")
    done = write(release, tmp_path / "all", base, n_labels=None)
    assert (done.n_labels, done.n_files) == (54, 1)
    assert sorted(contents(tmp_path / "all")) == ["confidences.jsonl", "system.yaml"]
    write(release, tmp_path / "counted", base, n_labels=54)
    assert contents(tmp_path / "all") == contents(tmp_path / "counted")


def test_no_evaluation_label_is_read(write_release: WriteRelease, tmp_path: Path) -> None:
    def swapped(row: dict[str, object]) -> dict[str, object]:
        label = row["greedy_correctness"]
        keep = row["split"] == "train" or label is None
        return row if keep else {**row, "greedy_correctness": 1 - label, "sampling_correctness": [None] * 20}

    for method in METHODS:
        for name, release in (("a", write_release("plain")), ("b", write_release("swapped", change=swapped))):
            write(release, tmp_path / name / method, stored_base(release, LLM, "consistency_semantic"), method)
    files = [contents(tmp_path / name) for name in "ab"]
    rows = [{path: text for path, text in each.items() if path.endswith(".jsonl")} for each in files]
    assert rows[0] == rows[1] and len(rows[0]) == 2 * len(METHODS)


def test_train_labels_do_matter(write_release: WriteRelease, tmp_path: Path) -> None:
    def swapped(row: dict[str, object]) -> dict[str, object]:
        right = row["greedy_correctness"] == 1 and row["id"].endswith(("a", "b", "c"))
        return {**row, "greedy_correctness": 0} if row["split"] == "train" and right else row

    for name, release in (("a", write_release("plain")), ("b", write_release("swapped", change=swapped))):
        write(release, tmp_path / name, stored_base(release, LLM, "prob"), n_labels=None)
    assert confidences(tmp_path / "a" / "confidences.jsonl") != confidences(tmp_path / "b" / "confidences.jsonl")


def test_labels_of_the_base_are_counted_on_top(write_release: WriteRelease, tmp_path: Path) -> None:
    release = write_release("release")
    done = write(release, tmp_path / "out", stored_base(release, LLM, "constant"))
    system = read_system(tmp_path / "out" / "system.yaml")
    assert system.labels_used == 54 + 20
    assert "itself used 54 labels" in system.description
    # A constant stays one: (k + 1) / (n + 2) on each subset.
    assert done.n_constant == 2
    assert "2 of 2 maps are constant" in system.description


def train_file(release: Path, path: Path) -> Path:
    """Write sequence probabilities of the train questions, in another order than the release's."""
    rows = read_table(release, LLM, "train", ("id", "greedy_cumulative_logprob")).to_pylist()
    lines = [json.dumps({"id": row["id"], "confidence": math.exp(row["greedy_cumulative_logprob"])}) for row in rows]
    path.write_text("\n".join(reversed(lines)), encoding="utf-8")
    return path


def needed(release: Path) -> frozenset[str]:
    return drawn_ids(release, LLM, 20, 2)


def test_a_train_file_may_hold_the_questions_used_alone(write_release: WriteRelease, tmp_path: Path) -> None:
    release = write_release("release")
    write_baselines(release, LLM, tmp_path / "systems", TODAY)
    file, train = tmp_path / "systems" / "prob" / "confidences.jsonl", train_file(release, tmp_path / "train.jsonl")
    used = needed(release)
    lines = [line for line in train.read_text(encoding="utf-8").splitlines() if json.loads(line)["id"] in used]
    # Two subsets of 20 of 54 questions.
    assert 20 < len(lines) <= 40
    write(release, tmp_path / "whole", submitted_base(release, LLM, file, train, needed(release)))
    train.write_text("\n".join(lines), encoding="utf-8")
    write(release, tmp_path / "used", submitted_base(release, LLM, file, train, needed(release)))
    assert contents(tmp_path / "used") == contents(tmp_path / "whole")
    train.write_text("\n".join(lines[1:]), encoding="utf-8")
    with pytest.raises(SubmissionError, match=r"train\.jsonl: rejected.*MISSING_IDS.*labelled train questions"):
        submitted_base(release, LLM, file, train, needed(release))


def test_files_give_what_the_stored_columns_give(write_release: WriteRelease, tmp_path: Path) -> None:
    release = write_release("release")
    write_baselines(release, LLM, tmp_path / "systems", TODAY)
    file = tmp_path / "systems" / "prob" / "confidences.jsonl"
    base = submitted_base(release, LLM, file, train_file(release, tmp_path / "train.jsonl"), needed(release))
    write(release, tmp_path / "from_files", base)
    write(release, tmp_path / "stored", stored_base(release, LLM, "prob"))
    for seed in (0, 1):
        first, second = (
            confidences(tmp_path / name / f"confidences-seed{seed}.jsonl") for name in ("from_files", "stored")
        )
        assert first == second
    first, second = (read_system(tmp_path / name / "system.yaml") for name in ("from_files", "stored"))
    assert first == second


def test_what_the_system_saw_and_used_is_inherited(write_release: WriteRelease, tmp_path: Path) -> None:
    release = write_release("release")
    write_baselines(release, LLM, tmp_path / "systems", TODAY)
    file = tmp_path / "systems" / "prob" / "confidences.jsonl"
    yaml = file.with_name("system.yaml")
    text = yaml.read_text(encoding="utf-8").replace("labels_used: 0", "labels_used: 7")
    text = text.replace("extra_passes: 0", "extra_passes: 1").replace("selected_on: none", "selected_on: in_domain")
    yaml.write_text(text.replace("sees: answer", "sees: question"), encoding="utf-8")
    base = submitted_base(release, LLM, file, train_file(release, tmp_path / "train.jsonl"), needed(release))
    write(release, tmp_path / "out", base)
    system = read_system(tmp_path / "out" / "system.yaml")
    assert (system.labels_used, system.extra_passes, system.selected_on, system.sees) == (
        27,
        1,
        "in_domain",
        "question",
    )


def test_faulty_files_are_refused(write_release: WriteRelease, tmp_path: Path) -> None:
    release = write_release("release")
    write_baselines(release, LLM, tmp_path / "systems", TODAY)
    file = tmp_path / "systems" / "prob" / "confidences.jsonl"
    short = train_file(release, tmp_path / "train.jsonl")
    short.write_text(short.read_text(encoding="utf-8").split("\n", 1)[1], encoding="utf-8")
    with pytest.raises(SubmissionError, match=r"train.jsonl: rejected.*MISSING_IDS"):
        submitted_base(release, LLM, file, short, needed(release))
    with pytest.raises(SubmissionError, match="UNKNOWN_IDS"):
        submitted_base(release, LLM, file, file, needed(release))
    yaml = file.with_name("system.yaml")
    yaml.write_text(yaml.read_text(encoding="utf-8").replace(f"llm: {LLM}", "llm: other"), encoding="utf-8")
    with pytest.raises(SubmissionError, match="answers for other of release"):
        submitted_base(release, LLM, file, train_file(release, tmp_path / "train.jsonl"), needed(release))


def test_what_cannot_be_fitted_is_refused_and_leaves_nothing(
    small_release: ModuleType, write_release: WriteRelease, tmp_path: Path
) -> None:
    release = write_release("release")
    base = stored_base(release, LLM, "prob")
    with pytest.raises(UsageError, match="use 1 to 54"):
        write(release, tmp_path / "out", base, n_labels=55)
    with pytest.raises(UsageError, match="at least one subset"):
        write(release, tmp_path / "out", base, n_seeds=0)
    evaluation = [record for record in small_release.records() if record.example.split != "train"]
    small_release.write(tmp_path / "no_train", annotated=evaluation)
    with pytest.raises(DataError, match="no train questions"):
        write(tmp_path / "no_train", tmp_path / "out", base)
    assert not (tmp_path / "out").exists()


def test_an_oracle_is_refused(write_release: WriteRelease, tmp_path: Path) -> None:
    release = write_release("release")
    base = stored_base(release, LLM, "prob")
    with pytest.raises(UsageError, match="labels of evaluation questions"):
        write(release, tmp_path / "out", replace(base, about={**base.about, "family": "oracle"}))
    assert not (tmp_path / "out").exists()


def test_a_release_without_train_has_no_base(small_release: ModuleType, tmp_path: Path) -> None:
    evaluation = [record for record in small_release.records() if record.example.split != "train"]
    small_release.write(tmp_path / "no_train", annotated=evaluation)
    with pytest.raises(DataError, match="no train questions"):
        stored_base(tmp_path / "no_train", LLM, "prob")


def test_more_labels_bring_platt_closer_to_all_of_them(write_release: WriteRelease, tmp_path: Path) -> None:
    release = write_release("release")
    base = stored_base(release, LLM, "prob")
    write(release, tmp_path / "all", base, n_labels=None)
    whole = confidences(tmp_path / "all" / "confidences.jsonl")
    gaps = []
    for n_labels in (5, 45):
        write(release, tmp_path / str(n_labels), base, n_labels=n_labels, n_seeds=5)
        found = [confidences(tmp_path / str(n_labels) / f"confidences-seed{seed}.jsonl") for seed in range(5)]
        gaps.append(np.mean([abs(each[key] - whole[key]) for each in found for key in whole]))
    assert gaps[1] < gaps[0]
