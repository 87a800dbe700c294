"""Which ids a confidence file must hold, and their labels: from a release or from a file of labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from honestybench.errors import SubmissionError, UnknownNameError
from honestybench.records import SPLITS, TRACKS
from honestybench.release import QUESTIONS, only_llm, read_manifest
from honestybench.shards import UNREADABLE, read_table
from honestybench.submission.faults import Fault, shown
from honestybench.submission.jsonl import open_file, read_objects

LABELS_TRACK = "labels"
"""The one track of a label file that knows no splits."""

OWN_COLUMNS = {"id", "source", "split", "greedy_correctness"}
"""What tells the labels.parquet of a submissions/<llm>/ folder from other Parquet files of labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownIds:
    """The ids of each track, all or none of which a file must hold, and the train ids, which it must not."""

    tracks: Mapping[str, frozenset[str]]
    train: frozenset[str] = frozenset()


class Label(NamedTuple):
    """One labelled question; `track` is its split, or LABELS_TRACK; `correct` is 1, 0 or None (unparsed)."""

    track: str
    source: str
    correct: int | None


def known_ids_from_release(release: Path, llm: str | None = None) -> KnownIds:
    """Take the ids of an LLM's config of a release; `llm` may be None where there is only one.

    Raises: UsageError, UnknownNameError for the LLM; ReleaseError for a damaged release.
    """
    llms = [name for name in read_manifest(release).configs if name != QUESTIONS]
    if llm is not None and llm not in llms:
        raise UnknownNameError("LLM", llm, llms)
    table = read_table(release, llm or only_llm(release), columns=("id", "split"))
    return _by_split(zip(table["id"].to_pylist(), table["split"].to_pylist(), strict=True))


def known_ids_from_labels(path: Path) -> KnownIds:
    """Take the ids of a label file (see `read_labels`). Raises: SubmissionError; OSError."""
    return _by_split((example_id, label.track) for example_id, label in read_labels(path).items())


def read_labels(path: Path) -> dict[str, Label]:
    """Read labels by id: JSON Lines `{"id", "source" (or "dataset"), "correct": 1 | 0 | null}`, or such Parquet.

    The labels.parquet of a submission folder is read with its splits as tracks; any other file is one track.
    Raises: SubmissionError naming the line (the row of a Parquet file, from 1); OSError.
    """
    with open_file(path) as file:
        parquet = file.read(4) == b"PAR1"
    labels: dict[str, Label] = {}
    for where, row in _parquet_rows(path) if parquet else _json_rows(path):
        # The lines of anybody's file may carry the benchmark's keys; only its own Parquet file has tracks.
        track = row.get("split") if parquet and "greedy_correctness" in row else LABELS_TRACK
        example_id, label = _label(row, track, where)
        if example_id in labels:
            raise SubmissionError(
                "the id has a label already", where=where, value=example_id, remedy="keep one row for each id"
            )
        labels[example_id] = label
    if not labels:
        raise SubmissionError("no label here", where=str(path), remedy=_REMEDY)
    return labels


_REMEDY = 'write lines like {"id": "q-1", "source": "mine", "correct": 1}'


def _by_split(pairs: Iterator[tuple[str, str]]) -> KnownIds:
    ids: dict[str, set[str]] = {}
    for example_id, track in pairs:
        ids.setdefault(track, set()).add(example_id)
    tracks = {track: frozenset(ids[track]) for track in (*TRACKS, LABELS_TRACK) if track in ids}
    return KnownIds(tracks=tracks, train=frozenset(ids.get("train", ())))


def _json_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for found in read_objects(path):
        if isinstance(found, Fault):
            if found.outcome == "reject":
                where = str(path) if found.line is None else f"{path}:{found.line}"
                raise SubmissionError(f"{found.code}: {found.message}", where=where)
        else:
            yield f"{path}:{found[0]}", found[1]


def _parquet_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        with pq.ParquetFile(path) as file:
            names = set(file.schema_arrow.names)
            own = names >= OWN_COLUMNS
            wanted = OWN_COLUMNS if own else names & {"id", "source", "dataset", "correct"}
            rows = file.read(columns=sorted(wanted)).to_pylist()
    except UNREADABLE as error:
        raise SubmissionError(f"the label file cannot be read: {error}", where=str(path)) from error
    for number, row in enumerate(rows, 1):
        yield f"{path}, row {number}", {**row, "correct": row["greedy_correctness"]} if own else row


def _label(row: dict[str, Any], track: object, where: str) -> tuple[str, Label]:
    example_id, source = row.get("id"), row.get("source", row.get("dataset"))
    for name, value in (("id", example_id), ("source", source)):
        if not isinstance(value, str) or not value.isprintable():
            raise SubmissionError(f"{name} must be text, not {shown(value)}", where=where, remedy=_REMEDY)
    if "correct" not in row or row["correct"] not in (0, 1, None) or isinstance(row["correct"], float):
        told = shown(row["correct"]) if "correct" in row else "absent"
        raise SubmissionError(f"correct must be 1, 0 or null, not {told}", where=where, remedy=_REMEDY)
    if track not in (*SPLITS, LABELS_TRACK):
        raise SubmissionError(f"unknown split {shown(track)}", where=where, remedy=f"use one of {', '.join(SPLITS)}")
    return str(example_id), Label(str(track), str(source), None if row["correct"] is None else int(row["correct"]))
