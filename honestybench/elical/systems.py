"""Write the predictions of trained models as an ordinary submission."""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from honestybench.elical.authors import confidences_as_authors
from honestybench.elical.config import STAGES
from honestybench.elical.frozen import FrozenLlm, NewMeter
from honestybench.elical.loading import llm_of_model, load_trained, sigmoid
from honestybench.elical.questions import Question, read_questions
from honestybench.elical.saved import ADAPTER_NAME, ModelInfo, read_head, read_info, read_prompts
from honestybench.errors import UsageError
from honestybench.progress import Meter
from honestybench.records import TRACKS, ConfidenceRow
from honestybench.release import read_manifest
from honestybench.submission.write import refuse_foreign_system, write_system


def predict(
    folders: Sequence[Path],
    release: Path,
    out: Path,
    *,
    today: date,
    llm_name: str | None = None,
    work: Path | None = None,
    authors_batch: int | None = None,
    meter: NewMeter = Meter,
) -> int:
    """Write one submission from models that differ in their seed alone, and count the questions.

    The release must be that of the LLM the models are about; it need not be the one they were trained on. `work`
    keeps what the frozen LLM gives, for models whose head alone was trained. `authors_batch` asks as the paper's
    authors do, in padded batches of so many questions (see `authors.confidences_as_authors`).
    Raises: UsageError when the models do not belong together; SubmissionError where `out` is somebody else's.
    """
    infos = [read_info(folder) for folder in folders]
    _refuse_mixed(folders, infos)
    llm = infos[0].llm
    refuse_foreign_system(out, llm)
    questions = evaluation_questions(release, llm)
    rows: dict[int | None, Iterable[ConfidenceRow]] = {}
    for folder, info in zip(folders, infos, strict=True):
        seed = int(info.config["seed"])
        if authors_batch is None:
            found = _confidences(folder, info, questions, llm_name, work, meter)
        else:
            found = _as_authors(folder, info, questions, llm_name, authors_batch, meter)
        rows[seed] = [
            ConfidenceRow(id=question.id, confidence=float(value))
            for question, value in zip(questions, found, strict=True)
        ]
    about = {"llm": llm, "release": read_manifest(release).release_id, **describe(infos, authors_batch)}
    return write_system(out, about, rows, today=today)


def evaluation_questions(release: Path, llm: str) -> list[Question]:
    """Read the questions of all evaluation tracks. Raises: UsageError when there are none."""
    tracks = [split for split in read_manifest(release).splits(llm) if split in TRACKS]
    questions = [question for track in tracks for question in read_questions(release, llm, track)]
    if not questions:
        raise UsageError("the release has no evaluation questions", where=str(release))
    return questions


def _confidences(
    folder: Path,
    info: ModelInfo,
    questions: Sequence[Question],
    llm_name: str | None,
    work: Path | None,
    meter: NewMeter,
) -> NDArray[np.float64]:
    if work is None or (folder / ADAPTER_NAME).exists():
        trained = load_trained(folder, llm_name=llm_name)
        with meter(f"predicting, seed {info.config['seed']}", len(questions), "questions") as bar:
            return trained.confidences(questions, meter=bar)
    llm = FrozenLlm(
        ref=llm_of_model(info, llm_name), prompts=read_prompts(folder, info), dtype=info.config["dtype"], work=work
    )
    head, known = read_head(folder), llm.features_by_prompt(questions, meter)
    with torch.inference_mode():
        return sigmoid(head(torch.from_numpy(known)).numpy())


def _as_authors(
    folder: Path,
    info: ModelInfo,
    questions: Sequence[Question],
    llm_name: str | None,
    batch_questions: int,
    meter: NewMeter,
) -> NDArray[np.float64]:
    trained = load_trained(folder, llm_name=llm_name)
    with meter(f"predicting, seed {info.config['seed']}", len(questions), "questions") as bar:
        return confidences_as_authors(trained, questions, batch_questions, bar)


def describe(infos: Sequence[ModelInfo], authors_batch: int | None = None) -> dict[str, object]:
    """Write what system.yaml says of trained models."""
    info, config = infos[0], infos[0].config
    return {
        "name": system_name(info),
        "family": family(info),
        "method_class": info.method_class,
        "sees": "question",
        "labels_used": max(each.labels_used for each in infos),
        "samples_per_question": 0,
        "extra_passes": 1,
        "selected_on": info.selected_on,
        "description": f"{STAGES[config['stage']].summary}. {_training(infos)}{_asked(authors_batch)}",
    }


def _training(infos: Sequence[ModelInfo]) -> str:
    info, config = infos[0], infos[0].config
    layers = _layers(config["lora_layers"])
    if info.imported_from is not None:
        return f"Imported from {info.imported_from}; {layers}."
    return (
        f"Target {config['target']}, {config['targets_from']} sampled answers, "
        f"{info.n_questions} questions, {len(infos)} seed{'s' if len(infos) > 1 else ''}; "
        f"{layers}, learning rate {config['learning_rate']:g}, "
        f"{max(each.epochs_run for each in infos)} epochs at most."
    )


def _asked(authors_batch: int | None) -> str:
    if authors_batch is None:
        return ""
    return (
        f" Asked as the paper's authors do: batches of {authors_batch} questions in the release's order, padded on the "
        "right and read at the last position, so that a confidence depends on the questions beside it."
    )


def family(info: ModelInfo) -> str:
    """Name the method without its number of labels: rows of one family are a label-efficiency curve."""
    base = "eli-only" if info.config["target"] == "self_consistency" else "cal-only"
    kinds = [" head"] if info.config["lora_layers"] == 0 else []
    kinds += [" released"] if info.imported_from is not None else []
    return "".join(["elical" if info.config["stage"] == "calibrate" else base, *kinds])


def system_name(info: ModelInfo) -> str:
    """Name a row: its family as people write it, and the number of labels."""
    names = {"eli-only": "Eli-Only", "cal-only": "Cal-Only", "elical": "EliCal"}
    kinds = {"head": " (head on frozen features)", "released": " (released by the paper's authors)"}
    base, *more = family(info).split()
    labels = f", {info.labels_used:,} labels" if info.labels_used else ""
    return f"{names[base]}{''.join(kinds[kind] for kind in more)}{labels}"


def _layers(lora_layers: int | None) -> str:
    if lora_layers == 0:
        return "the LLM is frozen and the head alone is trained"
    return f"LoRA on {'all' if lora_layers is None else f'the top {lora_layers}'} layers"


def _refuse_mixed(folders: Sequence[Path], infos: Sequence[ModelInfo]) -> None:
    """Refuse models that are not one system with several seeds."""

    def rest(info: ModelInfo) -> tuple[object, ...]:
        settings = {name: value for name, value in info.config.items() if name != "seed"}
        return (info.llm, info.weights, settings, info.release_id)

    for folder, info in zip(folders, infos, strict=True):
        if rest(info) != rest(infos[0]):
            what = "the models differ in more than their seed"
            raise UsageError(what, where=f"{folders[0]} and {folder}", remedy="predict each system by itself")
    seeds = [info.config["seed"] for info in infos]
    if len(set(seeds)) < len(seeds):
        raise UsageError("two models have the same seed", value=seeds, remedy="name each model once")
