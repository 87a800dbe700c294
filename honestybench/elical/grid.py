"""Run a grid: both stages, the controls, label sizes and seeds, each cell resumable, each system a submission."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from pathlib import Path

from honestybench.elical.config import SYSTEMS, TrainConfig
from honestybench.elical.frozen import NewMeter
from honestybench.elical.probes import predict_probe, probe_hash
from honestybench.elical.questions import read_targets
from honestybench.elical.saved import read_info
from honestybench.elical.setting import Setting
from honestybench.elical.systems import predict
from honestybench.elical.training import train
from honestybench.errors import UnknownNameError, UsageError
from honestybench.progress import Meter
from honestybench.records import canonical_json
from honestybench.shards import file_sha256
from honestybench.storage import refused_writes
from honestybench.submission.write import refuse_foreign_system

PREDICTED_NAME = "predicted.json"

STARTS = {"elical": "eli-only", "elical-head": "eli-only-head"}
"""Which system's model of the same seed a system goes on from."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """What to run: systems, numbers of labels (None: all), seeds, and the settings that all cells share."""

    systems: Sequence[str]
    labels: Sequence[int | None]
    seeds: Sequence[int]
    base: TrainConfig

    def __post_init__(self) -> None:
        for name in self.systems:
            if name not in SYSTEMS:
                raise UnknownNameError("system", name, SYSTEMS)
            if STARTS.get(name, name) not in self.systems:
                raise UsageError(f"{name} goes on from {STARTS[name]}", remedy=f"run {STARTS[name]} too")
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise UsageError("name each seed once, and at least one", value=list(self.seeds))
        for n_labels in self.labels:
            if n_labels is not None and n_labels < 1:
                raise UsageError("a row needs at least one label", where="--labels", value=n_labels)
        if not self.labels or len(set(self.labels)) < len(self.labels):
            raise UsageError("name each number of labels once, and at least one", value=list(self.labels))

    def rows(self) -> Iterator[tuple[str, str, int | None]]:
        """List the rows in the order they are run: folder name, system, number of labels."""
        for name in sorted(self.systems, key=list(SYSTEMS).index):
            if SYSTEMS[name].stage == "elicit":
                yield name, name, None
            else:
                for n_labels in self.labels:
                    yield f"{name}-{'all' if n_labels is None else n_labels}", name, n_labels

    def config(self, name: str, n_labels: int | None, seed: int) -> TrainConfig:
        """Give the settings of one cell; each stage has its own default target and learning rate."""
        system = SYSTEMS[name]
        shared = {key: value for key, value in asdict(self.base).items() if key not in ("stage", "target", "n_labels")}
        rate = shared.pop("learning_rate") if not system.head_only else 0.0
        return TrainConfig(
            **{
                **shared,
                "stage": system.stage,
                "n_labels": n_labels,
                "seed": seed,
                "learning_rate": rate,
                "head_init": "random" if name in STARTS else self.base.head_init,
                "lora_layers": 0 if system.head_only else self.base.lora_layers,
            }
        )


def run(
    setting: Setting,
    grid: Grid,
    out: Path,
    submissions: Path,
    *,
    today: date,
    report: Callable[[str], None],
    meter: NewMeter = Meter,
) -> list[Path]:
    """Train and predict every row of a grid and give the submission folders.

    Models stand in `out`/<row>/seed<k>/; a finished cell, or a row whose predictions stand already, is not done
    twice. `report` is told what is being done. Raises: as `train` and `predict` do.
    """
    written = []
    for row, _, _ in grid.rows():
        refuse_foreign_system(submissions / row, setting.llm)
    available = len(read_targets(setting.release, setting.llm, "train", "sample_accuracy")[0])
    for row, name, n_labels in grid.rows():
        if n_labels is not None and n_labels > available:
            report(f"{row}: left out, the release has {available:,} labelled train questions")
            continue
        if SYSTEMS[name].stage is None:
            written.append(_probe(setting, grid, name, n_labels, out / row, submissions / row, today, report, meter))
            continue
        folders = [out / row / f"seed{seed}" for seed in grid.seeds]
        for seed, folder in zip(grid.seeds, folders, strict=True):
            start = out / STARTS[name] / f"seed{seed}" if name in STARTS else None
            report(f"{row}, seed {seed}")
            train(replace(setting, start=start, is_pooled=True), grid.config(name, n_labels, seed), folder, meter=meter)
        hashes = [read_info(folder).run_hash for folder in folders]
        if not _stands(out / row, hashes, submissions / row):
            report(f"{row}: predicting")
            predict(
                folders,
                setting.release,
                submissions / row,
                today=today,
                llm_name=setting.ref.name,
                work=setting.work,
                meter=meter,
            )
            _note(out / row, hashes, submissions / row)
        written.append(submissions / row)
    return written


def _probe(
    setting: Setting,
    grid: Grid,
    name: str,
    n_labels: int | None,
    row: Path,
    submission: Path,
    today: date,
    report: Callable[[str], None],
    meter: NewMeter,
) -> Path:
    hashes = [probe_hash(setting, name, n_labels, seed) for seed in grid.seeds]
    if not _stands(row, hashes, submission):
        report(row.name)
        predict_probe(setting, name, n_labels, grid.seeds, submission, dtype=grid.base.dtype, today=today, meter=meter)
        _note(row, hashes, submission)
    return submission


def _stands(row: Path, hashes: Sequence[str], submission: Path) -> bool:
    """Tell whether a row's predictions were written by these very models and stand as they were written."""
    note = row / PREDICTED_NAME
    return note.is_file() and note.read_text(encoding="utf-8") == _described(hashes, submission)


def _note(row: Path, hashes: Sequence[str], submission: Path) -> None:
    with refused_writes(row):
        row.mkdir(parents=True, exist_ok=True)
        (row / PREDICTED_NAME).write_text(_described(hashes, submission), encoding="utf-8")


def _described(hashes: Sequence[str], submission: Path) -> str:
    files = sorted(submission.glob("confidences*.jsonl")) + sorted(submission.glob("system.yaml"))
    return canonical_json({"models": list(hashes), "files": {path.name: file_sha256(path) for path in files}})
