"""The words of the site: names of tracks, method classes, flags, and the metrics that pages show."""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricWords:
    """How a page speaks of a metric."""

    heading: str
    arrow: str
    meaning: str


SHOWN = {
    "auroc": MetricWords(
        heading="AUROC", arrow="↑", meaning="chance that a right answer got a higher confidence than a wrong one"
    ),
    "ece_10": MetricWords(
        heading="ECE-10", arrow="↓", meaning="mean gap between confidence and share correct, in ten bins"
    ),
    "brier": MetricWords(heading="Brier", arrow="↓", meaning="mean squared distance of confidence and correctness"),
    "aurc": MetricWords(
        heading="AURC", arrow="↓", meaning="mean share of wrong answers when only the most confident are given"
    ),
    "alignment": MetricWords(
        heading="Alignment", arrow="↑", meaning="share of answers on the right side of a threshold fitted on others"
    ),
}
