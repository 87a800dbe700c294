"""A trained model on disk: PEFT's adapter layout, the confidence head, the prompts, a model card and the losses.

adapter_config.json, adapter_model.safetensors   as PEFT writes them; absent where the head alone was trained
confidence_head.safetensors                      weight (H,), bias (), mean (H,), scale (H,), all float32
prompts/<name>.txt                               the very templates that were trained on
elical.json                                      what was trained, on what; written last
losses.jsonl, losses.svg, README.md
"""

import io
import json
import os
import pickle
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from honestybench.annotate.prompt import PromptTemplate
from honestybench.elical.config import VERSION, TrainConfig
from honestybench.errors import DataError, StorageError, UsageError
from honestybench.records import canonical_json, sha256_hex
from honestybench.storage import refused_writes

INFO_NAME = "elical.json"
HEAD_NAME = "confidence_head.safetensors"
ADAPTER_NAME = "adapter_config.json"
CHECKPOINT_NAME = "checkpoint.pt"


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """What stands in elical.json.

    `llm` is the slug, `llm_name` what `models.resolve` takes, `weights` the identity of the weights. `labels_used`
    counts gold-labelled questions, those used for selection and by the model started from included. `prompts` maps
    roles ("qa", "mmlu") to template names. `run_hash` identifies the run: equal runs give equal models.
    `imported_from` names where a model that was trained elsewhere came from; of its run only the class, the labels
    and the selection are known, and the counts are 0.
    """

    llm: str
    llm_name: str
    weights: str
    release_id: str | None
    config: dict[str, Any]
    method_class: str
    labels_used: int
    selected_on: str
    n_questions: int
    epochs_run: int
    best_epoch: int
    selection_loss: float | None
    prompts: dict[str, str]
    started_from: str | None
    run_hash: str
    imported_from: str | None = None
    version: int = VERSION


def read_info(folder: Path) -> ModelInfo:
    """Read elical.json. Raises: UsageError where there is no trained model, DataError where it is not ours."""
    path = folder / INFO_NAME
    if not path.is_file():
        what = "the training here is not finished" if (folder / CHECKPOINT_NAME).exists() else "no trained model here"
        remedy = "train one: `honestybench elical train` goes on where it stopped"
        raise UsageError(what, where=str(folder), remedy=remedy)
    try:
        info = ModelInfo(**dict(json.loads(path.read_text(encoding="utf-8"))))
        if info.version != VERSION or type(info.labels_used) is not int or info.labels_used < 0:
            raise ValueError(f"version {info.version}, labels_used {info.labels_used}")
        TrainConfig(**info.config)
        return info
    except (ValueError, TypeError, UsageError) as error:
        raise DataError(f"this is not a file that this version writes: {error}", where=str(path)) from error


def read_prompts(folder: Path, info: ModelInfo) -> dict[str, PromptTemplate]:
    """Read the templates that the model was trained on, by role. Raises: DataError when one cannot be read."""
    found = {}
    for role, name in info.prompts.items():
        path = folder / "prompts" / f"{name}.txt"
        try:
            found[role] = PromptTemplate(name, path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, KeyError, UsageError) as error:
            what = "the prompt that the model was trained on cannot be read"
            raise DataError(f"{what}: {error}", where=str(path)) from error
    return found


def read_head(folder: Path) -> Any:
    """Read the confidence head. Raises: DataError when the file is missing or holds something else."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from honestybench.elical.estimator import ConfidenceHead

    path = folder / HEAD_NAME
    try:
        state = load_file(path)
        head = ConfidenceHead(len(state["weight"]))
        head.load_state_dict(state)
    except (OSError, SafetensorError, KeyError, RuntimeError, TypeError) as error:
        raise DataError(f"the confidence head cannot be read: {error}", where=str(path)) from error
    if not all(bool(torch.isfinite(tensor).all()) for tensor in state.values()):
        raise DataError("the confidence head holds numbers that are not finite", where=str(path))
    if not bool((head.scale > 0).all()):
        raise DataError("the confidence head divides by a scale that is not above 0", where=str(path))
    return head


def save_model(
    folder: Path,
    info: ModelInfo,
    head: Any,
    adapter: Any | None,
    prompts: Mapping[str, PromptTemplate],
    extra: Mapping[str, str],
) -> None:
    """Write a trained model; elical.json comes last, so a folder that has it is whole.

    `adapter` is the PEFT model, None where the head alone was trained; `extra` maps further file names to texts.
    Raises: StorageError.
    """
    from safetensors.torch import save

    with refused_writes(folder):
        (folder / "prompts").mkdir(parents=True, exist_ok=True)
        if adapter is not None:
            _save_adapter(adapter, folder)
        head_bytes = save({name: tensor.contiguous().cpu() for name, tensor in head.state_dict().items()})
        (folder / HEAD_NAME).write_bytes(head_bytes)
        for template in prompts.values():
            (folder / "prompts" / f"{template.name}.txt").write_text(template.text, encoding="utf-8")
        for name, text in extra.items():
            (folder / name).write_text(text, encoding="utf-8")
        aside = folder / f"{INFO_NAME}.partial"
        aside.write_text(json.dumps(json.loads(canonical_json(asdict(info))), indent=2) + "\n", encoding="utf-8")
        os.replace(aside, folder / INFO_NAME)
        (folder / CHECKPOINT_NAME).unlink(missing_ok=True)


def _save_adapter(adapter: Any, folder: Path) -> None:
    from safetensors import SafetensorError

    try:
        adapter.save_pretrained(folder, save_embedding_layers=False)
    except SafetensorError as error:
        remedy = "free some space, or name a folder on another disk with --out"
        raise StorageError(f"cannot write the adapter: {error}", where=str(folder), remedy=remedy) from error


class Checkpoint:
    """The state of an unfinished run, replaced in one step; a run with another hash is refused.

    Raises: UsageError when the folder holds something else than a run with this hash.
    """

    def __init__(self, folder: Path, run_hash: str) -> None:
        self._folder, self._run_hash = folder, run_hash
        self._path = folder / CHECKPOINT_NAME
        if folder.exists() and not folder.is_dir():
            what = "a file stands where the folder must be"
            raise UsageError(what, where=str(folder), remedy="name a new folder with --out")
        ours = {CHECKPOINT_NAME, f"{CHECKPOINT_NAME}.partial"}
        if folder.exists() and not self._path.exists() and {path.name for path in folder.iterdir()} - ours:
            raise UsageError("the folder is not empty", where=str(folder), remedy="name a new folder with --out")

    def save(self, state: dict[str, Any]) -> None:
        """Keep a state in place of the last one."""
        import torch

        with refused_writes(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            aside = self._folder / f"{CHECKPOINT_NAME}.partial"
            # torch's own writer hides why a disk refuses.
            held = io.BytesIO()
            torch.save({"run_hash": self._run_hash, **state}, held)
            aside.write_bytes(held.getbuffer())
            os.replace(aside, self._path)

    def load(self) -> dict[str, Any] | None:
        """Give the last state, None at the first start. Raises: UsageError, DataError."""
        import torch

        if not self._path.exists():
            return None
        remedy = "delete the folder to start anew, or name another with --out"
        try:
            # What is no archive goes to torch's reader of old files, which may raise anything.
            if not zipfile.is_zipfile(self._path):
                raise ValueError("it is no archive, or its end is missing")
            state: dict[str, Any] = torch.load(self._path, weights_only=True)
            if not isinstance(state, dict):
                raise ValueError("it holds something else")
        except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError) as error:
            raise DataError(f"the checkpoint cannot be read: {error}", where=str(self._path), remedy=remedy) from error
        if state.pop("run_hash", None) != self._run_hash:
            what = "the folder holds an unfinished run with other settings, LLM or release"
            raise UsageError(what, where=str(self._folder), remedy=remedy)
        return state


def is_trained(folder: Path, run_hash: str) -> bool:
    """Tell whether this very run stands finished in a folder. Raises: UsageError when another does."""
    if not (folder / INFO_NAME).exists():
        return False
    if read_info(folder).run_hash != run_hash:
        what = "the folder holds a model trained with other settings, on another LLM or release"
        raise UsageError(what, where=str(folder), remedy="name another folder with --out")
    return True


def run_hash_of(config: TrainConfig, parts: Sequence[object]) -> str:
    """Hash all that can change the trained model; 64 hexadecimal digits."""
    return sha256_hex(canonical_json([VERSION, asdict(config), *parts]))
