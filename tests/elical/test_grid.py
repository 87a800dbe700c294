"""A whole grid of tiny models: its rows are submissions, and what stands is not done twice."""

from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from honestybench.elical.config import SYSTEMS, TrainConfig
from honestybench.elical.grid import Grid, run
from honestybench.elical.setting import Setting
from honestybench.elical.systems import predict
from honestybench.elical.training import train
from honestybench.errors import SubmissionError, UnknownNameError, UsageError
from honestybench.labels import labels_of_release
from honestybench.submission import read_confidences, read_system

TODAY = date(2026, 1, 31)
BASE = TrainConfig(stage="elicit", epochs=2, batch_size=32, learning_rate=1e-2)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def confidences(setting: Setting, path: Path) -> dict[str, float]:
    found = read_confidences(path, labels_of_release(setting.release).known).confidences
    assert found is not None
    return found


@pytest.mark.slow
def test_every_system_becomes_a_row(setting: Setting, tmp_path: Path) -> None:
    grid = Grid(systems=tuple(SYSTEMS), labels=(20, 500, None), seeds=(0, 1), base=BASE)
    working, told = replace(setting, work=tmp_path / "work"), []
    written = run(working, grid, tmp_path / "out", tmp_path / "rows", today=TODAY, report=told.append)
    names = {path.name for path in written}
    with_labels = [name for name, system in SYSTEMS.items() if system.stage != "elicit"]
    assert names == {"eli-only", "eli-only-head", *(f"{name}-{n}" for name in with_labels for n in (20, "all"))}
    assert sum("left out, the release has 120 labelled" in line for line in told) == len(with_labels)
    families = set()
    for path in written:
        system = read_system(path / "system.yaml")
        families.add(system.family)
        labels = {"20": 20, "all": 120}.get(path.name.rpartition("-")[2], 0)
        assert (system.labels_used, system.sees, system.selected_on) == (labels, "question", "train")
        assert system.method_class == ("calibration" if labels else "elicitation")
        seeds = [confidences(setting, path / f"confidences-seed{seed}.jsonl") for seed in (0, 1)]
        assert len(seeds[0]) == 90 and all(0 < value < 1 for value in seeds[0].values())
        assert seeds[0] != seeds[1]
    assert families == {
        "eli-only",
        "elical",
        "cal-only",
        "eli-only head",
        "elical head",
        "cal-only head",
        "ridge-probe",
        "logistic-probe",
    }
    before = contents(tmp_path)
    again: list[str] = []
    run(working, grid, tmp_path / "out", tmp_path / "rows", today=date(2026, 2, 1), report=again.append)
    assert contents(tmp_path) == before
    assert not any("predicting" in line for line in again)
    # A row that was tampered with is written anew.
    (tmp_path / "rows" / "eli-only" / "confidences-seed1.jsonl").unlink()
    run(working, grid, tmp_path / "out", tmp_path / "rows", today=TODAY, report=again.append)
    assert contents(tmp_path) == before and "eli-only: predicting" in again


def test_a_head_answers_the_same_from_features_and_from_the_llm(setting: Setting, tmp_path: Path) -> None:
    train(setting, replace(BASE, stage="head-only", lora_layers=0, target="sample_accuracy"), tmp_path / "model")
    for name, work in (("features", tmp_path / "work"), ("llm", None)):
        predict([tmp_path / "model"], setting.release, tmp_path / name, today=TODAY, work=work)
    first, second = (confidences(setting, tmp_path / name / "confidences-seed0.jsonl") for name in ("features", "llm"))
    assert np.array([*first.values()]) == pytest.approx(np.array([*second.values()]), abs=1e-5)


def test_models_that_are_no_seeds_of_one_system_are_refused(setting: Setting, tmp_path: Path) -> None:
    config = replace(BASE, stage="head-only", lora_layers=0, target="sample_accuracy")
    for name, settings in (("a", config), ("b", replace(config, seed=1)), ("c", replace(config, seed=2, epochs=1))):
        train(setting, settings, tmp_path / name)
    out = tmp_path / "row"
    with pytest.raises(UsageError, match="differ in more than their seed"):
        predict([tmp_path / "a", tmp_path / "c"], setting.release, out, today=TODAY)
    with pytest.raises(UsageError, match="same seed"):
        predict([tmp_path / "a", tmp_path / "a"], setting.release, out, today=TODAY)
    assert not out.exists()
    predict([tmp_path / "a", tmp_path / "b"], setting.release, out, today=TODAY)
    assert sorted(contents(out)) == ["confidences-seed0.jsonl", "confidences-seed1.jsonl", "system.yaml"]
    text = (out / "system.yaml").read_text(encoding="utf-8")
    (out / "system.yaml").write_text(text.replace("HonestyBench contributors", "Somebody"), encoding="utf-8")
    with pytest.raises(SubmissionError, match="stays as it is"):
        predict([tmp_path / "a"], setting.release, out, today=TODAY)


def test_a_grid_is_checked_before_anything_is_trained() -> None:
    with pytest.raises(UnknownNameError, match="eli-only"):
        Grid(systems=("elli-only",), labels=(10,), seeds=(0,), base=BASE)
    with pytest.raises(UsageError, match="elical goes on from eli-only"):
        Grid(systems=("elical",), labels=(10,), seeds=(0,), base=BASE)
    with pytest.raises(UsageError, match="each seed once"):
        Grid(systems=("eli-only",), labels=(10,), seeds=(0, 0), base=BASE)
    with pytest.raises(UsageError, match="number of labels once"):
        Grid(systems=("eli-only",), labels=(), seeds=(0,), base=BASE)
