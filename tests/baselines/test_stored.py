import json
import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

from honestybench.baselines import BASELINES, stored_confidences, write_baselines
from honestybench.errors import DataError, SubmissionError, UnknownNameError, UsageError
from honestybench.labels import labels_of_release
from honestybench.submission import read_confidences, read_system

TODAY = date(2026, 1, 31)


def run(small_release: ModuleType, out: Path, **options: object) -> dict[str, dict[str, float]]:
    small_release.write(out / "release", **options)
    write_baselines(out / "release", small_release.LLM, out / "submissions", TODAY)
    found = {}
    for name in BASELINES:
        lines = (out / "submissions" / name / "confidences.jsonl").read_text(encoding="utf-8").splitlines()
        found[name] = {row["id"]: row["confidence"] for row in map(json.loads, lines)}
    return found


def test_formulas_on_the_small_release(small_release: ModuleType, tmp_path: Path) -> None:
    found = run(small_release, tmp_path)
    records = {record.example.id: record for record in small_release.records()}
    train = [record for record in records.values() if record.example.split == "train"]
    known = [r.self_consistency for r in train if r.self_consistency is not None]
    labels = [r.greedy_correctness for r in train if r.greedy_correctness is not None]
    for example_id in found["prob"]:
        record = records[example_id]
        assert record.example.split != "train"
        logprobs = record.greedy.logprobs
        assert found["prob"][example_id] == pytest.approx(math.exp(sum(logprobs)))
        assert found["n_prob"][example_id] == pytest.approx(math.exp(sum(logprobs) / len(logprobs)))
        # Every sampled answer is "answer <number>": two words, of which one or, once in twenty, two are equal.
        assert found["consistency_lexical"][example_id] == pytest.approx((1 + 19 * 0.5) / 20)
        expected = record.self_consistency
        assert found["consistency_semantic"][example_id] == pytest.approx(
            sum(known) / len(known) if expected is None else expected
        )
        assert found["constant"][example_id] == pytest.approx(sum(labels) / len(labels))
        assert found["min_prob"][example_id] == pytest.approx(math.exp(min(logprobs)))
        assert found["oracle"][example_id] == pytest.approx(record.sample_accuracy)
        # "answer <number>" differs in every sample, so those that the judge found inconsistent are sets of one.
        same = sum(verdict == 1 for verdict in record.consistency_judgement)
        same += record.consistency_judgement[0] is None  # The first sample is the greedy answer.
        n_sets = 20 - same + (same > 0)
        assert found["n_semantic_sets"][example_id] == pytest.approx(1 - (n_sets - 1) / 19)


def test_the_folders_are_ordinary_submissions(small_release: ModuleType, tmp_path: Path) -> None:
    run(small_release, tmp_path)
    known = labels_of_release(tmp_path / "release").known
    for name in BASELINES:
        folder = tmp_path / "submissions" / name
        system = read_system(folder / "system.yaml")
        method_class = {"constant": "calibration", "oracle": "other"}.get(name, "training_free")
        assert (system.llm, system.date, system.method_class) == (small_release.LLM, TODAY, method_class)
        assert system.is_ranked == (name != "oracle")
        result = read_confidences(folder / "confidences.jsonl", known)
        codes = [fault.code for fault in result.faults]
        # All answers of the small release share the same words, so its lexical consistency is one number too.
        assert codes == (["CONSTANT"] if name in ("constant", "consistency_lexical") else [])


def test_no_evaluation_label_is_used(small_release: ModuleType, tmp_path: Path) -> None:
    def swapped(row: dict[str, object]) -> dict[str, object]:
        label = row["greedy_correctness"]
        keep = row["split"] == "train" or label is None
        return row if keep else {**row, "greedy_correctness": 1 - label, "sample_accuracy": None}

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    before, after = run(small_release, tmp_path / "a"), run(small_release, tmp_path / "b", change=swapped)
    assert [name for name in BASELINES if before[name] != after[name]] == ["oracle"]


def test_without_train_the_fall_backs_are_told(small_release: ModuleType, tmp_path: Path) -> None:
    records = [record for record in small_release.records() if record.example.split != "train"]
    found = run(small_release, tmp_path, annotated=records)
    known = [record.self_consistency for record in records if record.self_consistency is not None]
    (value,) = set(found["constant"].values())
    assert value == pytest.approx(sum(known) / len(known))
    system = read_system(tmp_path / "submissions" / "constant" / "system.yaml")
    assert (system.method_class, system.labels_used) == ("training_free", 0)
    assert (system.sees, system.samples_per_question) == ("samples", 20)
    assert "mean self-consistency of the evaluation questions" in system.description


def test_null_consistencies_are_counted_in_the_notes(small_release: ModuleType, tmp_path: Path) -> None:
    records = [
        replace(record, consistency_judgement=(None,) * 20) if record.example.split == "ood" else record
        for record in small_release.records()
    ]
    nulls = sum(r.self_consistency is None for r in records if r.example.split != "train")
    run(small_release, tmp_path, annotated=records)
    system = read_system(tmp_path / "submissions" / "consistency_semantic" / "system.yaml")
    assert f" {nulls} questions without a parsed verdict got the mean of the train questions." in system.description


def test_the_oracle_tells_the_labels_that_it_reads(small_release: ModuleType, tmp_path: Path) -> None:
    evaluated = [r for r in small_release.records() if r.example.split != "train"]
    n_train = len(small_release.records()) - len(evaluated)
    run(small_release, tmp_path)
    told = tmp_path / "submissions" / "oracle" / "system.yaml"
    assert read_system(told).labels_used == len(evaluated)
    # A question without a verdict gets the mean of train, whose labels then count too.
    one_null = [
        replace(record, sampling_correctness=(None,) * 20) if record is evaluated[0] else record
        for record in [*evaluated, *(r for r in small_release.records() if r.example.split == "train")]
    ]
    one_null.sort(key=lambda record: (record.example.source, record.example.id))
    train = [r.sample_accuracy for r in one_null if r.example.split == "train"]
    found = run(small_release, tmp_path, annotated=one_null)
    assert found["oracle"][evaluated[0].example.id] == pytest.approx(sum(train) / n_train)
    assert read_system(told).labels_used == len(evaluated) - 1 + n_train
    assert " 1 questions without a parsed verdict got the mean of the train questions." in read_system(told).description


def test_any_split_is_computed_in_the_order_of_the_release(small_release: ModuleType, tmp_path: Path) -> None:
    written = run(small_release, tmp_path)
    release, told = tmp_path / "release", []
    rows = stored_confidences(release, small_release.LLM, ["prob", "random"], "ood", lambda *state: told.append(state))
    assert list(rows) == ["prob", "random"]
    ids = [row.id for row in rows["prob"]]
    assert ids == [r.example.id for r in small_release.records() if r.example.split == "ood"]
    assert told == [(len(ids), len(ids))]
    for name, found in rows.items():
        assert {row.id: row.confidence for row in found} == {
            example_id: written[name][example_id] for example_id in ids
        }
    train = stored_confidences(release, small_release.LLM, BASELINES, "train")
    assert {len(of_one) for of_one in train.values()} == {
        sum(record.example.split == "train" for record in small_release.records())
    }


def test_unknown_names_are_refused(small_release: ModuleType, tmp_path: Path) -> None:
    small_release.write(tmp_path)
    with pytest.raises(UnknownNameError, match=r"unknown baseline.*did you mean 'prob'"):
        stored_confidences(tmp_path, small_release.LLM, ["prop"], "train")
    with pytest.raises(UnknownNameError, match="unknown split"):
        stored_confidences(tmp_path, small_release.LLM, ["prob"], "validation")
    with pytest.raises(UsageError, match="no baseline is named"):
        write_baselines(tmp_path, small_release.LLM, tmp_path / "out", TODAY, [])


def test_a_positive_log_probability_is_refused(small_release: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="log-probability is above 0"):
        run(small_release, tmp_path, change=lambda row: {**row, "greedy_cumulative_logprob": 0.5})


def test_the_answer_a_is_no_empty_answer(small_release: ModuleType, tmp_path: Path) -> None:
    """Normalisation drops articles, and the choice "A" would vanish with them."""

    def change(row: dict[str, object]) -> dict[str, object]:
        return {**row, "greedy_response": " A", "sampling_response": ["A"] * 15 + ["B."] * 4 + [""]}

    found = run(small_release, tmp_path, change=change)
    assert set(found["consistency_lexical"].values()) == {0.75}


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("HonestyBench contributors", "Somebody"),
        lambda text: text.replace("llm: made-up-llm", "llm: other-llm"),
        lambda text: "no system",
        lambda text: None,
    ],
)
def test_a_folder_of_somebody_else_stays_as_it_is(
    change: Callable[[str], str | None], small_release: ModuleType, tmp_path: Path
) -> None:
    run(small_release, tmp_path)
    system = tmp_path / "submissions" / "n_prob" / "system.yaml"
    text = change(system.read_text(encoding="utf-8"))
    system.unlink() if text is None else system.write_text(text, encoding="utf-8")
    before = contents(tmp_path / "submissions")
    told = r"n_prob: the folder holds no system of HonestyBench contributors for made-up-llm.*--out"
    with pytest.raises(SubmissionError, match=told):
        write_baselines(tmp_path / "release", small_release.LLM, tmp_path / "submissions", TODAY)
    assert contents(tmp_path / "submissions") == before


def test_a_linked_folder_is_not_written_through(small_release: ModuleType, tmp_path: Path) -> None:
    run(small_release, tmp_path)
    folder = tmp_path / "submissions" / "prob"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SubmissionError, match="holds no system"):
        write_baselines(tmp_path / "release", small_release.LLM, tmp_path / "submissions", TODAY)


def test_equal_input_gives_equal_bytes_on_another_day(small_release: ModuleType, tmp_path: Path) -> None:
    run(small_release, tmp_path)
    before = contents(tmp_path / "submissions")
    later = date(2026, 2, 28)
    write_baselines(tmp_path / "release", small_release.LLM, tmp_path / "submissions", later)
    assert contents(tmp_path / "submissions") == before
    system = tmp_path / "submissions" / "prob" / "system.yaml"
    system.write_text(system.read_text(encoding="utf-8").replace("Sequence", "Old"), encoding="utf-8")
    write_baselines(tmp_path / "release", small_release.LLM, tmp_path / "submissions", later)
    assert (read_system(system).name, read_system(system).date) == ("Sequence probability", later)
