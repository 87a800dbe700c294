"""The loop's arithmetic against formulas written out in numpy."""

import copy
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from honestybench.elical.config import TrainConfig
from honestybench.elical.estimator import ConfidenceHead
from honestybench.elical.feeds import FeatureFeed
from honestybench.elical.loop import Loop, Problem, learning_rate

FEATURES = np.array([[1.0, -2.0], [0.5, 0.25], [-1.0, 3.0]], dtype=np.float32)
TARGETS = np.array([0.9, 0.2, 0.4])


class Memory:
    def __init__(self) -> None:
        self.state: dict[str, Any] | None = None

    def save(self, state: dict[str, Any]) -> None:
        self.state = copy.deepcopy(state)

    def load(self) -> dict[str, Any] | None:
        return self.state


def accelerator() -> Any:
    """One process on a CPU: what the loop asks of accelerate."""
    from accelerate import Accelerator

    return Accelerator(cpu=True)


def head() -> ConfidenceHead:
    made = ConfidenceHead(2)
    made.load_state_dict(
        {
            "weight": torch.tensor([0.3, -0.2]),
            "bias": torch.tensor(0.1),
            "mean": torch.zeros(2),
            "scale": torch.ones(2),
        }
    )
    return made


def problem(selection: tuple[int, ...] = ()) -> Problem:
    feed = FeatureFeed(FEATURES, np.array([7, 8, 9]))
    return Problem(feed=feed, targets=TARGETS, fit_rows=np.arange(3), selection_rows=np.array(selection, dtype=int))


def by_hand(config: TrainConfig, steps: int) -> tuple[np.ndarray, list[float]]:
    """AdamW (Loshchilov and Hutter, 2019) in float64: weights (w1, w2, b) and the losses before each step."""
    weights, first, second, losses = np.array([0.3, -0.2, 0.1]), np.zeros(3), np.zeros(3), []
    inputs = np.column_stack([FEATURES.astype(float), np.ones(3)])
    for step in range(1, steps + 1):
        p = 1 / (1 + np.exp(-inputs @ weights))
        losses.append(float(np.mean((p - TARGETS) ** 2)))
        gradient = (2 * (p - TARGETS) * p * (1 - p)) @ inputs / 3
        norm = np.sqrt(np.sum(gradient**2))
        gradient *= min(1.0, config.clip_norm / (norm + 1e-6))
        rate = learning_rate(step - 1, steps, config)
        weights = weights - rate * config.weight_decay * weights * np.array([1, 1, 0])
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        weights = weights - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights, losses


@pytest.mark.parametrize("clip_norm", [1.0, 0.01])
def test_steps_are_those_of_adamw_on_the_mean_squared_error(clip_norm: float) -> None:
    config = TrainConfig(stage="head-only", epochs=4, batch_size=3, learning_rate=0.05, clip_norm=clip_norm)
    model = head()
    progress = Loop(model, problem(), config, accelerator(), Memory()).run()
    weights, losses = by_hand(config, 4)
    assert [line["loss"] for line in progress.losses] == pytest.approx(losses, abs=1e-6)
    found = [*model.weight.tolist(), model.bias.item()]
    assert found == pytest.approx(weights.tolist(), abs=1e-6)
    assert [line["prompt_tokens"] for line in progress.losses] == [24] * 4


def test_learning_rate_by_hand() -> None:
    config = TrainConfig(stage="elicit", learning_rate=1.0, warmup=0.2)
    # 10 steps: 2 of warm-up at 1/2 and 1, then 8 that fall from 1 by eighths.
    rates = [learning_rate(step, 10, config) for step in range(10)]
    assert rates == pytest.approx([0.5, 1, 1, 7 / 8, 6 / 8, 5 / 8, 4 / 8, 3 / 8, 2 / 8, 1 / 8])


def test_the_budget_changes_no_gradient() -> None:
    found = []
    for budget in (1, 100):
        config = TrainConfig(stage="head-only", epochs=3, batch_size=3, learning_rate=0.05, token_budget=budget)
        model = head()
        Loop(model, problem(), config, accelerator(), Memory()).run()
        found.append([*model.weight.tolist(), model.bias.item()])
    assert found[0] == pytest.approx(found[1], abs=1e-6)


def test_the_best_epoch_is_kept_and_patience_ends_the_run() -> None:
    # Row 2 to select on wants 0.4 and rows 0, 1 pull elsewhere: the error there falls at first and rises later.
    config = TrainConfig(stage="head-only", epochs=200, batch_size=3, learning_rate=0.05, patience=3, warmup=0)
    model = head()
    found = Problem(
        feed=FeatureFeed(FEATURES, np.array([7, 8, 9])),
        targets=TARGETS,
        fit_rows=np.arange(2),
        selection_rows=np.array([2]),
    )
    progress = Loop(model, found, config, accelerator(), Memory()).run()
    selected = [line["selection_loss"] for line in progress.losses if "selection_loss" in line]
    assert len(selected) == progress.epoch < 200
    assert progress.best_epoch == int(np.argmin(selected)) + 1 == progress.epoch - 3
    with torch.no_grad():
        kept = (torch.sigmoid(model(torch.from_numpy(FEATURES[2:])))[0].item() - 0.4) ** 2
    assert kept == pytest.approx(min(selected), abs=1e-6)


def test_a_run_stopped_at_any_step_ends_with_the_same_weights() -> None:
    config = TrainConfig(stage="head-only", epochs=4, batch_size=2, learning_rate=0.05)
    model = head()
    expected = Loop(model, problem((2,)), config, accelerator(), Memory()).run()
    whole = [*model.weight.tolist(), model.bias.item()]
    for stop in range(1, 8):
        store, counted = Memory(), SimpleNamespace(steps=0)

        def count(_: int, counted: SimpleNamespace = counted, stop: int = stop) -> None:
            counted.steps += 1
            if counted.steps == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Loop(head(), problem((2,)), config, accelerator(), store, count, checkpoint_every_s=0).run()
        other = head()
        if store.state is not None:
            with torch.no_grad():
                other.weight.zero_()  # Whatever a new process starts with is replaced.
        progress = Loop(other, problem((2,)), config, accelerator(), store).run()
        assert [*other.weight.tolist(), other.bias.item()] == whole
        assert progress.losses == expected.losses
