import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from honestybench.errors import SubmissionError, UnknownNameError
from honestybench.labels import LABEL_COLUMNS, labels_of_file, labels_of_folder, labels_of_release, write_labels
from honestybench.submission import KnownIds, known_ids_from_labels


@pytest.fixture
def release(small_release: ModuleType, tmp_path: Path) -> Path:
    small_release.write(tmp_path / "release")
    return tmp_path / "release"


def test_labels_of_a_release_leave_train_out(release: Path, small_release: ModuleType) -> None:
    labels = labels_of_release(release)
    records = [record for record in small_release.records() if record.example.split != "train"]
    assert set(labels.columns["id"]) == {record.example.id for record in records}
    verdicts = dict(zip(labels.columns["id"], labels.columns["greedy_correctness"], strict=True))
    assert verdicts == {record.example.id: record.greedy_correctness for record in records}
    assert labels.train == {r.example.id for r in small_release.records() if r.example.split == "train"}
    assert labels.llm == small_release.LLM
    assert set(labels.known.tracks) == {record.example.split for record in records}
    assert labels.tracks == ("in_domain", "ood", "mmlu")


def test_a_folder_gives_the_labels_of_its_release(release: Path, tmp_path: Path) -> None:
    labels = labels_of_release(release)
    write_labels(labels, tmp_path / "llm")
    again = labels_of_folder(tmp_path / "llm")
    assert again.columns == labels.columns and tuple(again.columns) == LABEL_COLUMNS
    assert (again.llm, again.release_id) == (labels.llm, labels.release_id)
    assert sorted(path.name for path in (tmp_path / "llm").iterdir()) == ["labels.parquet", "release.json"]


def test_equal_labels_give_equal_bytes(release: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_labels(labels_of_release(release), tmp_path / name)
    for name in ("labels.parquet", "release.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_altered_labels_are_refused(release: Path, tmp_path: Path) -> None:
    write_labels(labels_of_release(release), tmp_path)
    table = pq.read_table(tmp_path / "labels.parquet")
    pq.write_table(table.slice(1), tmp_path / "labels.parquet")
    with pytest.raises(SubmissionError, match=r"not the one that release\.json names"):
        labels_of_folder(tmp_path)


def test_missing_or_odd_files_are_told_with_a_remedy(release: Path, tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="score-release"):
        labels_of_folder(tmp_path)
    write_labels(labels_of_release(release), tmp_path)
    described = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))
    (tmp_path / "release.json").write_text(json.dumps({**described, "more": 1}), encoding="utf-8")
    with pytest.raises(SubmissionError, match="not as score-release writes it"):
        labels_of_folder(tmp_path)


def test_an_unknown_llm_is_told(release: Path) -> None:
    with pytest.raises(UnknownNameError, match="made-up-llm"):
        labels_of_release(release, "made-up-lm")


def test_anybodys_labels_are_one_track(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "a", "dataset": "mine", "correct": 1}\n{"id": "b", "source": "mine", "correct": null}\n')
    labels = labels_of_file(path)
    assert labels.columns["greedy_correctness"] == [1, None]
    assert labels.tracks == ("labels",) and labels.known.tracks == {"labels": {"a", "b"}}
    assert labels.llm is None


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("release.json", '{"name": "of another program"}', "not one that score-release wrote"),
        ("release.json", "[" * 100_000, "not one that score-release wrote"),
        ("labels.parquet", "", r"without the release\.json"),
    ],
)
def test_foreign_files_stay_as_they_are(name: str, text: str, words: str, release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "made-up-llm"
    folder.mkdir()
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(SubmissionError, match=words) as caught:
        write_labels(labels_of_release(release), folder)
    assert "stays as it is" in str(caught.value)
    assert [(path.name, path.read_text(encoding="utf-8")) for path in folder.iterdir()] == [(name, text)]


def test_the_labels_of_another_llm_stay_as_they_are(release: Path, tmp_path: Path) -> None:
    labels = labels_of_release(release)
    write_labels(replace(labels, llm="other-llm"), tmp_path)
    with pytest.raises(SubmissionError, match=r"labels of another LLM; this one is made-up-llm \(got 'other-llm'\)"):
        write_labels(labels, tmp_path)
    assert labels_of_folder(tmp_path).llm == "other-llm"
    write_labels(replace(labels, llm="other-llm"), tmp_path)


def test_deep_nesting_is_one_line(release: Path, tmp_path: Path) -> None:
    write_labels(labels_of_release(release), tmp_path)
    (tmp_path / "release.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(SubmissionError, match="the labels cannot be read"):
        labels_of_folder(tmp_path)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("greedy_correctness", 7, "row 2: correct must be 1, 0 or null, not 7. Remedy"),
        ("split", "dev", 'row 2: unknown split "dev". Remedy'),
        ("id", None, r"row 2: the id has a label already .*Remedy"),
    ],
)
def test_odd_rows_of_a_folder_are_named(column: str, value: object, words: str, release: Path, tmp_path: Path) -> None:
    write_labels(labels_of_release(release), tmp_path)
    path = tmp_path / "labels.parquet"
    table = pq.read_table(path)
    columns = table.to_pydict()
    columns[column][1] = columns[column][0] if value is None else value
    pq.write_table(pa.table(columns, schema=table.schema), path)
    described = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))
    described["labels_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "release.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(SubmissionError, match=words):
        labels_of_folder(tmp_path)


def test_a_label_file_is_one_track_whatever_its_lines_carry(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    rows = [
        {"id": "a", "source": "x", "correct": 1, "greedy_correctness": 1, "split": "ood"},
        {"id": "b", "source": "x", "correct": 0, "greedy_correctness": 0, "split": "train"},
        {"id": "c", "source": "x", "correct": 0},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert labels_of_file(path).known == KnownIds(tracks={"labels": frozenset("abc")})


def test_train_rows_of_a_label_file_are_no_questions(tmp_path: Path) -> None:
    columns = {"id": ["a", "b"], "source": ["x", "x"], "split": ["ood", "train"]}
    pq.write_table(pa.table({**columns, "greedy_correctness": pa.array([1, 0], pa.int8())}), tmp_path / "l.parquet")
    labels = labels_of_file(tmp_path / "l.parquet")
    assert (
        labels.known
        == known_ids_from_labels(tmp_path / "l.parquet")
        == KnownIds(tracks={"ood": frozenset("a")}, train=frozenset("b"))
    )
    assert labels.columns["id"] == ["a"]
