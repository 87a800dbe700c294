"""Score confidences: arrays, a file, a submission, or all submissions of an LLM. Here alone records meet arrays."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from honestybench.errors import SubmissionError
from honestybench.labels import Labels, labels_of_folder
from honestybench.metrics.table import checked
from honestybench.scorecard import SCORER_VERSION, Comparison, ScoreCard, ScoreTable, SeedSpread, TrackScore
from honestybench.scoring.answers import AnswerSet, estimate_metrics, score_table, simulate_gaps
from honestybench.scoring.comparison import compare_track
from honestybench.scoring.labelled import LabelledTrack, labelled_tracks
from honestybench.scoring.submitted import Submitted, lone_file, read_folder, read_folders
from honestybench.scoring.track import empty_track, headline, score_track
from honestybench.submission import ReadResult, read_confidences

TOO_GOOD = 0.995
"""A headline above this is flagged: labels may have leaked."""

FLAGS_NOT_COMPUTED = ("label_copy", "near_duplicate", "order_dependent")
"""Flags that a card will have: their absence from `flags` says nothing yet."""

NOT_SUBMITTED = "not submitted"


def score(confidence: ArrayLike, correct: ArrayLike) -> ScoreTable:
    """Score confidences in [0, 1] against labels 0 and 1 (or booleans), one for one.

    Returns `n`, `n_correct`, `flags`, `metrics` by name, each a Value with its 95 % interval where one is
    known, and `ece_10_null`. What is undefined is None with a reason. Raises: DataError.
    """
    values, labels = checked(confidence, correct)
    zeros = np.zeros(values.size, dtype=np.int64)
    answers = AnswerSet(confidences=(values,), correct=labels.astype(np.int64), source=zeros, ranks=None)
    return score_table(answers, estimate_metrics(answers), simulate_gaps(answers, "arrays"))


def score_file(path: Path, labels: Labels) -> ScoreCard:
    """Score a confidence file against labels. Raises: SubmissionError with the file's faults; OSError."""
    return score_read(path, read_confidences(path, labels.known), labels)


def score_read(path: Path, result: ReadResult, labels: Labels) -> ScoreCard:
    """Score a confidence file that was read against the ids of `labels`. Raises: SubmissionError; OSError."""
    return _score(lone_file(path, result), labels, labelled_tracks(labels))


def score_submission(folder: Path) -> ScoreCard:
    """Score a submissions/<llm>/<system>/ folder. Raises: SubmissionError; OSError."""
    labels = _labels_of(Path(os.path.abspath(folder)).parent)
    return _score(read_folder(folder, labels), labels, labelled_tracks(labels))


def score_all(llm_folder: Path) -> tuple[dict[str, ScoreCard], Comparison]:
    """Score every system of a submissions/<llm>/ folder, and compare those that are ranked.

    Raises: RejectedError with the faults of all its systems; SubmissionError; OSError.
    """
    labels = _labels_of(llm_folder)
    tracks = labelled_tracks(labels)
    cards: dict[str, ScoreCard] = {}
    answers: dict[str, dict[str, AnswerSet]] = {track: {} for track in tracks}
    for submitted in read_folders(llm_folder, labels):
        name = str(submitted.system)
        cards[name] = _score(submitted, labels, tracks)
        for track in submitted.tracks if submitted.is_ranked else ():
            answers[track][name] = tracks[track].answers(submitted.confidences)
    compared = {
        track: compare_track(of_track, {name: cards[name]["tracks"][track]["headline"]["value"] for name in of_track})
        for track, of_track in answers.items()
        if of_track
    }
    return cards, Comparison(
        scorer_version=SCORER_VERSION, llm=str(labels.llm), release_id=labels.release_id, tracks=compared
    )


def _labels_of(llm_folder: Path) -> Labels:
    """Read the labels of a submissions/<llm>/ folder, which has the LLM's name."""
    labels, name = labels_of_folder(llm_folder), Path(os.path.abspath(llm_folder)).name
    if name != labels.llm:
        what = f"the folder is named otherwise than its LLM, {labels.llm}"
        raise SubmissionError(what, where=str(llm_folder), value=name, remedy="rename it")
    return labels


def _score(submitted: Submitted, labels: Labels, tracks: Mapping[str, LabelledTrack]) -> ScoreCard:
    """Score what was read, against the labelled tracks of the same labels."""
    scored = {
        track: score_track(tracks[track], tracks[track].answers(submitted.confidences))
        if track in submitted.tracks
        else empty_track(
            NOT_SUBMITTED if track in tracks else "the release has no such questions",
            len(labels.known.tracks.get(track, ())),
        )
        for track in labels.tracks
    }
    return ScoreCard(
        scorer_version=SCORER_VERSION,
        llm=labels.llm,
        system=submitted.system,
        release_id=labels.release_id,
        inputs=list(submitted.inputs),
        flags=_flags(scored, submitted),
        flags_not_computed=list(FLAGS_NOT_COMPUTED),
        warnings=list(submitted.warnings),
        tracks=scored,
        seeds=_seed_spreads(submitted, tracks) if len(submitted.inputs) > 1 else None,
    )


def _flags(scored: Mapping[str, TrackScore], submitted: Submitted) -> list[str]:
    """Gather what a reader of the row must know: flags of sources, of the reader, and a headline too good."""
    codes = {warning["code"] for warning in submitted.warnings}
    of_sources = {flag for track in scored.values() for table in track["sources"].values() for flag in table["flags"]}
    headlines = [track["headline"]["value"] for track in scored.values()]
    flags = {
        "few": "few" in of_sources,
        "one_class": "one_class" in of_sources,
        "constant": "CONSTANT" in codes,
        "clipped": "CLIPPED" in codes,
        "too_good": any(value is not None and value > TOO_GOOD for value in headlines),
    }
    return [flag for flag, holds in flags.items() if holds]


def _seed_spreads(submitted: Submitted, tracks: Mapping[str, LabelledTrack]) -> dict[str, SeedSpread]:
    """Compute each seed's headline and how far they lie apart, by track."""
    spreads = {}
    for track in submitted.tracks:
        by_seed = {
            str(given["seed"]): headline(tracks[track].answers([confidences]))["value"]
            for given, confidences in zip(submitted.inputs, submitted.confidences, strict=True)
        }
        known = [value for value in by_seed.values() if value is not None]
        spreads[track] = SeedSpread(
            by_seed=by_seed,
            minimum=min(known, default=None),
            maximum=max(known, default=None),
            sd=float(np.std(known, ddof=1)) if len(known) > 1 else None,
        )
    return spreads
