"""Put the systems of one LLM side by side: the numbers that paired differences are read from."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from honestybench.metrics import HEADLINE_METRIC, METRICS
from honestybench.metrics.discrimination import auroc_covariance, placements
from honestybench.metrics.pooled import pooled_covariance
from honestybench.metrics.table import Floats
from honestybench.scorecard import ComparedMetric, ComparedTrack, Undefined
from honestybench.scoring.answers import NOT_BUILT, AnswerSet
from honestybench.scoring.track import headline_kind

Stratum = tuple[Floats, NDArray[np.bool_]]
"""DeLong's components of K systems on one source's answers, K x n, and their n labels."""


def compare_track(systems: Mapping[str, AnswerSet], headlines: Mapping[str, float | None]) -> ComparedTrack:
    """Compare systems on the same answers; `headlines` are the values by which they are ranked.

    The covariance is that of the headline AUROCs, rows and columns in the order of the sorted names. Over
    seeds it is that of the mean AUROC.
    """
    names = sorted(systems)
    metrics = {
        name: ComparedMetric(kind=None, values=None, covariance=None, reason=NOT_BUILT)
        for name in METRICS
        if name != HEADLINE_METRIC
    }
    metrics[HEADLINE_METRIC] = _headline([systems[name] for name in names], [headlines[name] for name in names])
    not_built = Undefined(value=None, reason=NOT_BUILT)
    return ComparedTrack(
        systems=names,
        metrics=metrics,
        paired=not_built,
        holm=not_built,
        could_be_best=not_built,
        rank_intervals=not_built,
    )


def _headline(systems: list[AnswerSet], headlines: list[float | None]) -> ComparedMetric:
    kind = headline_kind(systems[0])
    known = [value for value in headlines if value is not None]
    strata = [_stratum(parts) for parts in zip(*(each.by_source().values() for each in systems), strict=True)]
    two_classes = [stratum for stratum in strata if stratum is not None]
    if len(known) < len(headlines) or not two_classes:
        reason = "no source has right and wrong answers"
        return ComparedMetric(kind=kind, values=headlines, covariance=None, reason=reason)
    if kind == "pooled":
        covariance = pooled_covariance(two_classes, known)
    else:
        counted = [not part.is_few for part in systems[0].by_source().values()]
        covariance = _weighted(
            [stratum for stratum, counts in zip(strata, counted, strict=True) if counts and stratum is not None]
        )
    return ComparedMetric(kind=kind, values=headlines, covariance=covariance.tolist(), reason=None)


def _weighted(strata: list[Stratum]) -> Floats:
    """Combine the sources' covariances with the weights of the weighted mean, their shares of the answers."""
    total = sum(labels.size for _, labels in strata)
    parts = [auroc_covariance(rows, labels) * (labels.size / total) ** 2 for rows, labels in strata]
    covariance: Floats = np.sum(parts, axis=0)
    return covariance


def _stratum(parts: tuple[AnswerSet, ...]) -> Stratum | None:
    """Compute the components of all systems on one source, the mean over seeds; None with one class only."""
    correct = parts[0].correct
    if parts[0].n_correct in (0, parts[0].n):
        return None
    rows = [np.mean([placements(each, correct) for each in part.confidences], axis=0) for part in parts]
    return np.array(rows), correct.astype(bool)
