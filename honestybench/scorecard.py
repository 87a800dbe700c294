"""The files that scoring writes and the leaderboard reads: `scorecard.json` and `comparison.json`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypedDict, cast

from honestybench.errors import DataError
from honestybench.records import canonical_json
from honestybench.shapes import read_strict_json, shape_faults
from honestybench.storage import refused_writes

SCORER_VERSION = "1"
"""Raised with every change that can move a number of a card."""

SCORECARD_NAME = "scorecard.json"
COMPARISON_NAME = "comparison.json"
SIGNIFICANT_DIGITS = 12
MAX_FAULTS = 5


class Value(TypedDict):
    """One number with its 95 % interval. A null value has a reason; an interval is null where none is known.

    `n` counts the answers behind it.
    """

    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    reason: str | None


class EceNull(TypedDict):
    """What ECE-10 a perfectly calibrated system with the same confidences would get: mean and 95 % point."""

    mean: float | None
    p95: float | None
    reason: str | None


class Undefined(TypedDict):
    """A part that is not built: always null, with the reason."""

    value: None
    reason: str


class ScoreTable(TypedDict):
    """All metrics of one set of answers; `other_ece_nulls` by metric. `flags`: few, one_class, constant."""

    n: int
    n_correct: int
    flags: list[str]
    metrics: dict[str, Value]
    ece_10_null: EceNull
    other_ece_nulls: dict[str, EceNull]


class Headline(TypedDict):
    """The number a track is ranked by: the weighted AUROC, or the pooled one where few sources count."""

    kind: Literal["weighted", "pooled"]
    metric: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    n: int
    reason: str | None
    banner: str | None


class SliceScore(TypedDict):
    """The metrics of one slice: its answers taken together, the AUROC from pairs inside sources.

    `headline` follows the rule of the track, on the slice's answers.
    """

    label: str
    n: int
    n_correct: int
    metrics: dict[str, Value]
    headline: Headline


class Aggregates(TypedDict):
    """A track's metrics: means over the sources that count, by size or plain, and all answers together.

    In `pooled` the AUROC is that of pairs inside sources.
    """

    weighted: dict[str, Value]
    macro: dict[str, Value]
    pooled: dict[str, Value]


class ReliabilityBin(TypedDict):
    """One bin [low, high) of confidence that holds answers, the last one closed; interval of the accuracy."""

    low: float
    high: float
    n: int
    n_correct: int
    mean_confidence: float
    accuracy: float
    ci_low: float
    ci_high: float


class HistogramBin(TypedDict):
    """How many right and wrong answers have their confidence in [low, high), the last bin closed."""

    low: float
    high: float
    n_correct: int
    n_wrong: int


class Curves(TypedDict):
    """The curves of a track. `risk_coverage` holds [coverage, risk] pairs, at most 200."""

    reliability: list[ReliabilityBin]
    risk_coverage: list[list[float]]
    histogram: list[HistogramBin]


class ConfidentError(TypedDict):
    """A wrong answer and the confidence it got."""

    id: str
    confidence: float


class Coverage(TypedDict):
    """How many questions a track has, labelled or not, and how many of them were answered: all or none."""

    n_questions: int
    n_found: int


class TrackScore(TypedDict):
    """All scores of one track; its lists and tables are empty where the status is "not_submitted".

    `n` counts labelled answers, `n_unlabelled` those dropped for want of a label. `left_out` says, per
    metric, which sources stand in no mean and why. `ece_10_null` has the keys of `aggregates`, and so has each
    entry of `other_ece_nulls`, by metric.
    """

    status: Literal["scored", "not_submitted"]
    coverage: Coverage
    n: int
    n_correct: int
    n_unlabelled: int
    sources: dict[str, ScoreTable]
    aggregates: Aggregates
    left_out: dict[str, dict[str, str]]
    ece_10_null: dict[str, EceNull]
    other_ece_nulls: dict[str, dict[str, EceNull]]
    pooled_auroc: Value
    headline: Headline
    slices: dict[str, SliceScore]
    curves: Curves
    confident_errors: list[ConfidentError]
    judge_error_band: Undefined
    minimum_detectable_difference: Undefined


class SeedSpread(TypedDict):
    """The headline of one track by seed, and how far the seeds lie apart (sd with ddof 1; null if undefined)."""

    by_seed: dict[str, float | None]
    minimum: float | None
    maximum: float | None
    sd: float | None


class Input(TypedDict):
    """One file that was scored."""

    file: str
    seed: int | None
    sha256: str


class Warned(TypedDict):
    """One warning of the reader; `line` counts from 1."""

    code: str
    line: int | None
    id: str | None
    message: str


class ScoreCard(TypedDict):
    """Everything measured of one system. With several seeds every value is the mean over them.

    `tracks` has in_domain, ood and mmlu, or "labels" where a label file was the track. `seeds` maps
    tracks to the spread between seeds, null for one file.
    """

    scorer_version: str
    llm: str | None
    system: str | None
    release_id: str | None
    inputs: list[Input]
    flags: list[str]
    flags_not_computed: list[str]
    warnings: list[Warned]
    tracks: dict[str, TrackScore]
    seeds: dict[str, SeedSpread] | None


class ComparedMetric(TypedDict):
    """One metric of all systems of a track, in the order of `systems`; null and a reason where not built."""

    kind: Literal["weighted", "pooled"] | None
    values: list[float | None] | None
    covariance: list[list[float]] | None
    reason: str | None


class ComparedTrack(TypedDict):
    """What is needed to compare the ranked systems that submitted a track; `systems` is sorted."""

    systems: list[str]
    metrics: dict[str, ComparedMetric]
    paired: Undefined
    holm: Undefined
    could_be_best: Undefined
    rank_intervals: Undefined


class Comparison(TypedDict):
    """All ranked systems of one LLM, side by side; one that reads evaluation labels is not among them."""

    scorer_version: str
    llm: str
    release_id: str | None
    tracks: dict[str, ComparedTrack]


def write_scorecard(path: Path, card: ScoreCard) -> None:
    """Write a card as canonical JSON with 12 significant digits, whole or not at all. Raises: StorageError."""
    _write(path, card)


def read_scorecard(path: Path) -> ScoreCard:
    """Read a card. Raises: DataError when it is missing, not of a card's shape, or of another scorer version."""
    return cast(ScoreCard, _read(path, ScoreCard))


def write_comparison(path: Path, comparison: Comparison) -> None:
    """Write a comparison in the form of `write_scorecard`. Raises: StorageError."""
    _write(path, comparison)


def read_comparison(path: Path) -> Comparison:
    """Read a comparison. Raises: DataError, as `read_scorecard`."""
    return cast(Comparison, _read(path, Comparison))


def rounded(value: object) -> object:
    """Round every float of a JSON value to 12 significant digits; minus zero becomes zero."""
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}") + 0.0
    if isinstance(value, Mapping):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return value


def _write(path: Path, value: Mapping[str, object]) -> None:
    aside = path.with_name(path.name + ".partial")
    with refused_writes(path):
        aside.write_text(canonical_json(rounded(value)) + "\n", encoding="utf-8")
        os.replace(aside, path)


def _read(path: Path, kind: type) -> object:
    remedy = "write it again with `make score`"
    try:
        value = read_strict_json(path)
    except FileNotFoundError as error:
        raise DataError("the file is missing", where=str(path), remedy=remedy) from error
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"the file cannot be read: {error}", where=str(path), remedy=remedy) from error
    # Another scorer may have written another shape: its version is looked at first.
    found = value.get("scorer_version", SCORER_VERSION) if isinstance(value, dict) else SCORER_VERSION
    if found != SCORER_VERSION:
        what = f"written by another scorer; this is {SCORER_VERSION}"
        raise DataError(what, where=str(path), value=found, remedy=remedy)
    faults = list(shape_faults(value, kind, "file"))
    if faults:
        more = f"; and {len(faults) - MAX_FAULTS} more" if len(faults) > MAX_FAULTS else ""
        what = f"the file is no {kind.__name__}: {'; '.join(faults[:MAX_FAULTS])}{more}"
        raise DataError(what, where=str(path), remedy=remedy)
    return value
