import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honestybench.baselines import BASELINES, lcs_length, rouge_l, write_baselines
from honestybench.errors import DataError, SubmissionError
from honestybench.labels import labels_of_release
from honestybench.submission import read_confidences, read_system

TODAY = date(2026, 1, 31)
words = st.lists(st.sampled_from("abcd"), max_size=9)


def subsequences(of: list[str]) -> Iterator[tuple[str, ...]]:
    for chosen in range(1 << len(of)):
        yield tuple(word for place, word in enumerate(of) if chosen >> place & 1)


@settings(deadline=None, max_examples=150)
@given(words, words)
def test_lcs_is_the_longest_common_subsequence(first: list[str], second: list[str]) -> None:
    """From the definition: all subsequences of both, listed."""
    expected = max(map(len, set(subsequences(first)) & set(subsequences(second))))
    assert lcs_length(first, second) == expected == lcs_length(second, first)


def test_rouge_l_by_hand() -> None:
    # LCS of "police killed the gunman" and "police kill the gunman" (Lin, 2004) is 3 words of 4 and 4: F = 3/4.
    assert rouge_l(["police", "killed", "the", "gunman"], ["police", "kill", "the", "gunman"]) == 0.75
    # Repeated words match one to one: "a a b" and "a b b" share "a b"; counting unique words would give more.
    assert rouge_l(list("aab"), list("abb")) == pytest.approx(4 / 6)
    assert rouge_l([], []) == rouge_l(["a"], []) == 0


def test_rouge_l_of_long_answers_uses_whole_words_of_bits() -> None:
    first = [str(number) for number in range(300)]
    assert lcs_length(first, first[::3]) == 100
    assert lcs_length(first, first[::-1]) == 1


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


def test_the_folders_are_ordinary_submissions(small_release: ModuleType, tmp_path: Path) -> None:
    run(small_release, tmp_path)
    known = labels_of_release(tmp_path / "release").known
    for name in BASELINES:
        folder = tmp_path / "submissions" / name
        system = read_system(folder / "system.yaml")
        assert (system.llm, system.date, system.method_class) == (small_release.LLM, TODAY, "training_free")
        result = read_confidences(folder / "confidences.jsonl", known)
        codes = [fault.code for fault in result.faults]
        # All answers of the small release share the same words, so its lexical consistency is one number too.
        assert codes == (["CONSTANT"] if name in ("constant", "consistency_lexical") else [])


def test_no_evaluation_label_is_used(small_release: ModuleType, tmp_path: Path) -> None:
    def swapped(row: dict[str, object]) -> dict[str, object]:
        label = row["greedy_correctness"]
        keep = row["split"] == "train" or label is None
        return row if keep else {**row, "greedy_correctness": 1 - label, "sampling_correctness": [None] * 20}

    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert run(small_release, tmp_path / "a") == run(small_release, tmp_path / "b", change=swapped)


def test_without_train_the_fall_backs_are_told(small_release: ModuleType, tmp_path: Path) -> None:
    records = [record for record in small_release.records() if record.example.split != "train"]
    found = run(small_release, tmp_path, annotated=records)
    known = [record.self_consistency for record in records if record.self_consistency is not None]
    (value,) = set(found["constant"].values())
    assert value == pytest.approx(sum(known) / len(known))
    system = read_system(tmp_path / "submissions" / "constant" / "system.yaml")
    assert (system.labels_used, system.sees, system.samples_per_question) == (0, "samples", 20)
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
    with pytest.raises(SubmissionError, match=r"n_prob: the folder holds no system of .* for made-up-llm.*--out"):
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
