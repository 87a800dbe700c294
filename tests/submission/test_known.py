"""Which ids a file must hold, from a release, a folder's labels.parquet and anybody's labels."""

import json
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from honestybench.errors import ReleaseError, SubmissionError, UnknownNameError, UsageError
from honestybench.records import SPLITS
from honestybench.schema import ANNOTATED_SCHEMA, annotated_row
from honestybench.shards import ReleaseWriter
from honestybench.submission import Label, known_ids_from_labels, known_ids_from_release, read_labels


def split_of(example_id: str) -> str:
    """The split stands in the id: `<source>-<split>-<12 hex>[-k]`."""
    return example_id.split("-")[1]


def write_two(small_release: ModuleType, out: Path) -> None:
    """The small release with the annotations of two LLMs."""
    with ReleaseWriter(out) as writer:
        for llm in ("llm-a", "llm-b"):
            for split in SPLITS:
                rows = (annotated_row(each) for each in small_release.records() if each.example.split == split)
                writer.write_split(llm, split, rows, ANNOTATED_SCHEMA)
        writer.finish(small_release.content(small_release.records(), "llm-a"), {})


def test_a_release_gives_the_ids_of_each_track_and_the_train_ids(small_release: ModuleType, tmp_path: Path) -> None:
    small_release.write(tmp_path / "release")
    known = known_ids_from_release(tmp_path / "release")
    ids = [example.id for example in small_release.examples()]
    assert known.train == {each for each in ids if split_of(each) == "train"} != set()
    assert list(known.tracks) == ["in_domain", "ood", "mmlu"]
    assert all(known.tracks[track] == {each for each in ids if split_of(each) == track} for track in known.tracks)


def test_one_of_several_llms_must_be_named(small_release: ModuleType, tmp_path: Path) -> None:
    write_two(small_release, tmp_path / "release")
    with pytest.raises(UsageError, match=r"2 LLMs have answered here.*name one with --llm: llm-a, llm-b"):
        known_ids_from_release(tmp_path / "release")
    assert known_ids_from_release(tmp_path / "release", "llm-b").tracks
    for name in ("llm-c", "questions"):
        with pytest.raises(UnknownNameError, match="unknown LLM"):
            known_ids_from_release(tmp_path / "release", name)


def test_a_folder_without_release_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"manifest\.json is missing"):
        known_ids_from_release(tmp_path)


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_anybodys_labels_are_one_track(tmp_path: Path) -> None:
    path = write(
        tmp_path / "labels.jsonl",
        {"id": "a", "source": "x", "correct": 1, "split": "train"},
        {"id": "b", "dataset": "y", "correct": False},
        {"id": "c", "source": "x", "correct": None},
    )
    labels = {"a": Label("labels", "x", 1), "b": Label("labels", "y", 0), "c": Label("labels", "x", None)}
    assert read_labels(path) == labels
    known = known_ids_from_labels(path)
    assert (known.tracks, known.train) == ({"labels": frozenset("abc")}, frozenset())
    table = pa.table({"id": ["a", "b", "c"], "dataset": ["x", "y", "x"], "correct": pa.array([1, 0, None], pa.int64())})
    pq.write_table(table, tmp_path / "labels.parquet")
    assert read_labels(tmp_path / "labels.parquet") == labels


def test_the_labels_of_a_submission_folder_keep_their_tracks(tmp_path: Path) -> None:
    path = tmp_path / "labels.parquet"
    columns = {"id": ["a", "b", "c"], "source": ["x"] * 3, "split": ["ood", "train", "mmlu"], "hops": [1, 2, None]}
    pq.write_table(pa.table({**columns, "greedy_correctness": pa.array([1, 0, None], pa.int8())}), path)
    assert read_labels(path) == {"a": Label("ood", "x", 1), "b": Label("train", "x", 0), "c": Label("mmlu", "x", None)}
    known = known_ids_from_labels(path)
    assert known.tracks == {"ood": {"a"}, "mmlu": {"c"}} and known.train == {"b"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "b", "source": "x", "correct": 2}', "correct must be 1, 0 or null, not 2"),
        ('{"id": "b", "source": "x", "correct": 1.0}', "correct must be 1, 0 or null, not 1.0"),
        ('{"id": "b", "source": "x", "correct": "1"}', 'correct must be 1, 0 or null, not "1"'),
        ('{"id": "b", "source": "x", "correct": [1]}', "correct must be 1, 0 or null, not a list"),
        ('{"id": "b", "source": "x"}', "correct must be 1, 0 or null, not absent"),
        ('{"id": 7, "source": "x", "correct": 1}', "id must be text, not 7"),
        ('{"id": "b", "correct": 1}', "source must be text, not null"),
        ('{"id": "\\ud800", "source": "x", "correct": 1}', "id must be text"),
        ('{"id": "a", "source": "x", "correct": 1}', "the id has a label already (got 'a')"),
        ('{"id": "b", "source": "x", "correct": NaN}', "NOT_JSON_NUMBER"),
        ("[1]", "NOT_OBJECT"),
        ("{", "BAD_JSON"),
    ],
)
def test_a_bad_label_names_its_line(line: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "labels.jsonl", {"id": "a", "source": "x", "correct": 1})
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    with pytest.raises(SubmissionError) as error:
        read_labels(path)
    assert str(error.value).startswith(f"{path}:3: ") and message in str(error.value)


def test_bad_label_files_are_told(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.jsonl")
    with pytest.raises(SubmissionError, match="no label here"):
        read_labels(empty)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(b"PAR1 and no more")
    with pytest.raises(SubmissionError, match="the label file cannot be read"):
        read_labels(cut)
    pq.write_table(pa.table({"id": ["a"], "source": ["x"], "correct": [0.5]}), tmp_path / "float.parquet")
    with pytest.raises(SubmissionError, match=r"float\.parquet, row 1: correct must be 1, 0 or null, not 0\.5"):
        read_labels(tmp_path / "float.parquet")
    columns = {"id": ["a"], "source": ["x"], "split": ["dev"], "greedy_correctness": pa.array([1], pa.int8())}
    pq.write_table(pa.table(columns), tmp_path / "split.parquet")
    with pytest.raises(SubmissionError, match='unknown split "dev"'):
        read_labels(tmp_path / "split.parquet")
