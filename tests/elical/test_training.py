"""Whole runs of a tiny LLM: what they learn, what they read, and that an interruption leaves no trace."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sklearn.metrics import roc_auc_score

from honestybench.elical.config import TrainConfig
from honestybench.elical.loading import load_trained
from honestybench.elical.questions import read_questions
from honestybench.elical.saved import HEAD_NAME, read_info
from honestybench.elical.setting import Setting, find_setting, read_examples
from honestybench.elical.training import train
from honestybench.errors import DataError, UsageError
from honestybench.progress import Meter
from honestybench.shards import read_table
from tests.elical import tiny
from tests.elical.conftest import WriteRelease

LLM = "made-up-llm"
QUICK = {"epochs": 3, "batch_size": 32, "learning_rate": 1e-2}
KINDS = {
    "head": TrainConfig(stage="head-only", **QUICK),
    "top": TrainConfig(stage="cal-only", lora_layers=1, **QUICK),
    "whole": TrainConfig(stage="cal-only", **QUICK),
}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Stop(Exception):
    pass


def stopping(after: int) -> Callable[[str, int, str], Meter]:
    """A meter that raises when it is advanced for the n-th time by new work, whatever it counts."""
    counted = 0

    class Stopping(Meter):
        def advance(self, amount: int, *, reused: bool = False) -> None:
            nonlocal counted
            counted += not reused
            if counted == after:
                raise Stop
            super().advance(amount, reused=reused)

    return Stopping


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_stopped_anywhere_gives_the_same_bytes(kind: str, setting: Setting, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("honestybench.elical.features.CHUNK", 50)
    train(setting, KINDS[kind], tmp_path / "whole")
    expected = contents(tmp_path / "whole")
    stopped = replace(setting, work=tmp_path / "work")
    stops = 0
    for after in (1, 2, 3, 1, 4, 2):
        try:
            train(stopped, KINDS[kind], tmp_path / "out", meter=stopping(after), checkpoint_every_s=0)
        except Stop:
            stops += 1
    train(stopped, KINDS[kind], tmp_path / "out")
    assert stops >= 4
    assert contents(tmp_path / "out") == expected


KILLED = """
import sys, os, signal
from pathlib import Path
from honestybench.elical.config import TrainConfig
from honestybench.elical.setting import find_setting
from honestybench.elical.training import train
from honestybench.progress import Meter
import torch
torch.set_num_threads(1)

class Killing(Meter):
    count = 0
    def advance(self, amount, *, reused=False):
        super().advance(amount, reused=reused)
        Killing.count += not reused
        if Killing.count == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)

setting = find_setting(Path(sys.argv[1]), "made-up-llm")
config = TrainConfig(stage="cal-only", epochs=3, batch_size=32, learning_rate=1e-2)
train(setting, config, Path(sys.argv[2]), meter=Killing, checkpoint_every_s=0)
"""


@pytest.mark.slow
def test_a_killed_process_goes_on_to_the_same_bytes(setting: Setting, tmp_path: Path, checkout: Path) -> None:
    train(setting, KINDS["whole"], tmp_path / "whole")
    for kill_at in (3, 4):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(setting.release), str(tmp_path / "out"), str(kill_at)],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
    train(setting, KINDS["whole"], tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def confidences(folder: Path, release: Path, split: str = "in_domain") -> np.ndarray:
    return load_trained(folder).confidences(read_questions(release, LLM, split))


def auroc(folder: Path, release: Path) -> float:
    correct = read_table(release, LLM, "in_domain", ("greedy_correctness",))["greedy_correctness"].to_pylist()
    return float(roc_auc_score(correct, confidences(folder, release)))


def losses(folder: Path, name: str = "loss") -> list[float]:
    lines = [json.loads(line) for line in (folder / "losses.jsonl").read_text().splitlines()]
    return [line[name] for line in lines if name in line]


def test_both_stages_learn(setting: Setting, release: Path, tmp_path: Path) -> None:
    """The first word decides; 60 held-out questions, so that chance stays within .5 +- .15."""
    elicit = TrainConfig(stage="elicit", epochs=15, batch_size=16, learning_rate=1e-2, patience=15)
    info = train(setting, elicit, tmp_path / "elicited")
    found = losses(tmp_path / "elicited")
    assert np.mean(found[-5:]) < 0.5 * np.mean(found[:5])
    assert auroc(tmp_path / "elicited", release) > 0.75
    assert (info.labels_used, info.method_class, info.selected_on) == (0, "elicitation", "train")
    started = replace(setting, start=tmp_path / "elicited")
    calibrate = TrainConfig(stage="calibrate", n_labels=40, epochs=5, batch_size=16, learning_rate=1e-3)
    info = train(started, calibrate, tmp_path / "calibrated")
    assert auroc(tmp_path / "calibrated", release) > 0.75
    assert (info.labels_used, info.method_class, info.n_questions) == (40, "calibration", 40)
    assert info.started_from == read_info(tmp_path / "elicited").run_hash
    # From scratch the same 40 labels and steps are not enough: stage 1 is what stage 2 goes on from.
    first = losses(tmp_path / "calibrated")[0]
    train(setting, replace(calibrate, stage="cal-only"), tmp_path / "scratch")
    assert first < 0.7 * losses(tmp_path / "scratch")[0]


def test_a_head_alone_learns_on_frozen_features(setting: Setting, release: Path, tmp_path: Path) -> None:
    config = TrainConfig(stage="head-only", epochs=20, batch_size=32, learning_rate=0.02)
    info = train(setting, config, tmp_path / "random")
    found = losses(tmp_path / "random")
    assert np.mean(found[-3:]) < 0.8 * np.mean(found[:3])
    assert not (tmp_path / "random" / "adapter_config.json").exists()
    assert info.config["lora_layers"] == 0
    train(setting, replace(config, head_init="ridge"), tmp_path / "ridge")
    assert losses(tmp_path / "ridge")[0] < 0.8 * found[0]
    assert auroc(tmp_path / "ridge", release) > 0.7


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return {
        f"{path.name}:{name}": tensor
        for path in sorted(folder.glob("*.safetensors"))
        for name, tensor in load_file(path).items()
    }


def equal(first: Path, second: Path) -> bool:
    one, other = weights(first), weights(second)
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_nothing_but_the_chosen_labels_is_read(write_release: WriteRelease, setting: Setting, tmp_path: Path) -> None:
    """Other verdicts on every evaluation question, and on every train question outside the subset: the same weights."""
    config = TrainConfig(stage="cal-only", n_labels=30, **QUICK)
    chosen = {question.id for question in read_examples(setting, config).questions}
    assert len(chosen) == 30

    def flip(record):
        if record.example.id in chosen:
            return record
        flipped = tuple(1 - verdict for verdict in record.sampling_correctness)
        return replace(record, sampling_correctness=flipped, greedy_correctness=1 - record.greedy_correctness)

    other = write_release(tmp_path / "other", [flip(record) for record in tiny.records()])
    train(setting, config, tmp_path / "one")
    train(find_setting(other, LLM), config, tmp_path / "two")
    assert equal(tmp_path / "one", tmp_path / "two")
    # And the chosen ones are read.
    all_flipped = [
        replace(record, sampling_correctness=tuple(1 - v for v in record.sampling_correctness))
        for record in tiny.records()
    ]
    third = write_release(tmp_path / "third", all_flipped)
    train(find_setting(third, LLM), config, tmp_path / "three")
    assert not equal(tmp_path / "one", tmp_path / "three")


def test_targets_from_reads_the_first_verdicts_alone(write_release: WriteRelease, tmp_path: Path) -> None:
    config = TrainConfig(stage="elicit", targets_from=2, **QUICK)
    for name, later in (("one", 0), ("two", 1)):
        made = [
            replace(record, consistency_judgement=(*record.consistency_judgement[:2], *[later] * 18))
            for record in tiny.records()
        ]
        train(find_setting(write_release(tmp_path / f"release-{name}", made), LLM), config, tmp_path / name)
    assert equal(tmp_path / "one", tmp_path / "two")


def test_elicitation_reads_no_gold_label(write_release: WriteRelease, setting: Setting, tmp_path: Path) -> None:
    config = TrainConfig(stage="elicit", **QUICK)
    blind = [replace(record, sampling_correctness=(None,) * 20, greedy_correctness=None) for record in tiny.records()]
    train(setting, config, tmp_path / "one")
    info = train(find_setting(write_release(tmp_path / "blind", blind), LLM), config, tmp_path / "two")
    assert equal(tmp_path / "one", tmp_path / "two") and info.labels_used == 0


def test_selection_on_an_evaluation_split_is_counted_and_marked(setting: Setting, tmp_path: Path) -> None:
    config = TrainConfig(stage="cal-only", n_labels=30, select_on="in_domain", **QUICK)
    info = train(setting, config, tmp_path / "model")
    assert (info.labels_used, info.selected_on, info.n_questions) == (30 + 60, "in_domain", 90)
    examples = read_examples(setting, config)
    assert [examples.questions[row].id.split("-")[1] for row in examples.selection_rows] == ["in_domain"] * 60
    info = train(setting, replace(config, select_on="none"), tmp_path / "none")
    assert (info.labels_used, info.selected_on, info.best_epoch) == (30, "none", 3)


def test_label_subsets_are_nested_and_a_fifth_is_for_selection(setting: Setting) -> None:
    def chosen(n_labels: int) -> tuple[set[str], set[str]]:
        examples = read_examples(setting, TrainConfig(stage="cal-only", n_labels=n_labels))
        ids = [question.id for question in examples.questions]
        return set(ids[: examples.n_fit]), set(ids[examples.n_fit :])

    fit, selection = chosen(30)
    more_fit, more_selection = chosen(60)
    assert fit < more_fit and selection < more_selection and len(selection) == 6 and not fit & selection


def test_another_seed_gives_another_subset_and_other_weights(setting: Setting, tmp_path: Path) -> None:
    config = TrainConfig(stage="cal-only", n_labels=30, **QUICK)
    train(setting, config, tmp_path / "one")
    train(setting, replace(config, seed=1), tmp_path / "two")
    assert not equal(tmp_path / "one", tmp_path / "two")


def test_pooled_features_train_the_same_head(setting: Setting, tmp_path: Path) -> None:
    config = TrainConfig(stage="head-only", n_labels=30, **QUICK)
    train(setting, config, tmp_path / "alone")
    pooled = replace(setting, is_pooled=True, work=tmp_path / "work")
    train(pooled, config, tmp_path / "pooled")
    train(pooled, replace(config, seed=2), tmp_path / "other")
    assert len(list((tmp_path / "work" / "features").glob("*.npy"))) == 1
    alone, found = load_file(tmp_path / "alone" / HEAD_NAME), load_file(tmp_path / "pooled" / HEAD_NAME)
    for name, tensor in alone.items():
        assert torch.allclose(found[name], tensor, atol=1e-4), name


def test_a_finished_run_is_not_done_twice(setting: Setting, tmp_path: Path) -> None:
    info = train(setting, KINDS["head"], tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")}
    assert train(setting, KINDS["head"], tmp_path / "out") == info
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*")} == before
    with pytest.raises(UsageError, match=r"trained with other settings.*--out"):
        train(setting, replace(KINDS["head"], seed=1), tmp_path / "out")


def test_an_unfinished_run_with_other_settings_is_refused(setting: Setting, tmp_path: Path) -> None:
    with pytest.raises(Stop):
        train(setting, KINDS["whole"], tmp_path / "out", meter=stopping(4), checkpoint_every_s=0)
    before = contents(tmp_path / "out")
    with pytest.raises(UsageError, match=r"unfinished run with other settings.*delete the folder"):
        train(setting, replace(KINDS["whole"], seed=1), tmp_path / "out")
    assert contents(tmp_path / "out") == before
    with pytest.raises(UsageError, match="not finished"):
        read_info(tmp_path / "out")


def test_a_damaged_checkpoint_is_told(setting: Setting, tmp_path: Path) -> None:
    with pytest.raises(Stop):
        train(setting, KINDS["whole"], tmp_path / "out", meter=stopping(4), checkpoint_every_s=0)
    checkpoint = tmp_path / "out" / "checkpoint.pt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:1000])
    with pytest.raises(DataError, match=r"checkpoint\.pt: the checkpoint cannot be read.*start anew"):
        train(setting, KINDS["whole"], tmp_path / "out")


def test_a_folder_of_something_else_stays_as_it_is(setting: Setting, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("dear")
    with pytest.raises(UsageError, match="not empty"):
        train(setting, KINDS["head"], tmp_path / "out")
    assert contents(tmp_path / "out") == {"thesis.txt": b"dear"}


def test_stages_need_what_they_need(setting: Setting, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="calibrate needs a model to start from"):
        train(setting, TrainConfig(stage="calibrate", **QUICK), tmp_path / "out")
    train(setting, TrainConfig(stage="elicit", **QUICK), tmp_path / "elicited")
    started = replace(setting, start=tmp_path / "elicited")
    with pytest.raises(UsageError, match="elicit starts from nothing"):
        train(started, TrainConfig(stage="elicit", **QUICK), tmp_path / "out")
    with pytest.raises(UsageError, match=r"another rank.*same --lora-rank"):
        train(started, TrainConfig(stage="calibrate", lora_rank=4, **QUICK), tmp_path / "out")
    with pytest.raises(UsageError, match="the LLM has 3 layers"):
        train(setting, TrainConfig(stage="elicit", lora_layers=4, **QUICK), tmp_path / "out")
    with pytest.raises(UsageError, match="use 1 to 120"):
        train(setting, TrainConfig(stage="cal-only", n_labels=121, **QUICK), tmp_path / "out")


def test_other_weights_than_those_of_the_release_are_refused(
    setting: Setting, release: Path, llm_folder: Callable[[str], Path]
) -> None:
    with pytest.raises(UsageError, match="not the weights that answered"):
        find_setting(release, LLM, llm_name=str(llm_folder("Qwen2")))


@pytest.mark.parametrize("family", [name for name in tiny.FAMILIES if name != "Llama"])
def test_every_family_trains_and_predicts(family: str, write_release: WriteRelease, tmp_path: Path) -> None:
    release = write_release(tmp_path / "release", tiny.records(20, 10, 5), family)
    for layers in (None, 1):
        config = TrainConfig(stage="elicit", lora_layers=layers, epochs=2, batch_size=8, learning_rate=1e-2)
        out = tmp_path / f"model-{layers}"
        train(find_setting(release, LLM), config, out)
        found = confidences(out, release)
        assert len(found) == 10 and ((found > 0) & (found < 1)).all() and len(set(found)) > 1


def test_a_damaged_head_is_told(setting: Setting, tmp_path: Path) -> None:
    train(setting, KINDS["head"], tmp_path / "out")
    path = tmp_path / "out" / HEAD_NAME
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(DataError, match=r"confidence_head\.safetensors: the confidence head cannot be read"):
        load_trained(tmp_path / "out")
