"""Make a run ready to learn: the inputs and the model of a configuration, by which layers learn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from honestybench.elical.backbone import add_lora, load_backbone, load_tokenizer, resume_lora, split_at, top_layers
from honestybench.elical.config import TrainConfig, config_hash
from honestybench.elical.estimator import ConfidenceHead, Estimator
from honestybench.elical.features import features, lower_states
from honestybench.elical.feeds import FeatureFeed, Feed, HiddenFeed, TokenFeed
from honestybench.elical.head_start import ridge_start, standardise
from honestybench.elical.loop import Problem
from honestybench.elical.questions import Question, Tokens, read_questions, tokenise
from honestybench.elical.saved import ADAPTER_NAME, read_head, read_info
from honestybench.elical.setting import Examples, Setting, read_examples
from honestybench.errors import ModelLoadError
from honestybench.progress import Meter

NewMeter = Callable[[str, int, str], Meter]


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A run ready to learn: `model` is what the loop trains, `adapter` and `head` what is saved of it."""

    accelerator: Any
    model: nn.Module
    problem: Problem
    head: ConfidenceHead
    adapter: Any | None
    examples: Examples


def prepare(setting: Setting, config: TrainConfig, meter: NewMeter = Meter) -> Run:
    """Read, render, load and, where layers stay frozen, compute what they give.

    Raises: UsageError, ModelLoadError, StorageError.
    """
    builder = _Builder(setting, config, meter)
    model, feed = builder.learning()
    examples = builder.examples
    return Run(
        accelerator=builder.accelerator,
        model=model,
        problem=Problem(
            feed=feed, targets=examples.targets, fit_rows=examples.fit_rows, selection_rows=examples.selection_rows
        ),
        head=builder.head,
        adapter=builder.adapter,
        examples=examples,
    )


class _Builder:
    """Loads the LLM only where something is not on disk yet."""

    def __init__(self, setting: Setting, config: TrainConfig, meter: NewMeter) -> None:
        from accelerate import Accelerator

        self._setting, self._config, self._meter = setting, config, meter
        self.accelerator = Accelerator(mixed_precision="bf16" if config.dtype == "bfloat16" else "no")
        self.examples = read_examples(setting, config)
        self._tokens = TokenFeed(self._tokenised(self.examples.questions))
        self.adapter = self._adapt()
        self.head = self._new_head()

    def learning(self) -> tuple[nn.Module, Feed]:
        """Choose what learns: the head on features, the top layers on cached states, or all layers."""
        if self._config.lora_layers == 0:
            return self.head, FeatureFeed(self._features, self._tokens.n_prompt_tokens)
        top = top_layers(self._backbone, self._config)
        if top is not None:
            return self._upper(top)
        if self._config.gradient_checkpointing:
            self._backbone.gradient_checkpointing_enable({"use_reentrant": False})
        return Estimator(self._backbone, self.head, _prefix_ids(self._tokens)), self._tokens

    @cached_property
    def _backbone(self) -> Any:
        return load_backbone(self._setting.ref, self._config.dtype)

    @property
    def _shares(self) -> bool:
        return self._config.share_prefix and not self._config.gradient_checkpointing

    def _tokenised(self, questions: Sequence[Question]) -> Tokens:
        return tokenise(load_tokenizer(self._setting.ref), self._setting.prompts, questions, self._shares)

    def _adapt(self) -> Any | None:
        """Put LoRA on the decoder: that of the model started from, or a new one."""
        config, start = self._config, self._setting.start
        if start is not None and (start / ADAPTER_NAME).exists():
            return resume_lora(self._backbone, start, config)
        if config.lora_layers == 0:
            return None
        backbone = self._backbone
        # Seeded here and at the head, so that loading, or finding a file instead, leaves the same weights.
        torch.manual_seed(config.seed)
        return add_lora(backbone, config, self._setting.ref.name)

    def _new_head(self) -> ConfidenceHead:
        if self._setting.start is not None:
            started: ConfidenceHead = read_head(self._setting.start)
            return started
        knows = self._config.head_init == "ridge" or self._config.lora_layers == 0
        size = self._features.shape[1] if knows else int(self._backbone.config.hidden_size)
        torch.manual_seed(self._config.seed)
        head = ConfidenceHead(size)
        if knows:
            fit = self.examples.fit_rows
            standardise(head, self._features[fit])
            if self._config.head_init == "ridge":
                ridge_start(head, self._features[fit], self.examples.targets[fit])
        return head

    @cached_property
    def _features(self) -> NDArray[np.float32]:
        """The frozen LLM's features of the run's questions, from those of all train questions where they are pooled."""
        if not self._setting.is_pooled:
            return self._computed(self.examples.questions, self._tokens)
        setting = self._setting
        pool = read_questions(setting.release, setting.llm, "train")
        known = {question.id for question in pool}
        pool += [question for question in self.examples.questions if question.id not in known]
        rows = {question.id: row for row, question in enumerate(pool)}
        found = self._computed(pool, TokenFeed(self._tokenised(pool)))
        return found[[rows[question.id] for question in self.examples.questions]]

    def _computed(self, questions: Sequence[Question], feed: TokenFeed) -> NDArray[np.float32]:
        store, budget = self._store("features", questions), self._config.token_budget
        if store is not None and store.exists():
            kept: NDArray[np.float32] = np.load(store, mmap_mode="r")
            return kept

        def compute() -> NDArray[np.float32]:
            estimator = self._frozen(self._backbone, _prefix_ids(feed))
            with self._meter("features", len(questions), "questions") as bar:
                return features(estimator, feed, store, budget, bar)

        return self._first(compute)

    def _upper(self, top: int) -> tuple[nn.Module, Feed]:
        """Part the decoder below its top layers, cache what the lower part gives, and learn on that."""
        whole = self._frozen(self._backbone, _prefix_ids(self._tokens))
        few = self._placed(self._tokens.batch(np.argsort(-self._tokens.lengths)[:2]))
        with torch.no_grad():
            expected = whole(*few)
            bottom, upper = split_at(self._backbone, top)
            lower = self._frozen(bottom, _prefix_ids(self._tokens))
            no_prefix = torch.zeros(0, self.head.weight.numel(), device=self.accelerator.device)
            estimator = Estimator(upper, self.head, lower.prefix_states() if len(lower.prefix) else no_prefix)
            found = estimator.eval()(lower.states(*few), few[1])
        self._refuse_unequal(found, expected)
        store, budget = self._store("lower", self.examples.questions, str(top)), self._config.token_budget

        def compute() -> NDArray[np.float32]:
            with self._meter("lower layers", len(self._tokens.lengths), "questions") as bar:
                return lower_states(lower, self._tokens, store, budget, bar)

        return estimator, HiddenFeed(self._first(compute), self._tokens.lengths, self._tokens.n_prompt_tokens)

    def _refuse_unequal(self, found: Tensor, expected: Tensor) -> None:
        tolerance = 1e-4 if self._config.dtype == "float32" else 5e-2
        if not torch.allclose(found, expected, atol=tolerance, rtol=tolerance):
            raise ModelLoadError(
                "the decoder cannot be parted at a layer: its parts give another result than the whole",
                where=self._setting.ref.name,
                value=float((found - expected).abs().max()),
                remedy="train all layers: leave --lora-layers out",
            )

    def _frozen(self, backbone: Any, prefix: Tensor) -> Estimator:
        """Wrap a frozen decoder; its head is not asked."""
        estimator = Estimator(backbone, ConfidenceHead(int(self._backbone.config.hidden_size)), prefix)
        estimator.to(self.accelerator.device).eval()
        return estimator

    def _first(self, compute: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
        """Compute on the main process first; the others then find the file."""
        with self.accelerator.main_process_first():
            return compute()

    def _store(self, kind: str, questions: Sequence[Question], *more: str) -> Path | None:
        setting, config = self._setting, self._config
        if setting.work is None:
            return None
        ids = [question.id for question in questions]
        prompts = {role: template.sha256 for role, template in setting.prompts.items()}
        start = None if setting.start is None or self.adapter is None else read_info(setting.start).run_hash
        how = [config.dtype, config.token_budget, self._shares]
        key = config_hash(kind, *more, setting.release_id, setting.ref.identity, prompts, start, ids, how)
        return setting.work / kind / f"{key[:32]}.npy"

    def _placed(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        return [tensor.to(self.accelerator.device) for tensor in tensors]


def _prefix_ids(feed: TokenFeed) -> Tensor:
    return torch.as_tensor(feed.tokens.prefix, dtype=torch.long)
