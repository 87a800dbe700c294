"""Recalibrate any confidence with labelled train questions; each result is an ordinary submission folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from honestybench.baselines import describe, read_background, stored_confidences
from honestybench.errors import DataError, SubmissionError, UsageError
from honestybench.recalibrate.maps import METHODS, Floats, IsotonicMap, Map, SigmoidMap, fit
from honestybench.records import TRACKS, ConfidenceRow
from honestybench.release import read_manifest
from honestybench.shards import iter_batches
from honestybench.submission import KnownIds, known_ids_from_release, read_confidences, read_system
from honestybench.submission.system import ORACLE_FAMILY
from honestybench.submission.write import write_system
from honestybench.subsets import label_order, label_subset

__all__ = [
    "METHODS",
    "Base",
    "IsotonicMap",
    "Map",
    "Recalibrated",
    "SigmoidMap",
    "drawn_ids",
    "fit",
    "stored_base",
    "submitted_base",
    "write_recalibrated",
]

DRAWN, REST = "labelled train questions", "other train questions"
"""What a train file must hold, and what it may hold in full or not at all."""

INHERITED = ("name", "family", "sees", "labels_used", "samples_per_question", "extra_passes", "selected_on")


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The confidence that is mapped.

    `of` names its folder; `about` has the keys INHERITED of its system.yaml; `train` maps every train id to a
    confidence, and `evaluation` holds the rows that will be mapped.
    """

    of: str
    about: Mapping[str, object]
    train: Mapping[str, float]
    evaluation: Sequence[ConfidenceRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibrated:
    """What was written: labels behind each map, train questions without a label, rows, files, constant maps."""

    n_labels: int
    n_unlabelled: int
    n_rows: int
    n_files: int
    n_constant: int


def stored_base(release: Path, llm: str, name: str) -> Base:
    """Take one of the BASELINES, computed from the stored columns. Raises: ReleaseError, DataError."""
    _need_train(release, llm)
    splits = [split for split in read_manifest(release).splits(llm) if split in TRACKS]
    about = describe(name, read_background(release, llm))
    return Base(
        of=name,
        about={key: about[key] for key in INHERITED},
        train={row.id: row.confidence for row in stored_confidences(release, llm, (name,), "train")[name]},
        evaluation=[row for split in splits for row in stored_confidences(release, llm, (name,), split)[name]],
    )


def drawn_ids(release: Path, llm: str, n_labels: int | None, n_seeds: int) -> frozenset[str]:
    """List the train questions whose labels the maps of all seeds are fitted on. Raises: UsageError, DataError."""
    labels, sources, _ = _train_labels(release, llm)
    wanted = len(labels) if n_labels is None else n_labels
    return frozenset(each for seed in range(n_seeds) for each in label_subset(label_order(sources, seed), wanted))


def submitted_base(release: Path, llm: str, confidences: Path, train_confidences: Path, needed: frozenset[str]) -> Base:
    """Take a confidence file of a submission folder, and such a file for train questions.

    The train file holds the `needed` ids (see `drawn_ids`), or those of all train questions. The folder's
    system.yaml says what the confidence saw and used. Raises: SubmissionError for a faulty file, or a
    system.yaml of another LLM or release; OSError.
    """
    folder, known = confidences.absolute().parent, known_ids_from_release(release, llm)
    if not (folder / "system.yaml").is_file():
        what = "beside the confidences there is no system.yaml, which says what they saw and used"
        raise SubmissionError(what, where=str(folder), remedy="write one as docs/submitting.md describes")
    system, release_id = read_system(folder / "system.yaml"), read_manifest(release).release_id
    if (system.llm, system.release) != (llm, release_id):
        raise SubmissionError(
            f"the system answers for {system.llm} of release {system.release}, not for {llm} of {release_id}",
            where=str(folder),
            remedy="name the release that it was made for",
        )
    return Base(
        of=folder.name,
        about={key: getattr(system, key) for key in INHERITED},
        train=_read(train_confidences, KnownIds(tracks={DRAWN: needed, REST: known.train - needed})),
        evaluation=[ConfidenceRow(id=key, confidence=value) for key, value in _read(confidences, known).items()],
    )


def write_recalibrated(
    release: Path, llm: str, base: Base, method: str, folder: Path, *, n_labels: int | None, n_seeds: int, today: date
) -> Recalibrated:
    """Fit a map on the first `n_labels` of each seed's label order and write the mapped confidences as a submission.

    Labels are the greedy correctness of train questions; those without one are left out before the order is drawn.
    There is one file for each seed from 0, but only one with all labels (`n_labels` None), which no seed changes.
    Raises: UsageError for too many labels, no seed, or an oracle; ReleaseError; SubmissionError where `folder` is
    somebody else's.
    """
    if n_seeds < 1:
        raise UsageError("at least one subset of the labels must be drawn", value=n_seeds)
    if base.about["family"] == ORACLE_FAMILY:
        raise UsageError("what reads labels of evaluation questions is not recalibrated", where=base.of)
    labels, sources, n_unlabelled = _train_labels(release, llm)
    wanted = len(labels) if n_labels is None else n_labels
    maps: dict[int | None, Map] = {}
    for seed in (None,) if wanted == len(labels) else range(n_seeds):
        ids = label_subset(label_order(sources, seed or 0), wanted)
        maps[seed] = fit(method, [base.train[each] for each in ids], [labels[each] for each in ids])
    before = np.array([row.confidence for row in base.evaluation])
    n_constant = sum(each.is_constant for each in maps.values())
    about = {"llm": llm, "release": read_manifest(release).release_id}
    rows = write_system(
        folder,
        {**about, **_describe(base, method, wanted, len(maps), n_constant)},
        {seed: _with_confidences(base.evaluation, each(before)) for seed, each in maps.items()},
        today=today,
    )
    return Recalibrated(
        n_labels=wanted, n_unlabelled=n_unlabelled, n_rows=rows, n_files=len(maps), n_constant=n_constant
    )


def _describe(base: Base, method: str, n_labels: int, n_maps: int, n_constant: int) -> dict[str, object]:
    """Write what system.yaml says; labels that the confidence itself used come on top, shared or not."""
    how, used = METHODS[method].name, int(str(base.about["labels_used"]))
    notes = [f"{base.about['name']} after {how} on {n_labels} labelled train questions."]
    if n_maps > 1:
        notes.append(f"The {n_maps} seeds draw other questions.")
    if n_constant:
        notes.append(f"{n_constant} of {n_maps} maps are constant: on these labels no rising map is better.")
    if used:
        notes.append(f"The confidence itself used {used} labels, counted on top.")
    return {
        **base.about,
        "name": f"{base.about['name']}, {how}",
        "family": f"{method}({base.of})",
        "method_class": "calibration",
        "labels_used": used + n_labels,
        "description": " ".join(notes),
    }


def _with_confidences(rows: Sequence[ConfidenceRow], confidences: Floats) -> list[ConfidenceRow]:
    return [ConfidenceRow(id=row.id, confidence=value) for row, value in zip(rows, confidences.tolist(), strict=True)]


def _need_train(release: Path, llm: str) -> None:
    if "train" not in read_manifest(release).splits(llm):
        raise DataError("the release has no train questions to take labels from", where=str(release))


def _train_labels(release: Path, llm: str) -> tuple[dict[str, int], dict[str, str], int]:
    """Read labels and sources of the labelled train questions by id, and count those without a label."""
    _need_train(release, llm)
    labels: dict[str, int] = {}
    sources: dict[str, str] = {}
    n_rows = 0
    for batch in iter_batches(release, llm, "train", ("id", "source", "greedy_correctness")):
        for row in batch.to_pylist():
            n_rows += 1
            if row["greedy_correctness"] is not None:
                labels[row["id"]], sources[row["id"]] = row["greedy_correctness"], row["source"]
    return labels, sources, n_rows - len(labels)


def _read(path: Path, known: KnownIds) -> dict[str, float]:
    result = read_confidences(path, known)
    if result.confidences is None:
        faults = "; ".join(str(fault) for fault in result.faults)
        raise SubmissionError(f"rejected, {result.n_faults} faults: {faults}", where=str(path))
    return result.confidences
