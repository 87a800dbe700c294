"""The labelled questions of one track as arrays: what all systems that submitted it share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from honestybench.labels import Labels
from honestybench.metrics.decision import alignment_ranks
from honestybench.metrics.table import Counts
from honestybench.scoring.answers import AnswerSet, Rows
from honestybench.slices import slice_rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledTrack:
    """The questions of a track that have a label; arrays and `ids` are of one length.

    `source` indexes `source_names`; `ranks` divides the questions for Alignment; `slices` holds rows by
    slice; `n_unlabelled` counts the questions dropped, for every system, because no verdict could be parsed.
    """

    name: str
    ids: list[str]
    correct: Counts
    source: Counts
    source_names: list[str]
    ranks: Counts
    slices: dict[str, Rows]
    n_unlabelled: int

    def answers(self, confidences: Sequence[Mapping[str, float]]) -> AnswerSet:
        """Join one system's confidences by id, one mapping for each seed."""
        return AnswerSet(
            confidences=tuple(np.array([of_seed[each] for each in self.ids], dtype=float) for of_seed in confidences),
            correct=self.correct,
            source=self.source,
            ranks=self.ranks,
        )


def labelled_tracks(labels: Labels) -> dict[str, LabelledTrack]:
    """Part labels into the tracks that have questions, in the order of `Labels.tracks`."""
    return {track: _labelled_track(labels, track) for track in labels.known.tracks}


def _labelled_track(labels: Labels, track: str) -> LabelledTrack:
    verdicts = labels.columns["greedy_correctness"]
    of_track = [row for row, split in enumerate(labels.columns["split"]) if split == track]
    rows = [row for row in of_track if verdicts[row] is not None]
    columns = {name: [column[row] for row in rows] for name, column in labels.columns.items()}
    ids, sources = [str(each) for each in columns["id"]], [str(each) for each in columns["source"]]
    names = sorted(set(sources))
    return LabelledTrack(
        name=track,
        ids=ids,
        correct=np.array(columns["greedy_correctness"], dtype=np.int64),
        source=np.array([names.index(source) for source in sources], dtype=np.int64),
        source_names=names,
        ranks=alignment_ranks(zip(sources, ids, strict=True)),
        slices={name: np.array(inside) for name, inside in slice_rows(columns).items()},
        n_unlabelled=len(of_track) - len(rows),
    )
