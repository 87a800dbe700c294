from dataclasses import replace
from typing import Any

import pytest

from honestybench.elical.config import STAGES, TrainConfig, config_hash
from honestybench.errors import UnknownNameError, UsageError


def test_defaults_are_the_settings_of_the_paper() -> None:
    """Annotation-Efficient Universal Honesty Alignment (arXiv 2510.17509), as its authors trained."""
    config = TrainConfig(stage="elicit")
    assert (config.learning_rate, config.warmup, config.weight_decay, config.batch_size) == (5e-5, 0.1, 0.1, 512)
    assert (config.lora_rank, config.lora_alpha, config.lora_layers, config.patience) == (8, 16, None, 4)


@pytest.mark.parametrize(
    ("stage", "target", "uses_labels", "layers", "rate"),
    [
        ("elicit", "self_consistency", False, None, 5e-5),
        ("calibrate", "sample_accuracy", True, None, 5e-5),
        ("cal-only", "sample_accuracy", True, None, 5e-5),
        ("head-only", "sample_accuracy", True, 0, 1e-3),
    ],
)
def test_a_stage_sets_what_is_not_given(stage: str, target: str, uses_labels: bool, layers: Any, rate: float) -> None:
    config = TrainConfig(stage=stage)
    assert (config.target, config.uses_labels, config.lora_layers) == (target, uses_labels, layers)
    assert config.learning_rate == rate


def test_every_stage_is_tested_here() -> None:
    assert set(STAGES) == {"elicit", "calibrate", "cal-only", "head-only"}


def test_what_is_given_stays() -> None:
    config = TrainConfig(stage="head-only", target="self_consistency", learning_rate=0.5)
    assert not config.uses_labels and config.learning_rate == 0.5
    assert TrainConfig(stage="elicit", lora_layers=0).learning_rate == 1e-3
    # A configuration that went through its own fields, as a saved one does, is the same.
    assert replace(config, seed=0) == config


@pytest.mark.parametrize(
    ("n_questions", "epochs"),
    [(1, 50), (10_000, 50), (10_001, 15), (200_000, 15), (200_001, 10), (560_000, 10)],
)
def test_epochs_follow_the_number_of_questions(n_questions: int, epochs: int) -> None:
    assert TrainConfig(stage="elicit").max_epochs(n_questions) == epochs
    assert TrainConfig(stage="elicit", epochs=3).max_epochs(n_questions) == 3


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("stage", "elicitate", r"unknown stage \(got 'elicitate'\).*did you mean 'elicit'"),
        ("target", "accuracy", "unknown target"),
        ("head_init", "zero", "unknown head init"),
        ("select_on", "test", "unknown select on"),
        ("dtype", "float16", "unknown dtype"),
    ],
)
def test_unknown_names_are_told_with_the_known_ones(name: str, value: str, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        TrainConfig(**{"stage": "elicit", name: value})


NAN, INFINITE = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, 0) for name in ("n_labels", "epochs", "batch_size", "patience", "lora_rank", "lora_alpha")),
        *((name, 0) for name in ("targets_from", "token_budget")),
        *((name, -1) for name in ("seed", "lora_layers")),
        ("targets_from", 21),
        *(("warmup", value) for value in (-0.1, 1.1, NAN)),
        *(("learning_rate", value) for value in (-1e-5, INFINITE, NAN)),
        *(("clip_norm", value) for value in (0.0, -1.0, INFINITE, NAN)),
        *(("weight_decay", value) for value in (-0.1, INFINITE, NAN)),
    ],
)
def test_numbers_out_of_range_are_told(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=name):
        TrainConfig(**{"stage": "elicit", name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("weight_decay", 0.0), ("warmup", 0.0), ("warmup", 1.0), ("lora_layers", 0), ("targets_from", 20), ("seed", 0)],
)
def test_numbers_at_the_border_are_taken(name: str, value: float) -> None:
    assert getattr(TrainConfig(**{"stage": "elicit", name: value}), name) == value


def test_settings_that_exclude_each_other_are_told() -> None:
    with pytest.raises(UsageError, match="needs no sampled answers"):
        TrainConfig(stage="cal-only", target="greedy_correctness", targets_from=5)
    with pytest.raises(UsageError, match=r"sharding is for LoRA on all layers.*--lora-layers"):
        TrainConfig(stage="elicit", shard=True, lora_layers=2)


@pytest.mark.parametrize("name", ["gradient_checkpointing", "shard"])
def test_what_computes_again_shares_no_prefix(name: str) -> None:
    assert TrainConfig(stage="elicit").shares_prefix
    assert not TrainConfig(**{"stage": "elicit", name: True}).shares_prefix


OTHER: dict[str, Any] = {
    "stage": "cal-only",
    "n_labels": 7,
    "target": "sample_accuracy",
    "targets_from": 3,
    "seed": 1,
    "epochs": 2,
    "batch_size": 8,
    "learning_rate": 1e-3,
    "warmup": 0.2,
    "weight_decay": 0.0,
    "clip_norm": 2.0,
    "patience": 1,
    "lora_rank": 4,
    "lora_alpha": 8,
    "lora_layers": 1,
    "head_init": "ridge",
    "select_on": "none",
    "dtype": "bfloat16",
    "token_budget": 64,
    "share_prefix": False,
    "gradient_checkpointing": True,
    "shard": True,
}


def test_each_setting_is_in_the_hash() -> None:
    assert OTHER.keys() == TrainConfig.__dataclass_fields__.keys()
    base = TrainConfig(stage="elicit")
    changed = [replace(base, **{name: value}) for name, value in OTHER.items()]
    assert len({config_hash(config) for config in [base, *changed]}) == 1 + len(OTHER)
    assert config_hash(base) == config_hash(TrainConfig(stage="elicit", learning_rate=5e-5))
    assert len(config_hash("a", 1, None)) == 64 and config_hash("a", "b") != config_hash("ab")
