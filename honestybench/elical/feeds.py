"""What a forward pass eats: batches of token ids, of cached hidden states, or of cached features."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from honestybench.elical.batches import Rows
from honestybench.elical.questions import Tokens


class Feed(Protocol):
    """Training questions by row: how long each is, and the inputs of some of them."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Positions that a forward pass computes for each row."""

    @property
    def n_prompt_tokens(self) -> NDArray[np.int64]:
        """Tokens of each row's whole prompt, whatever of it is computed."""

    @property
    def n_shared(self) -> int:
        """Positions that every pass computes again: those of the shared prefix."""

    def batch(self, rows: Rows) -> tuple[Tensor, ...]:
        """Give the inputs of the model for some rows, right-padded, with their mask where there are positions."""


class TokenFeed:
    """Token ids without the shared prefix."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.lengths = tokens.lengths
        self.n_prompt_tokens = tokens.n_prompt_tokens
        self.n_shared = len(tokens.prefix)

    def batch(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """Give token ids (B, T) and mask (B, T)."""
        chosen = [self.tokens.suffixes[row] for row in rows]
        ids = torch.zeros(len(rows), max(map(len, chosen)), dtype=torch.long)
        for place, suffix in enumerate(chosen):
            ids[place, : len(suffix)] = torch.from_numpy(suffix)
        return ids, mask_of(self.lengths[rows])


class HiddenFeed:
    """Hidden states that enter the top layers: `states` (sum of lengths, H) of all rows one after another."""

    def __init__(self, states: NDArray[np.float32], lengths: NDArray[np.int64], n_prompt_tokens: Rows) -> None:
        self._states = states
        self.lengths = lengths
        self.n_prompt_tokens = n_prompt_tokens
        self.n_shared = int((n_prompt_tokens - lengths)[0])
        self._starts = np.concatenate([[0], np.cumsum(lengths)])

    def batch(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """Give hidden states (B, T, H) and mask (B, T)."""
        hidden = torch.zeros(len(rows), int(self.lengths[rows].max()), self._states.shape[1])
        for place, row in enumerate(rows):
            own = self._states[self._starts[row] : self._starts[row + 1]]
            hidden[place, : len(own)] = torch.from_numpy(np.array(own))
        return hidden, mask_of(self.lengths[rows])


class FeatureFeed:
    """Last-token hidden states (n, H) of the frozen LLM: the head's own input."""

    def __init__(self, features: NDArray[np.float32], n_prompt_tokens: Rows) -> None:
        self._features = features
        self.lengths = np.ones(len(features), dtype=np.int64)
        self.n_prompt_tokens = n_prompt_tokens
        self.n_shared = 0

    def batch(self, rows: Rows) -> tuple[Tensor]:
        """Give features (B, H)."""
        return (torch.from_numpy(np.array(self._features[rows])),)


def mask_of(lengths: Sequence[int] | NDArray[np.int64]) -> Tensor:
    """Mark the attended positions (B, T) of right-padded rows with 1."""
    counts = torch.as_tensor(np.asarray(lengths))
    return (torch.arange(int(counts.max()))[None, :] < counts[:, None]).long()
