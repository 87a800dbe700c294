"""What training measured is what a loaded model gives, however the training was computed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file

from honestybench.elical.config import TrainConfig
from honestybench.elical.loading import load_trained
from honestybench.elical.questions import read_questions
from honestybench.elical.saved import ModelInfo, read_info
from honestybench.elical.setting import Setting, find_setting, read_examples
from honestybench.elical.training import train
from honestybench.errors import HonestyBenchError, UsageError
from tests.elical import tiny
from tests.elical.conftest import WriteRelease

LLM = "made-up-llm"
QUICK: dict[str, Any] = {"epochs": 3, "batch_size": 32, "learning_rate": 1e-2}


def asked_again(folder: Path, setting: Setting, config: TrainConfig) -> float:
    """The selection error from the confidences of the model on disk."""
    examples = read_examples(setting, config)
    rows = examples.selection_rows
    found = load_trained(folder).confidences([examples.questions[row] for row in rows])
    return float(np.mean((found - examples.targets[rows]) ** 2))


def loss(info: ModelInfo) -> float:
    assert info.selection_loss is not None
    return info.selection_loss


WAYS: dict[str, dict[str, Any]] = {
    "whole": {},
    "top": {"lora_layers": 1},
    "head": {"lora_layers": 0},
    "ridge": {"lora_layers": 0, "head_init": "ridge"},
    "whole-ridge": {"head_init": "ridge"},
    "no-prefix": {"share_prefix": False},
    "recomputed": {"gradient_checkpointing": True},
    "top-no-prefix": {"lora_layers": 2, "share_prefix": False},
}


@pytest.mark.parametrize("way", WAYS)
def test_the_selection_error_is_that_of_the_saved_model(way: str, setting: Setting, tmp_path: Path) -> None:
    config = TrainConfig(stage="cal-only", **QUICK, **WAYS[way])
    info = train(setting, config, tmp_path / "model")
    assert asked_again(tmp_path / "model", setting, config) == pytest.approx(loss(info), abs=1e-6)


@pytest.mark.parametrize("family", ["Gemma2", "Mistral"])
@pytest.mark.parametrize("layers", [None, 1, 0])
def test_it_is_for_sliding_windows_too(
    family: str, layers: int | None, write_release: WriteRelease, tmp_path: Path
) -> None:
    setting = find_setting(write_release(tmp_path / "release", tiny.records(40, 5, 5), family), LLM)
    config = TrainConfig(stage="cal-only", lora_layers=layers, **QUICK)
    info = train(setting, config, tmp_path / "model")
    assert asked_again(tmp_path / "model", setting, config) == pytest.approx(loss(info), abs=1e-6)


@pytest.mark.parametrize("layers", [None, 1, 0])
def test_half_precision_agrees_as_far_as_it_can(layers: int | None, setting: Setting, tmp_path: Path) -> None:
    config = TrainConfig(stage="cal-only", lora_layers=layers, dtype="bfloat16", **QUICK)
    info = train(setting, config, tmp_path / "model")
    assert asked_again(tmp_path / "model", setting, config) == pytest.approx(loss(info), abs=2e-3)


@pytest.mark.parametrize("way", ["no-prefix", "recomputed"])
def test_ways_to_compute_give_one_result(way: str, setting: Setting, release: Path, tmp_path: Path) -> None:
    config = TrainConfig(stage="cal-only", **{**QUICK, "learning_rate": 1e-3})
    train(setting, config, tmp_path / "one")
    train(setting, replace(config, **WAYS[way]), tmp_path / "other")
    questions = read_questions(release, LLM, "in_domain")
    one, other = (load_trained(tmp_path / name).confidences(questions) for name in ("one", "other"))
    assert one == pytest.approx(other, abs=1e-4)


@pytest.fixture(scope="module")
def elicited(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agreement") / "elicited"
    train(find_setting(release, LLM), TrainConfig(stage="elicit", **QUICK), folder)
    return folder


def test_a_head_on_elicited_lora_leaves_the_lora(elicited: Path, setting: Setting, tmp_path: Path) -> None:
    started = replace(setting, start=elicited, work=tmp_path / "work")
    config = TrainConfig(stage="calibrate", lora_layers=0, **QUICK)
    info = train(started, config, tmp_path / "model")
    assert asked_again(tmp_path / "model", setting, config) == pytest.approx(loss(info), abs=1e-6)
    name = "adapter_model.safetensors"
    before, after = load_file(elicited / name), load_file(tmp_path / "model" / name)
    assert before.keys() == after.keys() and all((before[key] == after[key]).all() for key in before)


def test_labels_add_up_over_the_stages(elicited: Path, setting: Setting, tmp_path: Path) -> None:
    started = replace(setting, start=elicited)
    first = train(started, TrainConfig(stage="calibrate", n_labels=10, **QUICK), tmp_path / "first")
    again = replace(setting, start=tmp_path / "first")
    second = train(again, TrainConfig(stage="calibrate", n_labels=20, **QUICK), tmp_path / "second")
    assert (read_info(elicited).labels_used, first.labels_used, second.labels_used) == (0, 10, 30)
    assert second.started_from == first.run_hash


def test_a_model_of_another_llm_is_no_start(elicited: Path, write_release: WriteRelease, tmp_path: Path) -> None:
    """Weights of the same shapes: nothing else would tell."""
    other = write_release(tmp_path / "release", tiny.records(20, 5, 5), "Mistral")
    started = replace(find_setting(other, LLM), start=elicited)
    with pytest.raises(UsageError, match="trained on other weights than those of the LLM"):
        train(started, TrainConfig(stage="calibrate", **QUICK), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_loss_that_is_no_number_ends_the_run(setting: Setting, tmp_path: Path) -> None:
    config = TrainConfig(stage="cal-only", **{**QUICK, "learning_rate": 1e30})
    with pytest.raises(HonestyBenchError, match=r"step 2: the loss is no number.*lower --learning-rate"):
        train(setting, config, tmp_path / "model")
    assert not (tmp_path / "model" / "elical.json").exists()
