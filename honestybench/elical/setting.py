"""What a run is about: the release, its LLM and prompts, and the questions that a configuration takes from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from honestybench import models
from honestybench.annotate.prompt import PromptTemplate, recorded_prompts
from honestybench.elical.batches import Rows
from honestybench.elical.config import TrainConfig
from honestybench.elical.questions import Question, read_targets
from honestybench.elical.saved import read_info, run_hash_of
from honestybench.errors import UnknownNameError, UsageError
from honestybench.release import Manifest, read_manifest
from honestybench.subsets import carve, label_order, label_subset

MAX_ELICITED_SELECTION = 2_000
"""Without labels a fifth of all questions would be more than selection needs."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a run is about beside its configuration: release, LLM, prompts by role, and the model it goes on from.

    `work` keeps what a frozen LLM computes. With `is_pooled` the head's features are those of all train questions,
    computed once for a grid of runs.
    """

    release: Path
    llm: str
    ref: models.ModelRef
    prompts: Mapping[str, PromptTemplate]
    release_id: str
    start: Path | None = None
    work: Path | None = None
    is_pooled: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Examples:
    """The questions of a run, those to fit first, then those to select on; targets (n,) in [0, 1]."""

    questions: list[Question]
    targets: NDArray[np.float64]
    n_fit: int
    labels_used: int

    @property
    def fit_rows(self) -> Rows:
        """Rows to fit."""
        return np.arange(self.n_fit)

    @property
    def selection_rows(self) -> Rows:
        """Rows to select on."""
        return np.arange(self.n_fit, len(self.questions))


def find_setting(
    release: Path,
    llm: str,
    *,
    llm_name: str | None = None,
    prompt_files: Mapping[str, Path] | None = None,
    start: Path | None = None,
    work: Path | None = None,
) -> Setting:
    """Find the LLM and the prompts that a release was made with.

    `llm` is the slug in the release, `llm_name` where its weights are, if not where the build had them; `work` keeps
    what a frozen LLM computes. Raises: UsageError when the weights or a prompt are not those of the release.
    """
    manifest = read_manifest(release)
    recorded = {name: info["sha256"] for name, info in manifest.content["prompts"].items()}
    answering = {name: sha256 for name, sha256 in recorded.items() if name.rpartition("-")[2] in ("qa", "mmlu")}
    if len({name.rpartition("-")[2] for name in answering}) < len(answering):
        what = "the release names several prompts for one kind of question"
        raise UsageError(what, where=str(release), value=sorted(answering))
    prompts = recorded_prompts(answering, prompt_files or {})
    if llm not in manifest.content["llms"]:
        raise UnknownNameError("LLM of this release", llm, manifest.content["llms"])
    if not any(name.endswith("-qa") for name in prompts):
        raise UsageError("the release does not say which prompt asked its questions", where=str(release))
    return Setting(
        release=release,
        llm=llm,
        ref=llm_of(manifest, llm, llm_name),
        prompts={name.rpartition("-")[2]: template for name, template in prompts.items()},
        release_id=manifest.release_id,
        start=start,
        work=work,
    )


def llm_of(manifest: Manifest, llm: str, llm_name: str | None = None) -> models.ModelRef:
    """Resolve the LLM that a release was made with. Raises: UsageError when these are other weights."""
    info = manifest.content["llms"][llm]
    built = info["provenance"]
    ref = models.resolve(llm_name or str(built.get("llm", info["name"])))
    if "weights" in built and ref.identity != built["weights"]:
        raise UsageError(
            "these are not the weights that answered the release's questions",
            where=f"LLM {ref.name}",
            value=ref.identity,
            remedy=f"give --llm-weights that are {built['weights']}",
        )
    return ref


def read_examples(setting: Setting, config: TrainConfig) -> Examples:
    """Choose the questions of a run: a nested, stratified subset of train, and those to select on."""
    questions, targets = read_targets(setting.release, setting.llm, "train", config.target, config.targets_from)
    rows = {question.id: row for row, question in enumerate(questions)}
    order = label_order({question.id: question.source for question in questions}, config.seed)
    chosen = order if config.n_labels is None else label_subset(order, config.n_labels)
    fit, selection = (list(chosen), []) if config.select_on != "carved" else carve(chosen)
    if not config.uses_labels:
        fit, selection = fit + selection[MAX_ELICITED_SELECTION:], selection[:MAX_ELICITED_SELECTION]
    picked = [rows[example_id] for example_id in (*fit, *selection)]
    found, values = [questions[row] for row in picked], targets[picked]
    labels = len(chosen)
    if config.select_on == "in_domain":
        more, more_values = read_targets(setting.release, setting.llm, "in_domain", config.target, config.targets_from)
        found, values, labels = found + more, np.concatenate([values, more_values]), labels + len(more)
    return Examples(questions=found, targets=values, n_fit=len(fit), labels_used=labels if config.uses_labels else 0)


def run_hash(setting: Setting, config: TrainConfig) -> str:
    """Hash all that can change the trained model."""
    start = None if setting.start is None else read_info(setting.start).run_hash
    prompts = {role: template.sha256 for role, template in setting.prompts.items()}
    return run_hash_of(config, [setting.release_id, setting.llm, setting.ref.identity, prompts, start])
