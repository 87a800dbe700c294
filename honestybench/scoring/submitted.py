"""Read what was submitted for scoring: one confidence file, or a system's folder with one file for each seed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from honestybench.errors import SubmissionError
from honestybench.labels import Labels
from honestybench.scorecard import Input, Warned
from honestybench.shards import file_sha256
from honestybench.submission import Fault, ReadResult, read_confidences, read_system

CONFIDENCE_FILE = re.compile(r"confidences(?:-seed(0|[1-9][0-9]*))?\.jsonl(?:\.gz)?")
SYSTEM_NAME = "system.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """The confidences of one system, by id, one mapping for each file of `inputs`.

    `tracks` are those submitted, the same for every seed. `system` is the folder's name, None for a lone file.
    """

    system: str | None
    inputs: tuple[Input, ...]
    warnings: tuple[Warned, ...]
    confidences: tuple[Mapping[str, float], ...]
    tracks: tuple[str, ...]


def lone_file(path: Path, result: ReadResult) -> Submitted:
    """Take a lone confidence file, read already. Raises: SubmissionError with its faults where it was rejected."""
    return _submitted([(None, path, result)], None)


def read_folder(folder: Path, labels: Labels) -> Submitted:
    """Read a submissions/<llm>/<system>/ folder against the labels of its LLM.

    Raises: SubmissionError for a faulty file, an LLM or release other than the labels', seeds that cover
    different tracks, or no confidence file; OSError.
    """
    system = read_system(folder / SYSTEM_NAME)
    for key, given, wanted in (("llm", system.llm, labels.llm), ("release", system.release, labels.release_id)):
        if given != wanted:
            raise SubmissionError(f"{key} must be that of the labels, {wanted}", where=str(folder), value=given)
    files = [(seed, path, read_confidences(path, labels.known)) for seed, path in _confidence_files(folder)]
    return _submitted(files, folder.resolve().name)


def system_folders(llm_folder: Path) -> list[Path]:
    """List the system folders of a submissions/<llm>/ folder, by name."""
    return sorted(path for path in llm_folder.iterdir() if (path / SYSTEM_NAME).is_file())


def _confidence_files(folder: Path) -> list[tuple[int | None, Path]]:
    """List (seed, file): one file without a seed, or files with seeds, by number."""
    found: dict[int | None, Path] = {}
    for path in sorted(folder.iterdir()):
        match = CONFIDENCE_FILE.fullmatch(path.name)
        if match:
            seed = None if match[1] is None else int(match[1])
            if seed in found:
                raise SubmissionError(f"{path.name} stands beside {found[seed].name}", where=str(folder))
            found[seed] = path
    if not found or (None in found and len(found) > 1):
        what = "files with and without a seed" if found else "no confidence file"
        remedy = "give confidences.jsonl, or confidences-seed0.jsonl, confidences-seed1.jsonl …; .gz is welcome"
        raise SubmissionError(what, where=str(folder), remedy=remedy)
    return sorted(found.items(), key=lambda pair: pair[0] or 0)


def _submitted(files: Sequence[tuple[int | None, Path, ReadResult]], system: str | None) -> Submitted:
    inputs, warnings, confidences, tracks = [], [], [], []
    for seed, path, result in files:
        if result.confidences is None:
            more = f"; and {result.n_faults - len(result.faults)} more" if result.n_faults > len(result.faults) else ""
            raise SubmissionError(f"rejected: {'; '.join(map(str, result.faults))}{more}", where=str(path))
        inputs.append(Input(file=path.name, seed=seed, sha256=file_sha256(path)))
        warnings += [_warned(fault) for fault in result.faults]
        confidences.append(result.confidences)
        tracks.append(tuple(track for track, coverage in result.coverage.items() if coverage.n_found))
    if len(set(tracks)) > 1:
        raise SubmissionError("the seeds cover different tracks", where=system, value=sorted(set(tracks)))
    return Submitted(
        system=system,
        inputs=tuple(inputs),
        warnings=tuple(warnings),
        confidences=tuple(confidences),
        tracks=tracks[0],
    )


def _warned(fault: Fault) -> Warned:
    return Warned(code=fault.code, line=fault.line, id=fault.id, message=fault.message)
