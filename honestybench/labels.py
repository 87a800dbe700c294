"""The labels that scoring needs: read from a release, a submissions/<llm>/ folder or anybody's file, and written."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from honestybench.errors import SubmissionError
from honestybench.records import SPLITS, TRACKS, canonical_json
from honestybench.release import only_llm, read_manifest
from honestybench.schema import ANNOTATED_SCHEMA
from honestybench.shards import UNREADABLE, file_sha256, read_table
from honestybench.storage import refused_writes
from honestybench.submission.jsonl import open_file
from honestybench.submission.known import LABELS_TRACK, KnownIds, read_labels

LABELS_NAME = "labels.parquet"
RELEASE_NAME = "release.json"
LABEL_COLUMNS = (
    *("id", "source", "split", "greedy_correctness", "self_consistency", "flags", "cluster", "source_row"),
    *("hops", "relation", "popularity", "answer_type", "subject"),
)
LABELS_SCHEMA = pa.schema([ANNOTATED_SCHEMA.field(name) for name in LABEL_COLUMNS])
"""The columns of labels.parquet: one row for each evaluation question, by track, source and id."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Labels:
    """The evaluation questions of one LLM, or of anybody, with their labels.

    `columns` holds at least id, source, split (the track) and greedy_correctness (1, 0 or None), all of one
    length. `train` are ids that no confidence file may hold. `llm` and `release_id` are None for a label file.
    """

    columns: Mapping[str, list[object]]
    train: frozenset[str] = frozenset()
    llm: str | None = None
    release_id: str | None = None

    @cached_property
    def known(self) -> KnownIds:
        """The ids that a confidence file must hold, by track."""
        ids: dict[str, set[str]] = {}
        for example_id, track in zip(self.columns["id"], self.columns["split"], strict=True):
            ids.setdefault(str(track), set()).add(str(example_id))
        return KnownIds(
            tracks={track: frozenset(ids[track]) for track in self.tracks if track in ids}, train=self.train
        )

    @property
    def tracks(self) -> tuple[str, ...]:
        """The tracks of the benchmark, or the one track of a label file."""
        return (LABELS_TRACK,) if LABELS_TRACK in self.columns["split"] else TRACKS


def labels_of_release(release: Path, llm: str | None = None) -> Labels:
    """Read the labels of a release; `llm` may be None where one LLM has answered.

    Raises: UsageError or UnknownNameError for the LLM, ReleaseError for a damaged release.
    """
    manifest, name = read_manifest(release), llm or only_llm(release)
    tracks = [split for split in manifest.splits(name) if split in TRACKS]
    tables = [read_table(release, name, split, LABEL_COLUMNS) for split in tracks]
    train = read_table(release, name, "train", ("id",))["id"].to_pylist() if "train" in manifest.splits(name) else ()
    return Labels(
        columns=pa.concat_tables([LABELS_SCHEMA.empty_table(), *tables]).to_pydict(),
        train=frozenset(train),
        llm=name,
        release_id=manifest.release_id,
    )


def labels_of_folder(folder: Path) -> Labels:
    """Read the labels of a submissions/<llm>/ folder. Raises: SubmissionError when they are not what was written."""
    path, remedy = folder / LABELS_NAME, "write both again with `honestybench score-release`"
    try:
        described = _read_described(folder)
        with open_file(path):
            digest = file_sha256(path)
        if described["labels_sha256"] != digest:
            what = f"{LABELS_NAME} is not the one that {RELEASE_NAME} names"
            raise SubmissionError(what, where=str(folder), remedy=remedy)
        table = pq.read_table(path)
    except (ValueError, RecursionError, *UNREADABLE) as error:
        raise SubmissionError(f"the labels cannot be read: {error}", where=str(folder), remedy=remedy) from error
    if not table.schema.equals(LABELS_SCHEMA):
        raise SubmissionError("the file has other columns than labels have", where=str(path), remedy=remedy)
    read_labels(path)  # Names the row of a repeated id, an odd label or split.
    return Labels(columns=table.to_pydict(), llm=described["llm"], release_id=described["release_id"])


def labels_of_file(path: Path) -> Labels:
    """Read anybody's labels (see `submission.known.read_labels`). Raises: SubmissionError; OSError."""
    labels = read_labels(path)
    evaluated = {example_id: label for example_id, label in labels.items() if label.track != "train"}
    columns: dict[str, list[object]] = {
        "id": list(evaluated),
        "source": [label.source for label in evaluated.values()],
        "split": [label.track for label in evaluated.values()],
        "greedy_correctness": [label.correct for label in evaluated.values()],
    }
    return Labels(columns=columns, train=frozenset(labels.keys() - evaluated.keys()))


def refuse_foreign(folder: Path, llm: str) -> None:
    """Refuse to write into a folder that belongs to another LLM or to somebody else.

    A folder may be missing, hold no labels yet, or hold the labels of this LLM. Raises: SubmissionError.
    """
    remedy = f"it stays as it is; write to a new or empty folder, such as submissions/{llm}"
    if not (folder / RELEASE_NAME).exists():
        if (folder / LABELS_NAME).exists():
            what = f"{LABELS_NAME} stands here without the {RELEASE_NAME} that names it"
            raise SubmissionError(what, where=str(folder), remedy=f"{remedy}, or move that file away")
        return
    try:
        found = _read_described(folder)["llm"]
    except (OSError, ValueError, RecursionError, SubmissionError) as error:
        what = f"{RELEASE_NAME} is not one that score-release wrote"
        raise SubmissionError(what, where=str(folder), remedy=remedy) from error
    if found != llm:
        what = f"the folder holds the labels of another LLM; this one is {llm}"
        raise SubmissionError(what, where=str(folder), value=found, remedy=remedy)


def write_labels(labels: Labels, folder: Path) -> None:
    """Write labels.parquet and, last, release.json into a submissions/<llm>/ folder; equal labels give equal bytes.

    `labels` are those of a release. Raises: SubmissionError where the folder is foreign; StorageError.
    """
    table = pa.table(dict(labels.columns), schema=LABELS_SCHEMA)
    order = sorted(
        range(table.num_rows),
        key=lambda row: (
            SPLITS.index(str(labels.columns["split"][row])),
            labels.columns["source"][row],
            labels.columns["id"][row],
        ),
    )
    refuse_foreign(folder, str(labels.llm))
    aside, described_aside = folder / f"{LABELS_NAME}.partial", folder / f"{RELEASE_NAME}.partial"
    with refused_writes(folder):
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.take(order), aside, compression="zstd", compression_level=9)
        os.replace(aside, folder / LABELS_NAME)
        described = _describe(str(labels.llm), str(labels.release_id), file_sha256(folder / LABELS_NAME))
        described_aside.write_text(json.dumps(json.loads(canonical_json(described)), indent=2) + "\n")
        os.replace(described_aside, folder / RELEASE_NAME)


def _read_described(folder: Path) -> dict[str, str]:
    """Read release.json. Raises: SubmissionError for other keys; OSError, ValueError, RecursionError."""
    with open_file(folder / RELEASE_NAME) as file:
        described = json.loads(file.read())
    if not isinstance(described, dict) or described.keys() != _describe("", "", "").keys():
        raise SubmissionError(
            "the file is not as score-release writes it",
            where=str(folder / RELEASE_NAME),
            remedy="write it again with `honestybench score-release`",
        )
    return described


def _describe(llm: str, release_id: str, labels_sha256: str) -> dict[str, str | None]:
    """The content of release.json; `repository` and `revision` are null for a release that no hub holds."""
    return {
        "llm": llm,
        "release_id": release_id,
        "repository": None,
        "revision": None,
        "labels_sha256": labels_sha256,
    }
