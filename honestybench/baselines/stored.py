"""Confidences of the baselines for the rows of a release, by batch; and all of them as submission folders."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path

from honestybench.baselines.background import Background, read_background
from honestybench.baselines.table import BASELINES, Baseline, describe, select_baselines
from honestybench.records import TRACKS, ConfidenceRow
from honestybench.release import read_manifest
from honestybench.shards import iter_batches
from honestybench.submission.write import refuse_foreign_system, write_system

Progress = Callable[[int, int], object]
"""Told after each batch: how many rows are done, of how many."""


def stored_confidences(
    release: Path, llm: str, names: Iterable[str], split: str, progress: Progress | None = None
) -> dict[str, list[ConfidenceRow]]:
    """Compute baselines for every row of a split (train too, or an alias) from stored columns, in the release's order.

    `names` are keys of BASELINES; so are those of the result. Raises: UnknownNameError for a baseline, LLM or split;
    ReleaseError; DataError for a row that a formula refuses.
    """
    baselines = select_baselines(names)
    return _confidences(release, llm, (split,), baselines, read_background(release, llm), progress)


def write_baselines(
    release: Path,
    llm: str,
    out: Path,
    today: date,
    names: Iterable[str] = tuple(BASELINES),
    progress: Progress | None = None,
) -> dict[str, int]:
    """Write baselines of an LLM's answers into `out`/<baseline>/, for all tracks, and count the rows of each.

    A baseline of before is replaced, and keeps its date where system.yaml would not change otherwise; those that
    `names` leaves out stay as they are. Raises: UnknownNameError, ReleaseError, DataError for the release;
    SubmissionError, before anything is written, where a folder is somebody else's; StorageError.
    """
    baselines, manifest = select_baselines(names), read_manifest(release)
    for name in baselines:
        refuse_foreign_system(out / name, llm)
    background = read_background(release, llm)
    tracks = [split for split in manifest.splits(llm) if split in TRACKS]
    rows = _confidences(release, llm, tracks, baselines, background, progress)
    return {
        name: write_system(
            out / name,
            {"llm": llm, "release": manifest.release_id, **describe(name, background)},
            {None: rows[name]},
            today=today,
        )
        for name in baselines
    }


def _confidences(
    release: Path,
    llm: str,
    splits: Iterable[str],
    baselines: Mapping[str, Baseline],
    background: Background,
    progress: Progress | None,
) -> dict[str, list[ConfidenceRow]]:
    """Stream the splits once; only ids and confidences are kept."""
    splits, manifest = tuple(splits), read_manifest(release)
    total = sum(shard["rows"] for split in splits for shard in manifest.select(llm, split))
    columns = ("id", *sorted({column for baseline in baselines.values() for column in baseline.columns}))
    rows: dict[str, list[ConfidenceRow]] = {name: [] for name in baselines}
    done = 0
    for split in splits:
        for batch in iter_batches(release, llm, split, columns):
            for row in batch.to_pylist():
                for name, baseline in baselines.items():
                    rows[name].append(ConfidenceRow(id=row["id"], confidence=baseline.confidence(row, background)))
            done += batch.num_rows
            if progress is not None:
                progress(done, total)
    return rows
