"""The paper authors' released heads: their files in our layout, and their way of asking.

lora_epoch_best/             a PEFT adapter around transformers' AutoModel; absent where the head alone was trained
vector_head_epoch_best.pt    the state dict of a linear head: weight (1, H) and bias (1,), under any common prefix

Their code pads prompts on the right and reads the hidden state at the last position of the batch, so mostly at a
padding token.
"""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from honestybench import models
from honestybench.annotate.prompt import load_prompt
from honestybench.elical.backbone import load_backbone, longest_prompt
from honestybench.elical.batches import Rows, step_batches
from honestybench.elical.card import model_card
from honestybench.elical.config import STAGES, TrainConfig
from honestybench.elical.estimator import ConfidenceHead
from honestybench.elical.feeds import TokenFeed
from honestybench.elical.loading import Trained, sigmoid
from honestybench.elical.questions import Question, refuse_long, tokenise
from honestybench.elical.saved import ADAPTER_NAME, ModelInfo, run_hash_of, save_model
from honestybench.errors import DataError, UsageError
from honestybench.progress import Meter
from honestybench.shards import file_sha256

LORA_FOLDER = "lora_epoch_best"
AUTHORS_HEAD = "vector_head_epoch_best.pt"
PROMPTS = {"qa": "paper-qa", "mmlu": "paper-mmlu"}
ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
BATCH_QUESTIONS = 16
"""Questions of a batch in the authors' training."""


def import_authors(
    folder: Path, out: Path, *, llm_name: str, labels_used: int, stage: str, selected_on: str = "in_domain"
) -> ModelInfo:
    """Write a model that the paper's authors released in our layout, into the new or empty folder `out`.

    `folder` holds their two files; without the adapter the head alone was trained. `llm_name` is what
    `models.resolve` takes. `labels_used` counts the gold-labelled questions that training and selection used, and
    `selected_on` is "train", "in_domain" or "none": the files tell neither. `stage` is a key of STAGES.
    Raises: UsageError where the files are not there or `out` is taken; DataError where they are not a linear head
    and an adapter for this LLM; ModelLoadError.
    """
    if out.exists() and any(out.iterdir()):
        raise UsageError("the folder is not empty", where=str(out), remedy="name a new folder with --out")
    lora = folder / LORA_FOLDER
    config = _config(stage, labels_used, selected_on, has_adapter=lora.exists())
    state, ref = read_authors_head(folder / AUTHORS_HEAD), models.resolve(llm_name)
    backbone = load_backbone(ref)
    head = _head(state, backbone.config.hidden_size, folder / AUTHORS_HEAD, ref.name)
    adapter = _adapter(backbone, lora, ref) if lora.exists() else None
    prompts = {role: load_prompt(name) for role, name in PROMPTS.items()}
    files = [folder / AUTHORS_HEAD, *sorted(lora.glob("adapter_*"))]
    info = ModelInfo(
        llm=ref.slug,
        llm_name=ref.name,
        weights=ref.identity,
        release_id=None,
        config=asdict(config),
        method_class="calibration" if config.uses_labels else STAGES[stage].method_class,
        labels_used=labels_used,
        selected_on=selected_on,
        n_questions=0,
        epochs_run=0,
        best_epoch=0,
        selection_loss=None,
        prompts=PROMPTS,
        started_from=None,
        run_hash=run_hash_of(config, [ref.identity, labels_used, *([path.name, file_sha256(path)] for path in files)]),
        imported_from="the files that the paper's authors released",
    )
    save_model(out, info, head, adapter, prompts, {"README.md": model_card(info, prompts, has_adapter=lora.exists())})
    return info


def _config(stage: str, labels_used: int, selected_on: str, *, has_adapter: bool) -> TrainConfig:
    """Say what is known of the training; all else stands at the paper's settings. Raises: UsageError."""
    config = TrainConfig(
        stage=stage,
        lora_layers=None if has_adapter else 0,
        select_on="carved" if selected_on == "train" else selected_on,
        learning_rate=5e-5,  # for a head alone too, where ours would be another
        seed=42,
    )
    if has_adapter and not STAGES[stage].has_lora:
        raise UsageError(f"the stage {stage} has no adapter, but {LORA_FOLDER} is there", where="--stage")
    if config.uses_labels != (labels_used > 0):
        need = "uses labels" if config.uses_labels else "uses no labels"
        raise UsageError(f"the stage {stage} {need}", where="--labels", value=labels_used)
    return config


def read_authors_head(path: Path) -> dict[str, torch.Tensor]:
    """Read the linear head: `weight` (H,) and `bias` (), float32.

    Raises: UsageError where there is no file; DataError where it is not the state dict of one linear map to a number.
    """
    if not path.is_file():
        raise UsageError(
            f"there is no {path.name}", where=str(path.parent), remedy=f"name the folder that holds {path.name}"
        )
    try:
        state = torch.load(path, weights_only=True, map_location="cpu")
    except (OSError, RuntimeError, ValueError, EOFError, KeyError, pickle.UnpicklingError) as error:
        what = f"the head is not a state dict of tensors: {_first_line(error)}"
        raise DataError(what, where=str(path)) from error
    if not isinstance(state, dict) or not all(isinstance(each, torch.Tensor) for each in state.values()):
        raise DataError("the head is not a state dict of tensors", where=str(path), value=type(state).__name__)
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    matrices = [name for name, shape in shapes.items() if len(shape) == 2]
    if len(matrices) > 1:
        what = "the head is an MLP, not one linear map, and cannot be taken over"
        raise DataError(what, where=str(path), value=matrices, remedy="import a release with a linear head")
    by_end = {name.rpartition(".")[2]: tensor.float() for name, tensor in state.items()}
    prefixes = {name.rpartition(".")[0] for name in state}
    ends = {name: tuple(tensor.shape) for name, tensor in by_end.items()}
    is_linear = (
        len(state) == 2 and len(prefixes) == 1 and ends.get("bias") == (1,) and ends.get("weight", ())[:1] == (1,)
    )
    if not is_linear or len(ends["weight"]) != 2:
        raise DataError(
            "the head is no linear map to one number: weight (1, H) and bias (1,)", where=str(path), value=shapes
        )
    if not all(bool(torch.isfinite(tensor).all()) for tensor in by_end.values()):
        raise DataError("the head holds numbers that are not finite", where=str(path))
    return {"weight": by_end["weight"][0], "bias": by_end["bias"][0]}


def confidences_as_authors(
    trained: Trained, questions: Sequence[Question], batch_questions: int = BATCH_QUESTIONS, meter: Meter | None = None
) -> NDArray[np.float64]:
    """Compute confidences (n,) in [0, 1] as the authors' code asks for them.

    Batches of `batch_questions` in the given order, padded on the right to the longest; the hidden state is read at
    the last position, which is padding in all rows but the longest. A question's confidence depends on the others
    of its batch. Each change of source or prompt begins a new batch, as the authors keep a file for each source.
    Raises: DataError for a question that is too long.
    """
    feed = TokenFeed(tokenise(trained.tokenizer, trained.prompts, questions, share_prefix=False))
    refuse_long(questions, feed.tokens, longest_prompt(trained.backbone))
    padding, device = padding_token(trained.tokenizer), trained.device
    backbone, head = trained.backbone.to(device).eval(), trained.head.to(device)
    logits = np.empty(len(questions), dtype=np.float32)
    autocast = torch.autocast(device, torch.bfloat16, enabled=trained.info.config["dtype"] == "bfloat16")
    with torch.inference_mode(), autocast:
        for rows in _file_batches(questions, batch_questions):
            ids, mask = (tensor.to(device) for tensor in feed.batch(rows))
            ids = ids.masked_fill(mask == 0, padding)
            states = backbone(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
            logits[rows] = head(states[:, -1]).float().cpu().numpy()
            if meter is not None:
                meter.advance(len(rows))
    return sigmoid(logits)


def _file_batches(questions: Sequence[Question], size: int) -> Iterator[Rows]:
    """Cut rows in order into batches of at most `size` that share source and prompt."""
    files = groupby(range(len(questions)), key=lambda row: (questions[row].source, questions[row].is_choice))
    for _, rows in files:
        yield from step_batches(np.array(list(rows)), size)


def padding_token(tokenizer: Any) -> int:
    """Give the token that pads: the tokenizer's own, or the end of text where it has none. Raises: UsageError."""
    for token in (tokenizer.pad_token_id, tokenizer.eos_token_id):
        if token is not None:
            return int(token)
    raise UsageError("the tokenizer has neither a padding nor an end token", where=str(tokenizer.name_or_path))


def _head(state: dict[str, torch.Tensor], size: int, path: Path, llm: str) -> ConfidenceHead:
    if len(state["weight"]) != size:
        what = f"the head is for hidden states of another size than the {size} of {llm}"
        raise DataError(
            what, where=str(path), value=len(state["weight"]), remedy="give --llm the LLM it was trained on"
        )
    head = ConfidenceHead(size)
    head.load_state_dict({**head.state_dict(), **state})
    return head


def _adapter(backbone: Any, lora: Path, ref: models.ModelRef) -> Any:
    """Put the authors' adapter on the decoder. Raises: DataError unless every one of its weights finds its place."""
    from peft import PeftConfig, PeftModel
    from peft.utils import get_peft_model_state_dict, load_peft_weights
    from safetensors import SafetensorError

    llm, remedy = ref.name, "give --llm the LLM it was trained on"
    # PEFT would look on the Hub for weights that are not there.
    if not (lora / ADAPTER_NAME).is_file() or not any((lora / name).is_file() for name in ADAPTER_WEIGHTS):
        raise DataError(
            f"there is no {ADAPTER_NAME} with {' or '.join(ADAPTER_WEIGHTS)}",
            where=str(lora),
            remedy="fetch the adapter's folder again, whole",
        )
    try:
        config = PeftConfig.from_pretrained(lora)
        _refuse_other_base(config.base_model_name_or_path, ref, lora)
        # A task type would wrap the decoder in a class that expects an LM head.
        config.task_type, config.base_model_name_or_path = None, llm
        given = load_peft_weights(str(lora), device="cpu")
        wrapped = PeftModel.from_pretrained(backbone, lora, config=config)
    except (OSError, SafetensorError, ValueError, RuntimeError, KeyError, TypeError, pickle.UnpicklingError) as error:
        what = f"the adapter does not fit {llm}: {_first_line(error)}"
        raise DataError(what, where=str(lora), remedy=remedy) from error
    # PEFT leaves out in silence what has no place.
    astray = given.keys() ^ set(get_peft_model_state_dict(wrapped, save_embedding_layers=False))
    if astray:
        what = f"the adapter does not fit {llm}: {len(astray)} weights are in one of them only"
        raise DataError(what, where=str(lora), value=min(astray), remedy=remedy)
    if not all(bool(torch.isfinite(tensor).all()) for tensor in given.values()):
        raise DataError("the adapter holds numbers that are not finite", where=str(lora))
    return wrapped


def _refuse_other_base(named: str | None, ref: models.ModelRef, lora: Path) -> None:
    """Refuse an adapter that names another LLM: a base and an instruct model have the same shapes."""
    base = (named or "").rstrip("/").rpartition("/")[2].lower()
    if base and base != ref.slug:
        raise DataError(
            f"the adapter does not fit {ref.name}: it was trained on another LLM",
            where=str(lora),
            value=named,
            remedy="give --llm the LLM it was trained on; if this is it under another name, write that name "
            f"into {ADAPTER_NAME} as base_model_name_or_path",
        )


def _first_line(error: Exception) -> str:
    """Give the first line of an error's text; that of an empty file has none."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
