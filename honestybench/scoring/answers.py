"""Arrays of labelled answers, and the metrics of any selection of them."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honestybench.metrics import METRICS, MIN_OF_A_CLASS, Answers
from honestybench.metrics.calibration import null_gaps, null_summary
from honestybench.metrics.decision import alignment_part
from honestybench.metrics.estimate import Estimate, mean_over_seeds
from honestybench.metrics.pooled import pooled_auroc
from honestybench.metrics.table import ConfidenceTable, Counts, Floats
from honestybench.scorecard import SCORER_VERSION, EceNull, ScoreTable, Value

NOT_BUILT = f"not computed by scorer {SCORER_VERSION}"
OTHER_ECES = ("ece_15", "ece_mass_10", "smece", "ece_authors")
"""The calibration errors whose null is not computed yet."""

Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerSet:
    """Labelled answers, one array element each.

    `confidences` has one array for each seed; `correct` holds 0 and 1; `source` a number for each source;
    `ranks` the order that divides the answers for Alignment, None where they have no ids.
    """

    confidences: tuple[Floats, ...]
    correct: Counts
    source: Counts
    ranks: Counts | None

    @property
    def n(self) -> int:
        """The number of answers."""
        return int(self.correct.size)

    @property
    def n_correct(self) -> int:
        """The number of right answers."""
        return int(self.correct.sum())

    @property
    def is_few(self) -> bool:
        """Whether a class has too few answers for a mean over sources."""
        return min(self.n_correct, self.n - self.n_correct) < MIN_OF_A_CLASS

    def take(self, rows: Rows) -> "AnswerSet":
        """Select rows."""
        return AnswerSet(
            confidences=tuple(confidence[rows] for confidence in self.confidences),
            correct=self.correct[rows],
            source=self.source[rows],
            ranks=None if self.ranks is None else self.ranks[rows],
        )

    def by_source(self) -> dict[int, "AnswerSet"]:
        """Part the answers by source, in the order of the source numbers."""
        return {int(number): self.take(np.flatnonzero(self.source == number)) for number in np.unique(self.source)}

    def tables(self) -> list[ConfidenceTable]:
        """The table of each seed."""
        return [ConfidenceTable.of(confidence, self.correct) for confidence in self.confidences]


def estimate_metrics(answers: AnswerSet) -> dict[str, Estimate]:
    """Compute every metric of METRICS on answers taken together, the mean over seeds."""
    by_seed = [_read_by_metrics(answers, confidence) for confidence in answers.confidences]
    return {
        name: mean_over_seeds([spec.compute(read) for read in by_seed])
        if spec.compute
        else Estimate(value=None, reason=NOT_BUILT)
        for name, spec in METRICS.items()
    }


def estimate_pooled(answers: AnswerSet) -> Estimate:
    """Compute the AUROC of pairs inside sources, the mean over seeds."""
    by_source = [part.tables() for part in answers.by_source().values()]
    return mean_over_seeds([pooled_auroc(tables) for tables in zip(*by_source, strict=True)] or [pooled_auroc([])])


def score_table(answers: AnswerSet, estimates: Mapping[str, Estimate], gaps: Sequence[Floats]) -> ScoreTable:
    """Put the metrics of one source, or of anybody's arrays, into the shape of the card."""
    flags = {
        "few": answers.is_few,
        "one_class": answers.n_correct in (0, answers.n),
        "constant": answers.n > 0 and all(np.ptp(confidence) == 0 for confidence in answers.confidences),
    }
    return ScoreTable(
        n=answers.n,
        n_correct=answers.n_correct,
        flags=[flag for flag, holds in flags.items() if holds],
        metrics=metric_values(estimates, answers.n),
        ece_10_null=ece_null(ece_draws(gaps, answers.n) if answers.n else None),
        other_ece_nulls={metric: ece_null(None, NOT_BUILT) for metric in OTHER_ECES},
    )


def metric_values(estimates: Mapping[str, Estimate], n: int) -> dict[str, Value]:
    """Put estimates from n answers into the shape of the card."""
    return {name: as_value(name, estimate, n) for name, estimate in estimates.items()}


def as_value(metric: str, estimate: Estimate, n: int) -> Value:
    """Put one estimate of a metric from n answers into the shape of the card."""
    low, high = estimate.interval(METRICS[metric].scale) or (None, None)
    return Value(value=estimate.value, ci_low=low, ci_high=high, n=n, reason=estimate.reason)


def simulate_gaps(answers: AnswerSet, name: str) -> list[Floats]:
    """Simulate each seed's calibration gaps under perfect calibration (see `calibration.null_gaps`).

    The generator's seed is derived from `name`, so other sources or their order change nothing.
    """
    seed = int.from_bytes(hashlib.sha256(f"honestybench-ece-null-v1|{name}".encode()).digest()[:8])
    return [null_gaps(table, np.random.Generator(np.random.PCG64(seed))) for table in answers.tables()]


def ece_draws(gaps: Iterable[Floats], n: int) -> Floats:
    """Turn the gaps of each seed, from n > 0 answers, into draws of ECE-10, the mean over seeds."""
    draws: Floats = np.mean([np.abs(of_seed).sum(axis=1) / n for of_seed in gaps], axis=0)
    return draws


def ece_null(draws: Floats | None, reason: str = "no answers") -> EceNull:
    """Summarise draws of ECE-10; the reason stands where there are none."""
    if draws is None:
        return EceNull(mean=None, p95=None, reason=reason)
    mean, p95 = null_summary(draws)
    return EceNull(mean=mean, p95=p95, reason=None)


def _read_by_metrics(answers: AnswerSet, confidence: Floats) -> Answers:
    table = ConfidenceTable.of(confidence, answers.correct)
    if answers.ranks is None:
        return Answers(table=table)
    fitted = alignment_part(answers.ranks)
    return Answers(
        table=table,
        fitted_on=ConfidenceTable.of(confidence[fitted], answers.correct[fitted]),
        tested_on=ConfidenceTable.of(confidence[~fitted], answers.correct[~fitted]),
    )
