"""Load a causal LM without its LM head, put LoRA on it, and part it at a layer."""

import copy
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from honestybench import models
from honestybench.elical.config import TrainConfig
from honestybench.errors import DataError, ModelLoadError, UsageError

ADAPTER_LAYERS = "layers"
"""Where Llama, Qwen, Mistral, Gemma and SmolLM keep their decoder layers."""


def load_tokenizer(ref: models.ModelRef) -> Any:
    """Load the tokenizer of an LLM. Raises: ModelLoadError."""
    from transformers import AutoTokenizer

    with _loading(ref):
        return AutoTokenizer.from_pretrained(models.weights(ref), revision=models.revision(ref))


def load_backbone(ref: models.ModelRef, dtype: str = "float32") -> Any:
    """Load the decoder of an LLM: without LM head, frozen, in evaluation mode.

    `dtype` "bfloat16" keeps the weights in that type; the confidence head is float32 in any case.
    Raises: ModelLoadError.
    """
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    with _loading(ref):
        backbone = AutoModel.from_pretrained(
            models.weights(ref), revision=models.revision(ref), dtype=getattr(torch, dtype)
        )
    return freeze(backbone, ref.name)


@contextmanager
def _loading(ref: models.ModelRef) -> Iterator[None]:
    from safetensors import SafetensorError

    if ref.kind != "hub":
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        yield
    # transformers raises whatever the Hub client, safetensors or the model's own code raise.
    except (
        OSError,
        RuntimeError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        ImportError,
        SafetensorError,
    ) as error:
        raise ModelLoadError(
            f"transformers could not load the model: {str(error).strip().splitlines()[0]}",
            where=ref.name,
            remedy="check the name, the memory it needs and whether transformers knows its architecture",
        ) from error


def freeze(backbone: Any, name: str) -> Any:
    """Freeze a decoder whose layers this package knows how to reach. Raises: ModelLoadError."""
    if not isinstance(getattr(backbone, ADAPTER_LAYERS, None), nn.ModuleList) or not hasattr(backbone, "norm"):
        raise ModelLoadError(
            "the model has no list of decoder layers and final norm where they are expected",
            where=name,
            value=type(backbone).__name__,
            remedy="use a text-only causal LM such as Llama, Qwen, Mistral, Gemma or SmolLM",
        )
    return backbone.requires_grad_(False).eval()


def n_layers(backbone: Any) -> int:
    """Count the decoder's layers."""
    return len(backbone.layers)


def longest_prompt(backbone: Any) -> int | None:
    """Give the number of tokens that the decoder can take, None where its configuration does not say."""
    return int(getattr(backbone.config, "max_position_embeddings", 0) or 0) or None


def add_lora(backbone: Any, config: TrainConfig, base_name: str) -> Any:
    """Put LoRA into the decoder's linear layers (all, or those of the top layers) and return the PEFT model around it.

    The decoder is changed in place. The A matrices come from torch's global generator: seed it before.
    Raises: UsageError when there are fewer layers than `lora_layers`.
    """
    from peft import LoraConfig, get_peft_model

    top = top_layers(backbone, config)
    settings = LoraConfig(
        r=config.lora_rank,
        lora_alpha=config.lora_alpha,
        lora_dropout=0.0,
        bias="none",
        target_modules=linear_names(backbone),
        layers_to_transform=None if top is None else list(range(n_layers(backbone) - top, n_layers(backbone))),
        layers_pattern=None if top is None else ADAPTER_LAYERS,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapped = get_peft_model(backbone, settings)
    wrapped.peft_config["default"].base_model_name_or_path = base_name
    return wrapped


def linear_names(backbone: Any) -> list[str]:
    """Name the linear maps inside the decoder's layers: q, k, v, o, gate, up and down projection in most LLMs."""
    modules = backbone.layers.named_modules()
    return sorted({name.rpartition(".")[2] for name, module in modules if isinstance(module, nn.Linear)})


def resume_lora(backbone: Any, folder: Path, config: TrainConfig) -> Any:
    """Put the LoRA of a saved model on the decoder; it learns on unless the head alone does.

    Raises: UsageError when it was trained with another rank or on other layers; DataError when it is damaged.
    """
    saved = _adapter_config(folder)
    top = top_layers(backbone, config)
    layers = None if top is None else list(range(n_layers(backbone) - top, n_layers(backbone)))
    if top != 0 and (saved.r, saved.lora_alpha, saved.layers_to_transform) != (
        config.lora_rank,
        config.lora_alpha,
        layers,
    ):
        raise UsageError(
            "the model to start from has LoRA of another rank, alpha or layers",
            where=str(folder),
            value=f"rank {saved.r}, alpha {saved.lora_alpha}, layers {saved.layers_to_transform or 'all'}",
            remedy="give the same --lora-rank, --lora-alpha and --lora-layers as it was trained with",
        )
    return load_adapter(backbone, folder, is_trainable=top != 0)


def load_adapter(backbone: Any, folder: Path, *, is_trainable: bool) -> Any:
    """Put a saved adapter on a decoder and return the PEFT model around it.

    Raises: DataError when the adapter cannot be read, does not fit or lacks weights.
    """
    from peft import PeftModel
    from safetensors import SafetensorError

    try:
        with warnings.catch_warnings():
            # PEFT only warns, and would answer with weights that were never trained.
            warnings.filterwarnings("error", message="Found missing adapter keys")
            return PeftModel.from_pretrained(backbone, folder, is_trainable=is_trainable)
    except (OSError, SafetensorError, ValueError, RuntimeError, KeyError, TypeError, UserWarning) as error:
        what = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise DataError(f"the adapter cannot be loaded: {what}", where=str(folder)) from error


def _adapter_config(folder: Path) -> Any:
    from peft import PeftConfig

    try:
        return PeftConfig.from_pretrained(folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"the adapter's settings cannot be read: {error}", where=str(folder)) from error


def top_layers(backbone: Any, config: TrainConfig) -> int | None:
    """Give the number of layers to adapt, None for all. Raises: UsageError."""
    top, total = config.lora_layers, n_layers(backbone)
    if top is not None and top > total:
        raise UsageError(f"the LLM has {total} layers", where="lora_layers", value=top)
    return None if top == total else top


def split_at(backbone: Any, top: int) -> tuple[nn.Module, nn.Module]:
    """Part a decoder before its last `top` layers into two that share its weights.

    The first maps token ids to what enters the top layers; the second takes that as `inputs_embeds`. From then on
    the decoder itself must not run with a cache: its top layers count from 0.
    """
    cut = n_layers(backbone) - top
    bottom = _with_layers(backbone, 0, cut)
    bottom._modules["norm"] = nn.Identity()
    upper = _with_layers(backbone, cut, cut + top)
    for place, layer in enumerate(upper.layers):
        layer.self_attn.layer_idx = place

    def enter(module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        # Some decoders scale what they take for embeddings; here they are hidden states already.
        return (upper.__dict__["_entering"], *inputs[1:])

    def remember(module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        module.__dict__["_entering"] = named["inputs_embeds"]

    upper.register_forward_pre_hook(remember, with_kwargs=True)
    upper.layers[0].register_forward_pre_hook(enter)
    return bottom, upper


def shard_layers(backbone: Any, accelerator: Any) -> None:
    """Spread the frozen weights of the layers over all processes; each is gathered for its moment in a pass.

    LoRA's weights stay whole in every process, as the loop sums their gradients itself. The decoder moves to the
    process's device.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    backbone.to(accelerator.device)
    mesh = init_device_mesh(accelerator.device.type, (accelerator.num_processes,))
    learning = {weight for weight in backbone.parameters() if weight.requires_grad}
    for layer in backbone.layers:
        fully_shard(layer, mesh=mesh, ignored_params=learning)


def _with_layers(backbone: Any, start: int, stop: int) -> Any:
    """Make a decoder that shares all modules with another but runs some of its layers only."""
    part = copy.copy(backbone)
    part._modules = dict(backbone._modules)
    part._forward_pre_hooks = copy.copy(backbone._forward_pre_hooks)
    part._forward_pre_hooks_with_kwargs = copy.copy(backbone._forward_pre_hooks_with_kwargs)
    part._modules[ADAPTER_LAYERS] = nn.ModuleList(list(backbone.layers)[start:stop])
    part.config = copy.deepcopy(backbone.config)
    part.config.num_hidden_layers = stop - start
    if getattr(part.config, "layer_types", None):
        part.config.layer_types = list(backbone.config.layer_types)[start:stop]
    return part
