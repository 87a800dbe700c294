"""The metrics: one table from name to definition, which scoring, tests and pages read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from honestybench.metrics.calibration import brier, ece_10
from honestybench.metrics.decision import alignment
from honestybench.metrics.discrimination import auroc_estimate
from honestybench.metrics.estimate import Estimate, Scale
from honestybench.metrics.selective import aurc
from honestybench.metrics.table import ConfidenceTable

Group = Literal["discrimination", "calibration", "selective", "decision", "compat"]
Direction = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a metric reads: the table of all answers, and the two parts of it for metrics that fit a threshold.

    The parts are None where the answers have no ids to divide them by.
    """

    table: ConfidenceTable
    fitted_on: ConfidenceTable | None = None
    tested_on: ConfidenceTable | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """One metric. `direction` says which values are better; `compute` is None where it is not built yet.

    `scale` is the one on which its interval is normal, `source` where its definition comes from.
    """

    label: str
    group: Group
    direction: Direction
    description: str
    source: str
    compute: Callable[[Answers], Estimate] | None = None
    scale: Scale = "plain"


def _alignment(answers: Answers) -> Estimate:
    if answers.fitted_on is None or answers.tested_on is None:
        return Estimate(value=None, reason="needs ids: its threshold is fitted on the fifth chosen by hashed ids")
    return alignment(answers.fitted_on, answers.tested_on)


_CONFUSION: tuple[tuple[str, str, Direction], ...] = (
    ("confident_right", "confident and right", "higher"),
    ("confident_wrong", "confident and wrong", "lower"),
    ("doubted_right", "doubted and right", "lower"),
    ("doubted_wrong", "doubted and wrong", "higher"),
)

METRICS: dict[str, MetricSpec] = {
    "auroc": MetricSpec(
        label="AUROC",
        group="discrimination",
        direction="higher",
        description="chance that a right answer has a higher confidence than a wrong one, ties one half",
        source="Hanley and McNeil, 1982; variance: DeLong et al., 1988",
        compute=lambda answers: auroc_estimate(answers.table),
        scale="logit",
    ),
    "auprc_correct": MetricSpec(
        label="AUPRC (right)",
        group="discrimination",
        direction="higher",
        description="average precision at finding right answers; its base rate is the accuracy",
        source="Davis and Goadrich, 2006, as average precision",
    ),
    "auprc_wrong": MetricSpec(
        label="AUPRC (wrong)",
        group="discrimination",
        direction="higher",
        description="average precision at finding wrong answers; its base rate is the error rate",
        source="Davis and Goadrich, 2006, as average precision",
    ),
    "ece_10": MetricSpec(
        label="ECE-10",
        group="calibration",
        direction="lower",
        description="expected calibration error, ten bins [k/10, (k+1)/10), the last one closed",
        source="Naeini et al., 2015",
        compute=lambda answers: ece_10(answers.table),
    ),
    "ece_15": MetricSpec(
        label="ECE-15",
        group="calibration",
        direction="lower",
        description="expected calibration error, fifteen bins of equal width",
        source="Guo et al., 2017",
    ),
    "ece_mass_10": MetricSpec(
        label="ECE-10 (equal mass)",
        group="calibration",
        direction="lower",
        description="expected calibration error, ten bins of equal mass that never part ties",
        source="Nguyen and O'Connor, 2015",
    ),
    "smece": MetricSpec(
        label="smECE-R",
        group="calibration",
        direction="lower",
        description="smooth calibration error, reflected kernel with full mass at 0 and 1",
        source="Blasiok and Nakkiran, 2023",
    ),
    "brier": MetricSpec(
        label="Brier",
        group="calibration",
        direction="lower",
        description="mean squared difference of confidence and correctness",
        source="Brier, 1950",
        compute=lambda answers: brier(answers.table),
    ),
    "brier_mcb": MetricSpec(
        label="Brier: miscalibration",
        group="calibration",
        direction="lower",
        description="part of the Brier score that isotonic recalibration removes",
        source="Dimitriadis et al., 2021 (CORP)",
    ),
    "brier_dsc": MetricSpec(
        label="Brier: discrimination",
        group="calibration",
        direction="higher",
        description="part of the uncertainty that the recalibrated confidence explains",
        source="Dimitriadis et al., 2021 (CORP)",
    ),
    "brier_unc": MetricSpec(
        label="Brier: uncertainty",
        group="calibration",
        direction="neither",
        description="Brier score of always giving the accuracy; a property of the labels",
        source="Dimitriadis et al., 2021 (CORP)",
    ),
    "log_loss": MetricSpec(
        label="Log loss (clip 1e-6)",
        group="calibration",
        direction="lower",
        description="mean negative log likelihood in nats, confidences clipped at 1e-6 from 0 and 1",
        source="Good, 1952",
    ),
    "log_loss_clipped": MetricSpec(
        label="Log loss: answers clipped",
        group="calibration",
        direction="neither",
        description="number of confidences that the clip of the log loss moved",
        source="this benchmark",
    ),
    "aurc": MetricSpec(
        label="AURC",
        group="selective",
        direction="lower",
        description="mean error rate among the k most confident answers over all k, ties in random order",
        source="Geifman et al., 2019",
        compute=lambda answers: aurc(answers.table),
    ),
    "e_aurc": MetricSpec(
        label="E-AURC",
        group="selective",
        direction="lower",
        description="AURC beyond that of the best order of the same answers",
        source="Geifman et al., 2019",
    ),
    "augrc": MetricSpec(
        label="AUGRC",
        group="selective",
        direction="lower",
        description="mean share of all answers that are kept and wrong, over all k",
        source="Traub et al., 2024",
    ),
    **{
        f"accuracy_at_coverage_{share}": MetricSpec(
            label=f"Accuracy at {share} % coverage",
            group="selective",
            direction="higher",
            description=f"accuracy of the {share} % most confident answers, ties in expectation",
            source="El-Yaniv and Wiener, 2010",
        )
        for share in (50, 80, 90)
    },
    **{
        f"coverage_at_risk_{share}": MetricSpec(
            label=f"Coverage at {share} % risk",
            group="selective",
            direction="higher",
            description=f"largest share kept by a threshold with an error rate of at most {share} %",
            source="Geifman and El-Yaniv, 2017",
        )
        for share in (1, 5, 10, 20)
    },
    "prr": MetricSpec(
        label="PRR",
        group="selective",
        direction="higher",
        description="prediction rejection ratio: gain in AURC over a random order, relative to the best order",
        source="Malinin et al., 2017",
    ),
    "alignment": MetricSpec(
        label="Alignment",
        group="decision",
        direction="higher",
        description="share of answers on the right side of a threshold fitted on the fifth chosen by hashed ids",
        source="this benchmark, after the paper's Alignment",
        compute=_alignment,
    ),
    "alignment_20_salts": MetricSpec(
        label="Alignment (20 divisions)",
        group="decision",
        direction="higher",
        description="mean Alignment over twenty hashed divisions of the answers",
        source="this benchmark",
    ),
    "always_majority": MetricSpec(
        label="Always the majority",
        group="decision",
        direction="neither",
        description="Alignment of always guessing the larger class: the line to beat",
        source="this benchmark",
    ),
    **{
        f"confusion_{name}": MetricSpec(
            label=f"Confusion: {words}",
            group="decision",
            direction=direction,
            description=f"share of answers that are {words} at the threshold of Alignment",
            source="this benchmark",
        )
        for name, words, direction in _CONFUSION
    },
    "ece_authors": MetricSpec(
        label="ECE (authors' script)",
        group="compat",
        direction="lower",
        description="as the authors' script computes it; only to compare with published figures",
        source="the paper's evaluation script",
    ),
    "alignment_authors": MetricSpec(
        label="Alignment (authors' script)",
        group="compat",
        direction="higher",
        description="as the authors' script computes it, its division by file order; only for comparison",
        source="the paper's evaluation script",
    ),
}
"""Every metric of a ScoreCard: name -> MetricSpec, the names of all keys and headings."""

HEADLINE_METRIC = "auroc"
MIN_OF_A_CLASS = 10
"""A source with fewer right or fewer wrong answers is "few": it stands in no mean over sources."""
