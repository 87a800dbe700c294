"""The table of the baselines: what each is called, reads and costs, and its formula."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from honestybench.baselines import formulas
from honestybench.baselines.background import Background
from honestybench.baselines.formulas import RANDOM_SEED, Row
from honestybench.errors import UnknownNameError, UsageError
from honestybench.records import N_SAMPLED
from honestybench.submission.system import ORACLE_FAMILY

ANSWERS = ("greedy_response", "sampling_response")
SETS = (
    "Sampled answers that the judge found consistent with the greedy one are one set, the others are grouped by equal "
    "normalised words."
)


def _nothing(_: Background) -> dict[str, object]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """One baseline.

    `columns` are all it reads of a row beside the id. `confidence` maps a row that has them to [0, 1], higher = more
    likely correct. `name` to `paper` stand in system.yaml; `about` gives the keys that depend on the release, its
    `note` ends the description.
    """

    name: str
    family: str
    sees: str
    samples: int
    columns: tuple[str, ...]
    description: str
    confidence: Callable[[Row, Background], float]
    paper: str | None = None
    about: Callable[[Background], Mapping[str, object]] = _nothing


def _about_consistency(background: Background) -> dict[str, object]:
    mean = background.self_consistency
    note = f" {mean.n_null} questions without a parsed verdict got the mean of the {mean.whose}."
    return {"note": note} if mean.n_null else {}


def _about_constant(background: Background) -> dict[str, object]:
    if background.base_rate is not None:
        labels = background.n_train_labels
        note = f" It is the accuracy on the {labels} labelled train questions."
        return {"method_class": "calibration", "labels_used": labels, "note": note}
    whose = background.self_consistency.whose
    note = f" The release has no train labels: it is the mean self-consistency of the {whose}; no label was used."
    return {"sees": "samples", "samples_per_question": N_SAMPLED, "note": note}


def _about_oracle(background: Background) -> dict[str, object]:
    mean = background.sample_accuracy
    note, labels = "", mean.n_known
    if mean.n_null:
        note = f" {mean.n_null} questions without a parsed verdict got the mean of the {mean.whose}."
        labels += mean.n_behind if mean.of_train else 0
    return {"method_class": "other", "labels_used": labels, "note": note}


BASELINES: dict[str, Baseline] = {
    "prob": Baseline(
        name="Sequence probability",
        family="probability",
        sees="answer",
        samples=0,
        columns=("greedy_cumulative_logprob",),
        description="exp of the summed token log-probabilities of the greedy answer.",
        confidence=formulas.sequence_probability,
        paper="https://arxiv.org/abs/2002.07650",
    ),
    "n_prob": Baseline(
        name="Token probability",
        family="probability",
        sees="answer",
        samples=0,
        columns=("greedy_cumulative_logprob", "greedy_logprobs"),
        description="exp of the mean token log-probability of the greedy answer.",
        confidence=formulas.token_probability,
        paper="https://arxiv.org/abs/2002.07650",
    ),
    "min_prob": Baseline(
        name="Minimum token probability",
        family="probability",
        sees="answer",
        samples=0,
        columns=("greedy_logprobs",),
        description="exp of the lowest token log-probability of the greedy answer.",
        confidence=formulas.minimum_probability,
        paper="https://arxiv.org/abs/2303.08896",
    ),
    "consistency_lexical": Baseline(
        name="Lexical consistency",
        family="consistency",
        sees="samples",
        samples=N_SAMPLED,
        columns=ANSWERS,
        description="Mean ROUGE-L F of the greedy answer against each of the sampled answers, on normalised words.",
        confidence=formulas.lexical_consistency,
        paper="https://arxiv.org/abs/2510.17509",
    ),
    "consistency_semantic": Baseline(
        name="Semantic consistency",
        family="consistency",
        sees="samples",
        samples=N_SAMPLED,
        columns=("self_consistency",),
        description="Share of the sampled answers that the judge found consistent with the greedy answer.",
        confidence=formulas.semantic_consistency,
        paper="https://arxiv.org/abs/2510.17509",
        about=_about_consistency,
    ),
    "n_semantic_sets": Baseline(
        name="Number of semantic sets",
        family="semantic_sets",
        sees="samples",
        samples=N_SAMPLED,
        columns=(*ANSWERS, "consistency_judgement"),
        description=f"1 - (sets - 1) / (N - 1) for the sets among N sampled answers: one is 1, N are 0. {SETS}",
        confidence=formulas.few_semantic_sets,
        paper="https://arxiv.org/abs/2305.19187",
    ),
    "semantic_entropy": Baseline(
        name="Semantic entropy",
        family="semantic_sets",
        sees="samples",
        samples=N_SAMPLED,
        columns=(*ANSWERS, "consistency_judgement"),
        description=f"1 - H / log N for the discrete entropy H of the sets among N sampled answers: one is 1, N are 0. "
        f"{SETS}",
        confidence=formulas.low_semantic_entropy,
        paper="https://www.nature.com/articles/s41586-024-07421-0",
    ),
    "constant": Baseline(
        name="Constant",
        family="constant",
        sees="question",
        samples=0,
        columns=(),
        description="One number for every question.",
        confidence=formulas.constant,
        about=_about_constant,
    ),
    "random": Baseline(
        name="Random",
        family="random",
        sees="question",
        samples=0,
        columns=(),
        description=f"A number drawn uniformly from [0, 1) by a hash of the question's id, seed {RANDOM_SEED}: chance.",
        confidence=formulas.random,
    ),
    "oracle": Baseline(
        name="Oracle: sample accuracy",
        family=ORACLE_FAMILY,
        sees="samples",
        samples=N_SAMPLED,
        columns=("sample_accuracy",),
        description="Share of the sampled answers that were judged correct: what a method would reach that knew it for "
        "every question. It reads the gold answers of the questions it is scored on: shown, never ranked.",
        confidence=formulas.oracle,
        about=_about_oracle,
    ),
}
"""Folder name -> baseline."""


def select_baselines(names: Iterable[str]) -> dict[str, Baseline]:
    """Pick baselines by name, in the order of the table. Raises: UnknownNameError; UsageError for no name at all."""
    wanted = set(names)
    if not wanted:
        raise UsageError("no baseline is named", remedy=f"name some of {', '.join(BASELINES)}")
    for name in sorted(wanted - BASELINES.keys()):
        raise UnknownNameError("baseline", name, BASELINES)
    return {name: baseline for name, baseline in BASELINES.items() if name in wanted}


def describe(name: str, background: Background) -> dict[str, object]:
    """Write what system.yaml says of a baseline, the stand-ins used included."""
    baseline = BASELINES[name]
    about = dict(baseline.about(background))
    note = about.pop("note", "")
    return {
        "name": baseline.name,
        "family": baseline.family,
        "method_class": "training_free",
        "sees": baseline.sees,
        "labels_used": 0,
        "samples_per_question": baseline.samples,
        "extra_passes": 0,
        "selected_on": "none",
        **about,
        "description": f"{baseline.description}{note}",
        **({"paper": baseline.paper} if baseline.paper else {}),
    }
