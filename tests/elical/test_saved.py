"""A trained model on disk: what is damaged, foreign or unfinished is told, and a kill leaves nothing half-read."""

import json
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from honestybench.elical.backbone import resume_lora
from honestybench.elical.config import TrainConfig
from honestybench.elical.loading import load_trained
from honestybench.elical.prepare import prepare
from honestybench.elical.saved import (
    CHECKPOINT_NAME,
    HEAD_NAME,
    INFO_NAME,
    Checkpoint,
    read_head,
    read_info,
    save_model,
)
from honestybench.elical.setting import Setting, find_setting
from honestybench.elical.training import train
from honestybench.errors import DataError, HonestyBenchError, StorageError, UsageError
from tests.elical import tiny

QUICK: dict[str, Any] = {"epochs": 2, "batch_size": 48, "learning_rate": 1e-2}
HEAD = TrainConfig(stage="head-only", **QUICK)
WHOLE = TrainConfig(stage="cal-only", n_labels=40, **QUICK)


@pytest.fixture(scope="module")
def trained(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with LoRA, for copying."""
    folder = tmp_path_factory.mktemp("saved") / "model"
    train(find_setting(release, "made-up-llm"), WHOLE, folder)
    return folder


@pytest.fixture()
def model(trained: Path, tmp_path: Path) -> Path:
    """A copy of that model, for damaging."""
    folder = tmp_path / "model"
    for path in trained.rglob("*"):
        if path.is_file():
            (folder / path.relative_to(trained)).parent.mkdir(parents=True, exist_ok=True)
            (folder / path.relative_to(trained)).write_bytes(path.read_bytes())
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_finished_folder_holds_what_it_says_and_no_checkpoint(trained: Path) -> None:
    assert set(contents(trained)) == {
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
        "confidence_head.safetensors",
        "elical.json",
        "losses.jsonl",
        "losses.svg",
        "prompts/paper-mmlu.txt",
        "prompts/paper-qa.txt",
    }
    # The LLM's own weights (3 layers, 300 words) are no part of it: only LoRA, in float32.
    adapter = load_file(trained / "adapter_model.safetensors")
    assert len(adapter) == 3 * 7 * 2 and {tensor.dtype for tensor in adapter.values()} == {torch.float32}
    assert all(".lora_A." in name or ".lora_B." in name for name in adapter)
    head = load_file(trained / HEAD_NAME)
    assert {name: (list(tensor.shape), tensor.dtype) for name, tensor in head.items()} == {
        "weight": ([32], torch.float32),
        "bias": ([], torch.float32),
        "mean": ([32], torch.float32),
        "scale": ([32], torch.float32),
    }


def test_what_stands_in_elical_json_is_read_back(trained: Path) -> None:
    info = read_info(trained)
    assert info.config == json.loads((trained / INFO_NAME).read_text())["config"]
    assert TrainConfig(**info.config) == WHOLE
    assert info.epochs_run == 2 and 1 <= info.best_epoch <= 2


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"PK\x03\x04", b"\x80\x04K\x01.", b"[]", bytes(200)], ids=["empty", *"bcdef"]
)
@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_a_checkpoint_of_something_else_is_told(content: bytes, tmp_path: Path) -> None:
    (tmp_path / CHECKPOINT_NAME).write_bytes(content)
    with pytest.raises(DataError, match=r"checkpoint\.pt: the checkpoint cannot be read.*delete the folder"):
        Checkpoint(tmp_path, "hash").load()


def test_a_torch_file_of_something_else_is_no_checkpoint(tmp_path: Path) -> None:
    torch.save([1, 2], tmp_path / CHECKPOINT_NAME)
    with pytest.raises(HonestyBenchError, match="delete the folder"):
        Checkpoint(tmp_path, "hash").load()


def test_a_file_where_the_folder_must_be_is_told(setting: Setting, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("dear")
    with pytest.raises(HonestyBenchError, match="out"):
        train(setting, HEAD, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "dear"


def change_head(folder: Path, **tensors: torch.Tensor) -> None:
    save_file({**load_file(folder / HEAD_NAME), **tensors}, folder / HEAD_NAME)


@pytest.mark.parametrize(
    ("name", "tensor"),
    [
        ("weight", torch.full((32,), float("nan"))),
        ("bias", torch.tensor(float("inf"))),
        ("scale", torch.zeros(0)),
        ("weight", torch.zeros(())),
        ("more", torch.zeros(1)),
    ],
)
def test_a_head_that_is_none_is_told(name: str, tensor: torch.Tensor, model: Path) -> None:
    change_head(model, **{name: tensor})
    with pytest.raises(DataError, match=r"confidence_head\.safetensors: the confidence head"):
        read_head(model)


def test_a_head_of_another_size_than_the_llm_is_told(model: Path) -> None:
    change_head(model, weight=torch.zeros(31), mean=torch.zeros(31), scale=torch.ones(31))
    with pytest.raises(DataError, match="31"):
        load_trained(model)


def test_a_head_that_divides_by_zero_is_told(model: Path) -> None:
    change_head(model, scale=torch.zeros(32))
    with pytest.raises(DataError, match="confidence head"):
        load_trained(model)


def test_a_missing_head_is_told(model: Path) -> None:
    (model / HEAD_NAME).unlink()
    with pytest.raises(DataError, match=r"confidence_head\.safetensors: the confidence head cannot be read"):
        load_trained(model)


def test_a_missing_prompt_is_told(model: Path) -> None:
    (model / "prompts" / "paper-qa.txt").unlink()
    with pytest.raises(HonestyBenchError, match=r"paper-qa"):
        load_trained(model)


@pytest.mark.parametrize("content", [b"", b"\x08\0\0\0\0\0\0\0{}      ", bytes(100)], ids=["empty", "none", "zeros"])
def test_a_damaged_adapter_is_told(content: bytes, model: Path) -> None:
    (model / "adapter_model.safetensors").write_bytes(content)
    with pytest.raises(DataError, match="the adapter cannot be loaded"):
        load_trained(model)
    with pytest.raises(DataError, match="the adapter cannot be loaded"):
        resume_lora(tiny.decoder("Llama"), model, WHOLE)


def test_a_lost_adapter_is_told(model: Path) -> None:
    """Without its LoRA the head would answer from features that it was not trained on."""
    (model / "adapter_config.json").unlink()
    (model / "adapter_model.safetensors").unlink()
    with pytest.raises(DataError, match="adapter"):
        load_trained(model)


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"llm": 1}', '{"more": 2}'])
def test_an_info_file_that_is_none_is_told(content: str, model: Path) -> None:
    (model / INFO_NAME).write_text(content)
    with pytest.raises(DataError, match=r"elical\.json: this is not a file"):
        read_info(model)


class Killed(BaseException):
    pass


def at_call(number: int, real: Callable[..., Any]) -> Callable[..., Any]:
    """The n-th call does not happen: the process ends there."""
    left = [number]

    def called(*arguments: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        return real(*arguments, **named)

    return called


@pytest.mark.parametrize("layers", [0, 1, None])
def test_a_kill_before_any_write_that_counts_leaves_no_trace(
    layers: int | None, setting: Setting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each rename and each deletion of a run in turn does not happen; the next process ends with the same files."""
    monkeypatch.setattr("honestybench.elical.features.CHUNK", 15)
    config = replace(WHOLE, lora_layers=layers, stage="head-only" if layers == 0 else "cal-only")
    train(setting, config, tmp_path / "expected")
    kills = 0
    for name in ("replace", "unlink"):
        for number in range(1, 30):
            out, work = tmp_path / f"{name}-{number}", tmp_path / f"{name}-{number}-work"
            kept = replace(setting, work=work)
            with monkeypatch.context() as patch:
                patch.setattr(os, name, at_call(number, getattr(os, name)))
                try:
                    train(kept, config, out, checkpoint_every_s=0)
                except Killed:
                    kills += 1
                else:
                    break
            train(kept, config, out)
            assert contents(out) == contents(tmp_path / "expected"), (name, number)
    assert kills >= 4


@contextmanager
def files_up_to(size_bytes: int) -> Iterator[None]:
    """Let no file grow beyond a size, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("config", "limit"), [(WHOLE, 50_000), (WHOLE, 1_000), (HEAD, 4_000)], ids=["late", "early", "features"]
)
def test_a_full_disk_is_told(config: TrainConfig, limit: int, setting: Setting, tmp_path: Path) -> None:
    kept = replace(setting, work=tmp_path / "work")
    with files_up_to(limit), pytest.raises(StorageError, match="may not grow that large"):
        train(kept, config, tmp_path / "out")
    assert not (tmp_path / "out" / INFO_NAME).exists()
    train(kept, config, tmp_path / "out")
    assert (tmp_path / "out" / INFO_NAME).exists()


def test_an_adapter_that_finds_no_room_is_told(setting: Setting, tmp_path: Path, trained: Path) -> None:
    run = prepare(setting, WHOLE)
    with files_up_to(20_000), pytest.raises(StorageError, match=r"out: cannot write the adapter.*another disk"):
        save_model(tmp_path / "out", read_info(trained), run.head, run.adapter, setting.prompts, {})
    assert not (tmp_path / "out" / INFO_NAME).exists()


def test_the_checkpoint_of_another_run_is_refused_and_stays(tmp_path: Path) -> None:
    Checkpoint(tmp_path, "one").save({"x": 1})
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="unfinished run with other settings"):
        Checkpoint(tmp_path, "two").load()
    assert contents(tmp_path) == before
    assert Checkpoint(tmp_path, "one").load() == {"x": 1}
