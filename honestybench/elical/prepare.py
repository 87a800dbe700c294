"""Make a run ready to learn: the inputs and the model of a configuration, by which layers learn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from honestybench.elical.backbone import add_lora, longest_prompt, resume_lora, shard_layers, split_at, top_layers
from honestybench.elical.config import TrainConfig
from honestybench.elical.estimator import ConfidenceHead, Estimator
from honestybench.elical.features import lower_states
from honestybench.elical.feeds import FeatureFeed, Feed, HiddenFeed, TokenFeed
from honestybench.elical.frozen import FrozenLlm, NewMeter
from honestybench.elical.head_start import ridge_start, standardise
from honestybench.elical.loop import Problem
from honestybench.elical.questions import read_questions, refuse_long
from honestybench.elical.saved import ADAPTER_NAME, read_head, read_info
from honestybench.elical.setting import Examples, Setting, read_examples
from honestybench.errors import ModelLoadError
from honestybench.progress import Meter


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

        self._setting, self._config = setting, config
        self.accelerator = Accelerator()
        self._meter = meter_of(self.accelerator, meter)
        self.examples = read_examples(setting, config)
        self._llm = FrozenLlm(
            ref=setting.ref,
            prompts=setting.prompts,
            dtype=config.dtype,
            token_budget=config.token_budget,
            share_prefix=config.shares_prefix,
            device=self.accelerator.device,
            work=setting.work,
            adapted_by=None if not _has_adapter(setting) else read_info(Path(str(setting.start))).run_hash,
        )
        self._tokens = TokenFeed(self._llm.tokens(self.examples.questions))
        if config.lora_layers != 0:
            refuse_long(self.examples.questions, self._tokens.tokens, longest_prompt(self._llm.backbone))
        self.adapter = self._adapt()
        self.head = self._new_head()

    def learning(self) -> tuple[nn.Module, Feed]:
        """Choose what learns: the head on features, the top layers on cached states, or all layers."""
        if self._config.lora_layers == 0:
            return self.head, FeatureFeed(self._features, self._tokens.n_prompt_tokens)
        top = top_layers(self._llm.backbone, self._config)
        if top is not None:
            return self._upper(top)
        if self._config.gradient_checkpointing:
            self._llm.backbone.gradient_checkpointing_enable({"use_reentrant": False})
        if self._config.shard and self.accelerator.num_processes > 1:
            shard_layers(self._llm.backbone, self.accelerator)
        return Estimator(self._llm.backbone, self.head, _prefix_ids(self._tokens)), self._tokens

    def _adapt(self) -> Any | None:
        """Put LoRA on the decoder: that of the model started from, or a new one."""
        config, start = self._config, self._setting.start
        if start is not None and _has_adapter(self._setting):
            return resume_lora(self._llm.backbone, start, config)
        if config.lora_layers == 0:
            return None
        backbone = self._llm.backbone
        # Seeded here and at the head, so that loading, or finding a file instead, leaves the same weights.
        torch.manual_seed(config.seed)
        return add_lora(backbone, config, self._setting.ref.name)

    def _new_head(self) -> ConfidenceHead:
        if self._setting.start is not None:
            started: ConfidenceHead = read_head(self._setting.start)
            return started
        knows = self._config.head_init == "ridge" or self._config.lora_layers == 0
        size = self._features.shape[1] if knows else int(self._llm.backbone.config.hidden_size)
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
            return self._first(lambda: self._llm.features(self.examples.questions, self._meter))
        setting = self._setting
        pool = read_questions(setting.release, setting.llm, "train")
        known = {question.id for question in pool}
        pool += [question for question in self.examples.questions if question.id not in known]
        rows = {question.id: row for row, question in enumerate(pool)}
        found = self._first(lambda: self._llm.features(pool, self._meter))
        return found[[rows[question.id] for question in self.examples.questions]]

    def _upper(self, top: int) -> tuple[nn.Module, Feed]:
        """Part the decoder below its top layers, cache what the lower part gives, and learn on that."""
        whole = self._llm.estimator(self._llm.backbone, self._tokens)
        few = self._placed(self._tokens.batch(np.argsort(-self._tokens.lengths)[:2]))
        with torch.no_grad():
            expected = self.head(whole.hidden(*few))
            bottom, upper = split_at(self._llm.backbone, top)
            lower = self._llm.estimator(bottom, self._tokens)
            no_prefix = torch.zeros(0, self.head.weight.numel(), device=self.accelerator.device)
            estimator = Estimator(upper, self.head, lower.prefix_states() if len(lower.prefix) else no_prefix)
            found = estimator.eval()(lower.states(*few), few[1])
        self._refuse_unequal(found, expected)
        store, budget = self._llm.store("lower", self.examples.questions, str(top)), self._config.token_budget

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

    def _first(self, compute: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
        """Compute on the main process first; the others then find the file."""
        with self.accelerator.main_process_first():
            return compute()

    def _placed(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        return [tensor.to(self.accelerator.device) for tensor in tensors]


def meter_of(accelerator: Any, meter: NewMeter) -> NewMeter:
    """Show progress in the first of several processes only."""
    return meter if accelerator.is_main_process else partial(Meter, quiet_s=None)


def _has_adapter(setting: Setting) -> bool:
    return setting.start is not None and (setting.start / ADAPTER_NAME).exists()


def _prefix_ids(feed: TokenFeed) -> Tensor:
    return torch.as_tensor(feed.tokens.prefix, dtype=torch.long)
