"""Training-free baselines from the stored columns of a release, each written as an ordinary submission folder."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from honestybench.errors import DataError
from honestybench.normalize import normalize_answer
from honestybench.records import N_SAMPLED, TRACKS, ConfidenceRow
from honestybench.release import read_manifest
from honestybench.shards import iter_batches
from honestybench.submission.write import refuse_foreign_system, write_system

Row = dict[str, Any]

COLUMNS = (
    *("id", "greedy_response", "greedy_logprobs", "greedy_cumulative_logprob"),
    *("sampling_response", "self_consistency"),
)
LOGPROB_TOLERANCE = 1e-6
"""How far float32 rounding may carry a log-probability above 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What a baseline knows beside the row: never an evaluation label.

    `base_rate` is the accuracy on `n_train_labels` train questions, None without any; `self_consistency` the
    mean over train, or over the evaluation rows where there is no train, None when nothing parsed.
    """

    base_rate: float | None
    n_train_labels: int
    self_consistency: float | None
    n_null: int
    of_train: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """One baseline: what system.yaml says of it, and its confidence in [0, 1] for a row of the release."""

    name: str
    family: str
    sees: str
    samples: int
    description: str
    confidence: Callable[[Row, Background], float]


def sequence_probability(row: Row, _: Background) -> float:
    """Compute exp(sum of log p) of the greedy answer, the probability of its tokens."""
    return _probability(row["greedy_cumulative_logprob"], row["id"])


def token_probability(row: Row, _: Background) -> float:
    """Compute exp(mean log p) of the greedy answer, the geometric mean of its tokens' probabilities."""
    # An answer without tokens has probability 1, by either formula.
    return _probability(row["greedy_cumulative_logprob"] / max(1, len(row["greedy_logprobs"])), row["id"])


def lexical_consistency(row: Row, _: Background) -> float:
    """Compute the mean ROUGE-L F of the greedy answer against each sampled one."""
    greedy = _words(row["greedy_response"])
    found: dict[str, float] = {}
    for text in row["sampling_response"]:
        if text not in found:
            found[text] = rouge_l(greedy, _words(text))
    # The sum may round to a hair above 1 for twenty equal answers.
    return min(1.0, math.fsum(found[text] for text in row["sampling_response"]) / len(row["sampling_response"]))


def semantic_consistency(row: Row, background: Background) -> float:
    """Give the stored self-consistency; where no verdict parsed, the mean of train or of the row set."""
    value = row["self_consistency"]
    if value is None:
        value = background.self_consistency
    if value is None:
        raise DataError("no consistency verdict of the release could be parsed", where=row["id"])
    return float(value)


def constant(row: Row, background: Background) -> float:
    """Give the accuracy on train; without train labels the mean self-consistency of the row set."""
    if background.base_rate is not None:
        return background.base_rate
    if background.self_consistency is None:
        raise DataError("neither train labels nor a consistency verdict to take a constant from", where=row["id"])
    return background.self_consistency


BASELINES: dict[str, Baseline] = {
    "prob": Baseline(
        name="Sequence probability",
        family="probability",
        sees="answer",
        samples=0,
        description="exp of the summed token log-probabilities of the greedy answer.",
        confidence=sequence_probability,
    ),
    "n_prob": Baseline(
        name="Token probability",
        family="probability",
        sees="answer",
        samples=0,
        description="exp of the mean token log-probability of the greedy answer.",
        confidence=token_probability,
    ),
    "consistency_lexical": Baseline(
        name="Lexical consistency",
        family="consistency",
        sees="samples",
        samples=N_SAMPLED,
        description="Mean ROUGE-L F of the greedy answer against each of the sampled answers, on normalised words.",
        confidence=lexical_consistency,
    ),
    "consistency_semantic": Baseline(
        name="Semantic consistency",
        family="consistency",
        sees="samples",
        samples=N_SAMPLED,
        description="Share of the sampled answers that the judge found consistent with the greedy answer.",
        confidence=semantic_consistency,
    ),
    "constant": Baseline(
        name="Constant",
        family="constant",
        sees="question",
        samples=0,
        description="One number for every question.",
        confidence=constant,
    ),
}
"""Folder name -> baseline."""


def write_baselines(release: Path, llm: str, out: Path, today: date) -> dict[str, int]:
    """Write every baseline of an LLM's answers into `out`/<baseline>/, and count the rows of each.

    A baseline of before is replaced, and keeps its date where system.yaml would not change otherwise.
    Raises: UnknownNameError, ReleaseError, DataError for the release; SubmissionError, before anything is
    written, where a folder is somebody else's; StorageError.
    """
    manifest = read_manifest(release)
    for name in BASELINES:
        refuse_foreign_system(out / name, llm)
    background = read_background(release, llm)
    rows: dict[str, list[ConfidenceRow]] = {name: [] for name in BASELINES}
    for track in (split for split in manifest.splits(llm) if split in TRACKS):
        for row in _rows(release, llm, track, COLUMNS):
            for name, baseline in BASELINES.items():
                rows[name].append(ConfidenceRow(id=row["id"], confidence=baseline.confidence(row, background)))
    return {
        name: write_system(
            out / name,
            {"llm": llm, "release": manifest.release_id, **describe(name, background)},
            {None: rows[name]},
            today=today,
        )
        for name in BASELINES
    }


def read_background(release: Path, llm: str) -> Background:
    """Gather what the baselines may know of the whole release."""
    splits = read_manifest(release).splits(llm)
    names = ("greedy_correctness", "self_consistency")
    train = list(_rows(release, llm, "train", names)) if "train" in splits else []
    values = [
        row["self_consistency"]
        for split in splits
        if split in TRACKS
        for row in _rows(release, llm, split, ("self_consistency",))
    ]
    of_train = [row["self_consistency"] for row in train if row["self_consistency"] is not None]
    labels = [row["greedy_correctness"] for row in train if row["greedy_correctness"] is not None]
    return Background(
        base_rate=_mean(labels),
        n_train_labels=len(labels),
        self_consistency=_mean(of_train or [value for value in values if value is not None]),
        n_null=values.count(None),
        of_train=bool(of_train),
    )


def describe(name: str, background: Background) -> dict[str, object]:
    """Write what system.yaml says of a baseline, the fall-backs used included."""
    baseline, of = BASELINES[name], "train questions" if background.of_train else "evaluation questions"
    sees, samples, labels, note = baseline.sees, baseline.samples, 0, ""
    if name == "constant" and background.base_rate is not None:
        labels = background.n_train_labels
        note = f" It is the accuracy on the {labels} train questions."
    elif name == "constant":
        sees, samples = "samples", N_SAMPLED
        note = f" The release has no train labels: it is the mean self-consistency of the {of}; no label was used."
    elif name == "consistency_semantic" and background.n_null:
        note = f" {background.n_null} questions without a parsed verdict got the mean of the {of}."
    return {
        "name": baseline.name,
        "family": baseline.family,
        "method_class": "training_free",
        "sees": sees,
        "labels_used": labels,
        "samples_per_question": samples,
        "extra_passes": 0,
        "selected_on": "none",
        "description": baseline.description + note,
    }


def rouge_l(first: Sequence[str], second: Sequence[str]) -> float:
    """Compute ROUGE-L F (Lin, 2004, with beta 1) of two word lists, in [0, 1]; 0 when either is empty.

    2 LCS / (m + n), with the longest common subsequence itself, repeated words counted as often as they match.
    """
    shared = lcs_length(first, second) if first and second else 0
    return 2 * shared / (len(first) + len(second)) if shared else 0.0


def lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """Compute the length of the longest common subsequence, a row of the table at once as bits (Hyyrö, 2004)."""
    places: dict[str, int] = {}
    for place, word in enumerate(first):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(first)) - 1
    # A zero bit marks a column where the table's row steps up by one.
    row = full
    for word in second:
        matched = row & places.get(word, 0)
        row = ((row + matched) | (row - matched)) & full
    return len(first) - row.bit_count()


def _words(text: str) -> list[str]:
    """Part an answer into normalised words; an answer of nothing but articles ("A", a choice) keeps them."""
    return normalize_answer(text).split() or re.findall(r"\w+", text.casefold())


def _probability(logprob: float, example_id: str) -> float:
    if not logprob <= LOGPROB_TOLERANCE:
        raise DataError("a log-probability is above 0", where=example_id, value=logprob)
    return math.exp(min(0.0, logprob))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _rows(release: Path, llm: str, split: str, columns: Sequence[str]) -> Iterator[Row]:
    for batch in iter_batches(release, llm, split, columns):
        yield from batch.to_pylist()
