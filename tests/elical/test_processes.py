"""Two processes of `accelerate launch` learn what one learns, and write one model."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from honestybench.elical.config import TrainConfig
from honestybench.elical.setting import Setting
from honestybench.elical.training import train

# 24 questions to fit in batches of 7: the last batch of an epoch has 3.
QUICK: dict[str, Any] = {"n_labels": 30, "epochs": 2, "batch_size": 7, "learning_rate": 1e-2, "token_budget": 100}
RUNS = {
    "whole": TrainConfig(stage="cal-only", **QUICK),
    "top": TrainConfig(stage="cal-only", lora_layers=1, **QUICK),
    "head": TrainConfig(stage="head-only", **QUICK),
    "sharded": TrainConfig(stage="cal-only", shard=True, **QUICK),
    # One question a step: in each of them the second process has nothing to do.
    "idle": TrainConfig(stage="cal-only", **{**QUICK, "batch_size": 1, "n_labels": 5, "epochs": 1}),
}


@pytest.fixture(scope="module")
def two(release: Path, tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Path:
    """The folder of all runs, trained by two processes on the CPU, which talk over gloo."""
    out = tmp_path_factory.mktemp("two")
    command = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"]
    command += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0"]
    command += [str(checkout / "tests" / "fixtures" / "train_in_processes.py"), "2", str(release), str(out)]
    command += [json.dumps({name: asdict(config) for name, config in RUNS.items()})]
    # `--cpu` starts one process where there is no MPI, whatever --num_processes says; `--multi_gpu` starts two, and
    # the variable keeps them off the GPUs that need not be there.
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    environment["ACCELERATE_USE_CPU"] = "true"
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return out


def losses(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "losses.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("kind", RUNS)
def test_two_processes_give_the_loss_curve_of_one(kind: str, setting: Setting, tmp_path: Path, two: Path) -> None:
    info = train(setting, RUNS[kind], tmp_path)
    expected, found = losses(tmp_path), losses(two / kind)
    assert [line.keys() for line in found] == [line.keys() for line in expected]
    for mine, other in zip(found, expected, strict=True):
        assert mine == pytest.approx(other, abs=1e-5)
    assert {path.name for path in (two / kind).iterdir()} == {path.name for path in tmp_path.iterdir()}
    assert json.loads((two / kind / "elical.json").read_text())["run_hash"] == info.run_hash
    for path in tmp_path.glob("*.safetensors"):
        same = load_file(two / kind / path.name)
        for name, tensor in load_file(path).items():
            # Adam divides by the gradient's size: where that is all rounding, a weight may go either way.
            close = torch.isclose(same[name], tensor, atol=1e-3).float().mean()
            assert close > 0.99, (path.name, name)
