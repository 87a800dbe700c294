"""The training loop: one process or many (`accelerate launch`), resumable to the bit, best epoch kept."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from honestybench.elical.batches import Rows, epoch_order, micro_batches, step_batches
from honestybench.elical.config import TrainConfig
from honestybench.elical.feeds import Feed
from honestybench.errors import HonestyBenchError

CHECKPOINT_EVERY_S = 120.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """What there is to learn: inputs by row, targets (n,) in [0, 1], the rows to fit and those to select on."""

    feed: Feed
    targets: NDArray[np.float64]
    fit_rows: Rows
    selection_rows: Rows


@dataclass(kw_only=True)
class Progress:
    """Where a run stands. `losses` holds a line for each optimiser step and for each selection."""

    epoch: int = 0
    step: int = 0
    is_over: bool = False
    best_loss: float | None = None
    best_epoch: int = 0
    losses: list[dict[str, float]] = field(default_factory=list)


class Store(Protocol):
    """Where a run keeps what it needs to go on after a kill."""

    def save(self, state: dict[str, Any]) -> None:
        """Keep a state in place of the last one, in one step."""

    def load(self) -> dict[str, Any] | None:
        """Give the last state, None at the first start."""


def learning_rate(step: int, total: int, config: TrainConfig) -> float:
    """Compute the rate of a step (from 0): linear warm-up whose first step is not idle, then linear decay to 0."""
    warm = math.ceil(config.warmup * total)
    if step < warm:
        return config.learning_rate * (step + 1) / warm
    return config.learning_rate * (total - step) / max(1, total - warm)


class Loop:
    """Minimise the mean squared error between confidence and target with AdamW.

    An optimiser step's gradient is that of its whole batch, however it is cut into passes and shared among
    processes. After each epoch the error on the selection rows decides whether its weights are the best so far.
    """

    def __init__(
        self,
        model: nn.Module,
        problem: Problem,
        config: TrainConfig,
        accelerator: Any,
        store: Store,
        on_step: Callable[[int], None] = lambda _: None,
        checkpoint_every_s: float = CHECKPOINT_EVERY_S,
    ) -> None:
        """Take a model whose learning weights require gradients; `on_step` is told the prompt tokens of each step."""
        self._problem, self._config, self._accelerator, self._store = problem, config, accelerator, store
        self._on_step, self._checkpoint_every_s, self._saved = on_step, checkpoint_every_s, time.monotonic()
        self._model = model.to(accelerator.device)
        self._learning = {name: weight for name, weight in model.named_parameters() if weight.requires_grad}
        plain = [weight for weight in self._learning.values() if weight.dim()]
        biases = [weight for weight in self._learning.values() if not weight.dim()]
        self._optimizer = torch.optim.AdamW(
            [{"params": plain, "weight_decay": config.weight_decay}, {"params": biases, "weight_decay": 0.0}]
        )
        self._n_epochs = config.max_epochs(len(problem.fit_rows))
        self._total = self._n_epochs * len(step_batches(problem.fit_rows, config.batch_size))
        self._best: dict[str, Tensor] = {}
        self.progress = Progress()
        self._restore(store.load())

    @property
    def n_steps(self) -> int:
        """Optimiser steps of all epochs."""
        return self._total

    def run(self) -> Progress:
        """Train to the end, from wherever an earlier process was stopped, and leave the best weights in the model."""
        while not self.progress.is_over:
            self._epoch()
        for name, weight in self._best.items():
            self._learning[name].data.copy_(weight)
        return self.progress

    def _epoch(self) -> None:
        """Run what is left of the current epoch and decide whether there is another."""
        progress, config = self.progress, self._config
        batches = step_batches(epoch_order(self._problem.fit_rows, config.seed, progress.epoch), config.batch_size)
        for batch in batches[progress.step - progress.epoch * len(batches) :]:
            self._step(batch)
            if time.monotonic() - self._saved >= self._checkpoint_every_s:
                self._save()
        self._select()
        progress.epoch += 1
        is_stale = progress.best_loss is not None and progress.epoch - progress.best_epoch >= config.patience
        progress.is_over = progress.epoch >= self._n_epochs or is_stale
        self._save()

    def _step(self, batch: Rows) -> None:
        config, feed = self._config, self._problem.feed
        rate = learning_rate(self.progress.step, self._total, config)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._model.train()
        self._optimizer.zero_grad()
        total = 0.0
        for rows in self._own_passes(batch):
            loss = self._squared_error(rows) / len(batch)
            loss.backward()
            total += float(loss.detach())
        mean = self._finite(self._summed(total))
        self._sum_gradients()
        nn.utils.clip_grad_norm_(list(self._learning.values()), config.clip_norm)
        self._optimizer.step()
        self.progress.step += 1
        tokens = int(feed.n_prompt_tokens[batch].sum())
        self.progress.losses.append(
            {
                "step": self.progress.step,
                "epoch": self.progress.epoch,
                "loss": mean,
                "learning_rate": rate,
                "n_questions": len(batch),
                "prompt_tokens": tokens,
            }
        )
        self._on_step(tokens)

    def _select(self) -> None:
        """Measure the mean squared error on the selection rows and keep the weights if it is the lowest."""
        rows = self._problem.selection_rows
        if not len(rows):
            return
        self._model.eval()
        with torch.no_grad():
            total = sum(float(self._squared_error(part)) for part in self._own_passes(rows))
        loss = self._finite(self._summed(total) / len(rows))
        progress = self.progress
        progress.losses.append({"step": progress.step, "epoch": progress.epoch, "selection_loss": loss})
        if progress.best_loss is None or loss < progress.best_loss:
            progress.best_loss, progress.best_epoch = loss, progress.epoch + 1
            self._best = self._weights()

    def _squared_error(self, rows: Rows) -> Tensor:
        """Sum the squared errors of some rows; an empty pass computes a row and counts nothing of it."""
        device = self._accelerator.device
        filled = rows if len(rows) else self._problem.fit_rows[:1]
        inputs = [tensor.to(device) for tensor in self._problem.feed.batch(filled)]
        targets = torch.as_tensor(self._problem.targets[filled], dtype=torch.float32, device=device)
        half = self._config.dtype == "bfloat16"
        with torch.autocast(device.type, torch.bfloat16, enabled=half):
            logits = self._model(*inputs)
        errors = (torch.sigmoid(logits.float()) - targets).square()
        return errors.sum() * (1.0 if len(rows) else 0.0)

    def _own_passes(self, rows: Rows) -> list[Rows]:
        accelerator = self._accelerator
        feed = self._problem.feed
        passes = micro_batches(
            rows,
            feed.lengths,
            self._config.token_budget,
            multiple_of=accelerator.num_processes,
            shared=feed.n_shared,
        )
        return passes[accelerator.process_index :: accelerator.num_processes]

    def _finite(self, loss: float) -> float:
        """Pass a loss on. Raises: HonestyBenchError when it is no number: no later step would mend the weights."""
        if not math.isfinite(loss):
            raise HonestyBenchError(
                "the loss is no number any more; nothing was saved",
                where=f"step {self.progress.step + 1}",
                value=loss,
                remedy="train with a lower --learning-rate into a new folder",
            )
        return loss

    def _sum_gradients(self) -> None:
        """Sum the gradients over processes: few weights learn, so one exchange a step replaces a wrapped model."""
        if self._accelerator.num_processes == 1:
            return
        gradients = [weight.grad for weight in self._learning.values()]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        summed = self._accelerator.reduce(flat, reduction="sum")
        for gradient, part in zip(gradients, summed.split([each.numel() for each in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))

    def _summed(self, value: float) -> float:
        if self._accelerator.num_processes == 1:
            return value
        held = torch.tensor(value, dtype=torch.float64, device=self._accelerator.device)
        return float(self._accelerator.reduce(held, reduction="sum"))

    def _weights(self) -> dict[str, Tensor]:
        return {name: weight.detach().cpu().clone() for name, weight in self._learning.items()}

    def _save(self) -> None:
        self._saved = time.monotonic()
        state = {
            "progress": self.progress.__dict__,
            "weights": self._weights(),
            "best": self._best,
            "optimizer": self._optimizer.state_dict(),
        }
        if self._accelerator.is_main_process:
            self._store.save(state)
        self._accelerator.wait_for_everyone()

    def _restore(self, state: dict[str, Any] | None) -> None:
        if state is None:
            return
        self.progress = Progress(**state["progress"])
        self._best = state["best"]
        self._optimizer.load_state_dict(state["optimizer"])
        for name, weight in state["weights"].items():
            self._learning[name].data.copy_(weight)
