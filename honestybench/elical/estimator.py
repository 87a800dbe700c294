"""The estimator: a decoder's hidden state at the last attended token, and a linear head in float32."""

import copy
import inspect
import math
from typing import Any

import torch
from torch import Tensor, nn


class ConfidenceHead(nn.Module):
    """A linear map from a hidden state (size H, standardised by `mean` and `scale`) to the logit of the confidence.

    float32 whatever the decoder's type: in bfloat16 everything above 0.998 would become 1.0.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, size: int) -> None:
        """Start as `torch.nn.Linear` does, from torch's global generator."""
        super().__init__()
        bound = 1 / math.sqrt(size)
        self.weight = nn.Parameter(torch.empty(size).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(()).uniform_(-bound, bound))
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("scale", torch.ones(size))

    def forward(self, hidden: Tensor) -> Tensor:
        """Map hidden states (..., H) to logits (...) in float32."""
        with torch.autocast(hidden.device.type, enabled=False):
            standard = (hidden.float() - self.mean) / self.scale
            return (standard * self.weight).sum(-1) + self.bias


class Estimator(nn.Module):
    """Map prompts to the logit of the confidence, before any answer is decoded.

    `prefix` begins every prompt: token ids (P,), or hidden states (P, H) where the decoder is the upper part of one.
    Its keys and values are computed once for a batch, with gradients where weights learn, and once for all batches
    where they do not.
    """

    prefix: Tensor

    def __init__(self, backbone: Any, head: ConfidenceHead, prefix: Tensor) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = head
        self.register_buffer("prefix", prefix, persistent=False)
        self._kept: Any = None

    def train(self, mode: bool = True) -> "Estimator":
        """Switch the mode; keys and values kept from earlier weights are dropped."""
        self._kept = None
        super().train(mode)
        return self

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Compute logits (B,) in float32.

        `inputs` are token ids (B, T) or hidden states (B, T, H); `mask` (B, T) is 1 on attended positions, padding
        on either side. The result of a row depends neither on padding nor on the rows beside it.
        """
        logits: Tensor = self.head(self.hidden(inputs, mask))
        return logits

    def hidden(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Compute the last hidden state (B, H) at each row's last attended token."""
        inputs, mask = pad_right(inputs, mask)
        states = self.states(inputs, mask)
        picked: Tensor = states[torch.arange(len(mask), device=states.device), mask.sum(1) - 1]
        return picked

    def states(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Compute the last hidden states (B, T, H) of right-padded rows; those of padding mean nothing."""
        n_rows, n_shared = len(mask), len(self.prefix)
        cache = self._shared(n_rows) if n_shared else None
        attended = torch.cat([mask.new_ones(n_rows, n_shared), mask], dim=1) if n_shared else mask
        positions = n_shared + (mask.cumsum(1) - 1).clamp(min=0)
        states: Tensor = self.backbone(
            **self._named(inputs),
            attention_mask=attended,
            position_ids=positions,
            use_cache=cache is not None,
            **{cache_name(self.backbone): cache},
        ).last_hidden_state
        return states

    def prefix_states(self) -> Tensor:
        """Compute the last hidden states (P, H) of the prefix."""
        states: Tensor = self.backbone(**self._named(self.prefix[None]), use_cache=False).last_hidden_state[0]
        return states

    def _shared(self, n_rows: int) -> Any:
        """Give a cache that holds the prefix's keys and values for each of the rows."""
        cache = self._kept
        if cache is None:
            from transformers import DynamicCache

            cache = DynamicCache(config=self.backbone.config)
            self.backbone(**self._named(self.prefix[None]), use_cache=True, **{cache_name(self.backbone): cache})
            if not torch.is_grad_enabled():
                self._kept = cache
        rows = copy.copy(cache)
        # A pass appends to the cache in place; the layers' own tensors are never written to.
        rows.layers = [copy.copy(layer) for layer in cache.layers]
        rows.batch_repeat_interleave(n_rows)
        return rows

    def _named(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"inputs_embeds" if inputs.is_floating_point() else "input_ids": inputs}


def cache_name(backbone: Any) -> str:
    """Name the argument that takes keys and values: `cache` in newer versions of transformers."""
    return "cache" if "cache" in inspect.signature(backbone.forward).parameters else "past_key_values"


def pad_right(inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Move padding from the left to the right: beside a prefix, sliding attention would count it as distance."""
    first = mask.argmax(1, keepdim=True)
    if not first.any():
        return inputs, mask
    order = (torch.arange(mask.shape[1], device=mask.device) + first) % mask.shape[1]
    places = order if inputs.dim() == 2 else order[..., None].expand_as(inputs)
    return inputs.gather(1, places), mask.gather(1, order)
