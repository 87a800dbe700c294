"""Load a trained model: the LLM's decoder, the adapter, the head, and the prompts it was trained on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from honestybench import models
from honestybench.annotate.prompt import PromptTemplate
from honestybench.elical.backbone import load_adapter, load_backbone, load_tokenizer, longest_prompt
from honestybench.elical.batches import micro_batches
from honestybench.elical.estimator import ConfidenceHead, Estimator
from honestybench.elical.feeds import TokenFeed
from honestybench.elical.questions import Question, refuse_long, tokenise
from honestybench.elical.saved import ADAPTER_NAME, ModelInfo, read_head, read_info, read_prompts
from honestybench.errors import DataError, UsageError
from honestybench.progress import Meter

TOKEN_BUDGET = 4096
ANCHORS = ("0", "Who?")
"""Texts that share nothing: rendered beside the questions they show where a prompt's fixed beginning ends."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Trained:
    """A trained model in memory, ready to ask."""

    info: ModelInfo
    backbone: Any
    tokenizer: Any
    head: ConfidenceHead
    prompts: Mapping[str, PromptTemplate]
    device: str
    _estimators: dict[bytes, Estimator] = field(default_factory=dict)

    def confidences(
        self, questions: Sequence[Question], token_budget: int = TOKEN_BUDGET, meter: Meter | None = None
    ) -> NDArray[np.float64]:
        """Compute the confidence (n,) in [0, 1] for each question, before any answer.

        A question's confidence does not depend on the others. Raises: DataError for one that is too long.
        """
        found = np.empty(len(questions))
        for is_choice in sorted({question.is_choice for question in questions}):
            # Questions of one prompt share its beginning.
            rows = np.array([row for row, each in enumerate(questions) if each.is_choice == is_choice])
            found[rows] = self._of_one_prompt([questions[row] for row in rows], token_budget, meter)
        return found

    def _of_one_prompt(
        self, questions: Sequence[Question], token_budget: int, meter: Meter | None
    ) -> NDArray[np.float64]:
        anchors = [Question(id=text, source="", text=text, is_choice=questions[0].is_choice) for text in ANCHORS]
        feed = TokenFeed(tokenise(self.tokenizer, self.prompts, [*questions, *anchors]))
        refuse_long(questions, feed.tokens, longest_prompt(self.backbone))
        estimator = self._estimator(feed.tokens.prefix)
        logits = np.empty(len(questions), dtype=np.float32)
        autocast = torch.autocast(self.device, torch.bfloat16, enabled=self.info.config["dtype"] == "bfloat16")
        with torch.inference_mode(), autocast:
            for rows in micro_batches(np.arange(len(questions)), feed.lengths, token_budget):
                ids, mask = feed.batch(rows)
                logits[rows] = estimator(ids.to(self.device), mask.to(self.device)).float().cpu().numpy()
                if meter is not None:
                    meter.advance(len(rows))
        return sigmoid(logits)

    def _estimator(self, prefix: NDArray[np.int32]) -> Estimator:
        """Give the estimator for a prompt's beginning; its keys and values stay for the next call."""
        key = prefix.tobytes()
        if key not in self._estimators:
            estimator = Estimator(self.backbone, self.head, torch.as_tensor(prefix, dtype=torch.long))
            estimator.to(self.device).eval()
            self._estimators[key] = estimator
        return self._estimators[key]


def sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Map float32 logits to confidences in float64, so that high ones stay apart."""
    half = np.exp(-np.abs(logits.astype(np.float64)))
    return np.where(logits >= 0, 1 / (1 + half), half / (1 + half))


def llm_of_model(info: ModelInfo, llm_name: str | None = None) -> models.ModelRef:
    """Resolve the LLM that a model was trained on. Raises: UsageError when these are other weights."""
    ref = models.resolve(llm_name or info.llm_name)
    if ref.identity != info.weights:
        raise UsageError(
            "these are not the weights that the model was trained on",
            where=f"LLM {ref.name}",
            value=ref.identity,
            remedy=f"give --llm-weights that are {info.weights}",
        )
    return ref


def load_trained(folder: Path, *, llm_name: str | None = None, device: str | None = None) -> Trained:
    """Load a trained model; `llm_name` says where the LLM's weights are, if not where training had them.

    `device` is a torch device, by default a GPU where there is one.
    Raises: UsageError where there is no trained model or these are other weights; DataError; ModelLoadError.
    """
    info = read_info(folder)
    ref = llm_of_model(info, llm_name)
    head = read_head(folder)
    backbone, tokenizer = load_backbone(ref, info.config["dtype"]), load_tokenizer(ref)
    size = int(backbone.config.hidden_size)
    if head.weight.numel() != size:
        what = f"the confidence head is not for this LLM, whose hidden states have {size} numbers"
        raise DataError(what, where=str(folder), value=head.weight.numel())
    if (folder / ADAPTER_NAME).exists():
        backbone = merge_free(backbone, folder)
    elif info.config["lora_layers"] != 0:
        raise DataError("the adapter that the model was trained with is missing", where=str(folder / ADAPTER_NAME))
    return Trained(
        info=info,
        backbone=backbone,
        tokenizer=tokenizer,
        head=head,
        prompts=read_prompts(folder, info),
        device=device or ("cuda" if torch.cuda.is_available() else "cpu"),
    )


def merge_free(backbone: Any, folder: Path) -> Any:
    """Put a saved adapter on a decoder and leave it apart from the weights, as it was in training.

    Raises: DataError when the adapter cannot be read or does not fit.
    """
    return load_adapter(backbone, folder, is_trainable=False).get_base_model()
