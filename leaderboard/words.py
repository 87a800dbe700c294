"""The words of the site: names of tracks, method classes, flags, and the metrics that pages show."""

from honestybench.metrics import METRICS
from leaderboard.views import Column

TRACK_TITLES = {"in_domain": "In domain", "ood": "Out of domain", "mmlu": "MMLU"}
TRACK_INTROS = {
    "in_domain": "Questions of the sources that the training split is drawn from.",
    "ood": "Questions of sources that no training question comes from.",
    "mmlu": "Multiple-choice questions over many subjects.",
}
METHOD_CLASSES = {
    "training_free": "Training-free",
    "elicitation": "Elicitation",
    "calibration": "Calibration",
    "other": "Other",
}
SEES = {
    "question": "the question only, so before answering",
    "answer": "the greedy answer",
    "samples": "sampled answers",
}
FLAGS = {
    "few": "fewer than 10 right or fewer than 10 wrong answers in a source",
    "one_class": "a source in which all answers are right, or all wrong",
    "constant": "one confidence for all answers",
    "clipped": "a confidence up to one millionth outside [0, 1] was set to the bound",
    "label_copy": "the confidences repeat the labels",
    "near_duplicate": "almost the same confidences as another system",
    "order_dependent": "the confidences follow the order of the file",
    "too_good": "an AUROC above 0.995",
}

NOT_RANKED = "reads evaluation labels, not ranked"
"""The mark of systems that take part in no rank (see `System.is_ranked`), beside their names and over their group."""

OF_THE_LABELS = ("few", "one_class")
"""Flags that tell of the questions, not of the system: every row has them, and the board's banner says it once."""

SHOWN = ("auroc", "ece_10", "brier", "aurc", "alignment")
"""The metrics on pages, headline first; their words are those of METRICS. The others stand in the scorecards."""

ARROWS = {"higher": "↑", "lower": "↓", "neither": ""}


def column(metric: str) -> Column:
    """Head a column with a metric's name, its better direction and its definition."""
    spec = METRICS[metric]
    return Column(heading=spec.label, arrow=ARROWS[spec.direction], meaning=spec.description)
