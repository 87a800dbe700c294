"""Read what was submitted for scoring: one confidence file, or a system's folder with one file for each seed."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from honestybench.errors import SubmissionError
from honestybench.labels import Labels
from honestybench.scorecard import Input, Warned
from honestybench.shards import file_sha256
from honestybench.submission import Fault, ReadResult, read_confidences, read_system
from honestybench.submission.faults import shown

CONFIDENCE_FILE = re.compile(r"confidences(?:-seed(0|[1-9][0-9]*))?\.jsonl(?:\.gz)?")
SYSTEM_NAME = "system.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    """The confidences of one system, by id, one mapping for each file of `inputs`.

    `tracks` are those submitted, the same for every seed. `system` is the folder's name, None for a lone file.
    `is_ranked` is that of its system.yaml (see `System.is_ranked`); a lone file is compared with nothing.
    """

    system: str | None
    is_ranked: bool
    inputs: tuple[Input, ...]
    warnings: tuple[Warned, ...]
    confidences: tuple[Mapping[str, float], ...]
    tracks: tuple[str, ...]


class RejectedError(SubmissionError):
    """Submissions were rejected; `faults` has one line for each fault, with its file or folder."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(faults))


def lone_file(path: Path, result: ReadResult) -> Submitted:
    """Take a lone confidence file, read already. Raises: SubmissionError with its faults where it was rejected."""
    return _submitted([(None, path, result)], None, is_ranked=False)


def read_folder(folder: Path, labels: Labels) -> Submitted:
    """Read a submissions/<llm>/<system>/ folder against the labels of its LLM.

    Raises: RejectedError with the faults of all its confidence files; SubmissionError for an LLM or release other
    than the labels', a folder or file that is a link, seeds that cover different tracks, or no confidence file;
    OSError.
    """
    # Not `resolve()`: a link would be scored under the name of what it leads to.
    folder = Path(os.path.abspath(folder))
    _refuse_link(folder)
    _refuse_link(folder / SYSTEM_NAME)
    system = read_system(folder / SYSTEM_NAME)
    for key, given, wanted in (("llm", system.llm, labels.llm), ("release", system.release, labels.release_id)):
        if given != wanted:
            remedy = f"give the {key} of the labels in {SYSTEM_NAME}"
            what = f"{key} must be that of the labels, {wanted}"
            raise SubmissionError(what, where=str(folder), value=given, remedy=remedy)
    files = [(seed, path, read_confidences(path, labels.known)) for seed, path in _confidence_files(folder)]
    return _submitted(files, folder.name, is_ranked=system.is_ranked)


def read_folders(llm_folder: Path, labels: Labels) -> list[Submitted]:
    """Read every system of a submissions/<llm>/ folder, by name.

    Raises: RejectedError with the faults of all systems; OSError.
    """
    faults: list[str] = []
    found = []
    for folder in system_folders(llm_folder):
        try:
            found.append(read_folder(folder, labels))
        except RejectedError as error:
            faults += error.faults
        except SubmissionError as error:
            faults.append(str(error))
    if faults:
        raise RejectedError(faults)
    return found


def system_folders(llm_folder: Path) -> list[Path]:
    """List the system folders of a submissions/<llm>/ folder, by name: all its folders but hidden ones."""
    return sorted(path for path in llm_folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _refuse_link(path: Path) -> None:
    """Refuse a link, which may lead out of the folder: faults quote what they read."""
    if path.is_symlink():
        raise SubmissionError("this is a link", where=str(path), remedy="put the folder or file itself here")
    if path.name == SYSTEM_NAME and not path.is_file():
        remedy = "describe the system there, or move the folder out of the LLM's folder"
        raise SubmissionError(f"no {SYSTEM_NAME} here", where=str(path.parent), remedy=remedy)


def _confidence_files(folder: Path) -> list[tuple[int | None, Path]]:
    """List (seed, file): one file without a seed, or files with seeds, by number."""
    found: dict[int | None, Path] = {}
    for path in sorted(folder.iterdir()):
        if not path.name.casefold().startswith("confidence"):
            continue
        match = CONFIDENCE_FILE.fullmatch(path.name)
        if match is None:
            what = f"{shown(path.name)} is no name of a confidence file, and would not be scored"
            raise SubmissionError(what, where=str(folder), remedy=_NAMES)
        _refuse_link(path)
        if not path.is_file():
            raise SubmissionError("this is no regular file", where=str(path), remedy=_NAMES)
        seed = None if match[1] is None else int(match[1])
        if seed in found:
            what = f"{path.name} stands beside {found[seed].name}"
            raise SubmissionError(what, where=str(folder), remedy="keep one of the two")
        found[seed] = path
    if not found or (None in found and len(found) > 1):
        what = "files with and without a seed" if found else "no confidence file"
        raise SubmissionError(what, where=str(folder), remedy=_NAMES)
    return sorted(found.items(), key=lambda pair: pair[0] or 0)


_NAMES = "give confidences.jsonl, or confidences-seed0.jsonl, confidences-seed1.jsonl …; .gz is welcome"


def _submitted(
    files: Sequence[tuple[int | None, Path, ReadResult]], system: str | None, *, is_ranked: bool
) -> Submitted:
    faults = [line for _, path, result in files if result.confidences is None for line in _lines(path, result)]
    if faults:
        raise RejectedError(faults)
    inputs, warnings, confidences, tracks = [], [], [], []
    for seed, path, result in files:
        inputs.append(Input(file=path.name, seed=seed, sha256=file_sha256(path)))
        warnings += [_warned(fault) for fault in result.faults]
        confidences.append(result.confidences or {})
        tracks.append(tuple(track for track, coverage in result.coverage.items() if coverage.n_found))
    if len(set(tracks)) > 1:
        remedy = "give every seed the same tracks"
        where = str(files[0][1].parent)
        raise SubmissionError("the seeds cover different tracks", where=where, value=sorted(set(tracks)), remedy=remedy)
    return Submitted(
        system=system,
        is_ranked=is_ranked,
        inputs=tuple(inputs),
        warnings=tuple(warnings),
        confidences=tuple(confidences),
        tracks=tracks[0],
    )


def _lines(path: Path, result: ReadResult) -> list[str]:
    more = result.n_faults - len(result.faults)
    return [f"{path}: {fault}" for fault in result.faults] + ([f"{path}: and {more} more faults"] if more else [])


def _warned(fault: Fault) -> Warned:
    return Warned(code=fault.code, line=fault.line, id=fault.id, message=fault.message)
