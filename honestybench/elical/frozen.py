"""What a frozen LLM says about questions: features, computed once for each set of questions and kept on disk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from honestybench import models
from honestybench.annotate.prompt import PromptTemplate
from honestybench.elical.backbone import load_backbone, load_tokenizer
from honestybench.elical.config import config_hash
from honestybench.elical.estimator import ConfidenceHead, Estimator
from honestybench.elical.features import features, read_kept
from honestybench.elical.feeds import TokenFeed
from honestybench.elical.questions import Question, Tokens, tokenise
from honestybench.progress import Meter

NewMeter = Callable[[str, int, str], Meter]


@dataclass(frozen=True, kw_only=True)
class FrozenLlm:
    """A decoder whose weights stay, loaded only where something is not on disk yet.

    `adapted_by` is the run hash of the model whose LoRA is put on it, if any. `work` None keeps nothing.
    """

    ref: models.ModelRef
    prompts: Mapping[str, PromptTemplate]
    dtype: str = "float32"
    token_budget: int = 2048
    share_prefix: bool = True
    device: Any = "cpu"
    work: Path | None = None
    adapted_by: str | None = None

    @cached_property
    def backbone(self) -> Any:
        """The decoder. Raises: ModelLoadError."""
        return load_backbone(self.ref, self.dtype)

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer. Raises: ModelLoadError."""
        return load_tokenizer(self.ref)

    def tokens(self, questions: Sequence[Question]) -> Tokens:
        """Encode questions (see `questions.tokenise`)."""
        return tokenise(self.tokenizer, self.prompts, questions, self.share_prefix)

    def features(self, questions: Sequence[Question], meter: NewMeter = Meter) -> NDArray[np.float32]:
        """Give the last hidden state (n, H) of each prompt's last token. Raises: ModelLoadError, StorageError."""
        store = self.store("features", questions)
        if store is not None and store.exists():
            return read_kept(store)
        feed = TokenFeed(self.tokens(questions))
        with meter("features", len(questions), "questions") as bar:
            return features(self.estimator(self.backbone, feed), feed, store, self.token_budget, bar)

    def features_by_prompt(self, questions: Sequence[Question], meter: NewMeter = Meter) -> NDArray[np.float32]:
        """Give features (n, H) as `features` does, of questions and of choices, each with its prompt's beginning."""
        found: NDArray[np.float32] | None = None
        for is_choice in (False, True):
            rows = [row for row, question in enumerate(questions) if question.is_choice == is_choice]
            if rows:
                known = self.features([questions[row] for row in rows], meter)
                found = np.empty((len(questions), known.shape[1]), dtype=np.float32) if found is None else found
                found[rows] = known
        return np.empty((0, 0), dtype=np.float32) if found is None else found

    def estimator(self, backbone: Any, feed: TokenFeed) -> Estimator:
        """Wrap a decoder, or a part of it, for its hidden states; the head means nothing."""
        head = ConfidenceHead(int(backbone.config.hidden_size))
        estimator = Estimator(backbone, head, torch.as_tensor(feed.tokens.prefix, dtype=torch.long))
        estimator.to(self.device).eval()
        return estimator

    def store(self, kind: str, questions: Sequence[Question], *more: str) -> Path | None:
        """Name the file for what the LLM gives for these questions; the name holds all that can change a byte."""
        if self.work is None:
            return None
        ids = [question.id for question in questions]
        prompts = {role: template.sha256 for role, template in self.prompts.items()}
        how = [self.dtype, self.token_budget, self.share_prefix, self.adapted_by]
        key = config_hash(kind, *more, self.ref.identity, prompts, ids, how)
        return self.work / kind / f"{key[:32]}.npy"
