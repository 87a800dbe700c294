"""Linear probes on the frozen LLM's features, with the labels a trained model would get: controls of a grid."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from honestybench.elical.config import config_hash
from honestybench.elical.frozen import FrozenLlm, NewMeter
from honestybench.elical.probe import Features, Probe, logistic_probe, ridge_probe
from honestybench.elical.questions import read_questions, read_targets
from honestybench.elical.setting import Setting
from honestybench.elical.systems import evaluation_questions
from honestybench.progress import Meter
from honestybench.records import ConfidenceRow
from honestybench.submission.write import write_system
from honestybench.subsets import label_order, label_subset

TARGETS = {"ridge-probe": "sample_accuracy", "logistic-probe": "greedy_correctness"}
"""Probe -> what it is fitted to."""


def probe_hash(setting: Setting, name: str, n_labels: int | None, seed: int) -> str:
    """Hash all that can change a probe's confidences; 64 hexadecimal digits."""
    prompts = {role: template.sha256 for role, template in setting.prompts.items()}
    return config_hash("probe", name, n_labels, seed, setting.release_id, setting.ref.identity, prompts)


def predict_probe(
    setting: Setting,
    name: str,
    n_labels: int | None,
    seeds: Sequence[int],
    out: Path,
    *,
    dtype: str,
    today: date,
    meter: NewMeter = Meter,
) -> int:
    """Fit a probe for each seed's label subset, write the submission, and count its questions.

    Regularisation is chosen inside the labels, all of which are counted.
    Raises: UsageError for too many labels; SubmissionError where `out` is somebody else's; ModelLoadError.
    """
    llm = FrozenLlm(ref=setting.ref, prompts=setting.prompts, dtype=dtype, work=setting.work)
    pool = read_questions(setting.release, setting.llm, "train")
    row_of = {question.id: row for row, question in enumerate(pool)}
    questions, targets = read_targets(setting.release, setting.llm, "train", TARGETS[name])
    value_of = {question.id: value for question, value in zip(questions, targets, strict=True)}
    sources = {question.id: question.source for question in questions}
    known = llm.features(pool, meter)
    evaluation = evaluation_questions(setting.release, setting.llm)
    asked = llm.features_by_prompt(evaluation, meter)
    wanted = len(questions) if n_labels is None else n_labels
    rows: dict[int | None, list[ConfidenceRow]] = {}
    for seed in seeds:
        ids = label_subset(label_order(sources, seed), wanted)
        probe = _fit(name, known[[row_of[each] for each in ids]], np.array([value_of[each] for each in ids]))
        found = probe.predict(asked)
        rows[seed] = [
            ConfidenceRow(id=question.id, confidence=float(value))
            for question, value in zip(evaluation, found, strict=True)
        ]
    about = {"llm": setting.llm, "release": setting.release_id, **_describe(name, wanted)}
    return write_system(out, about, dict(rows), today=today)


def _fit(name: str, features: Features, targets: NDArray[np.float64]) -> Probe:
    return ridge_probe(features, targets) if name == "ridge-probe" else logistic_probe(features, targets)


def _describe(name: str, n_labels: int) -> dict[str, object]:
    kind = name.partition("-")[0]
    return {
        "name": f"{kind.capitalize()} probe, {n_labels:,} labels",
        "family": name,
        "method_class": "calibration",
        "sees": "question",
        "labels_used": n_labels,
        "samples_per_question": 0,
        "extra_passes": 1,
        "selected_on": "train",
        "description": f"A {kind} regression of {TARGETS[name]} on the frozen LLM's last hidden state at the end of "
        "the question's prompt; its regularisation is chosen inside the labels.",
    }
