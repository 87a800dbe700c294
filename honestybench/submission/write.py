"""Write a system of ours as a submission folder: system.yaml and one confidence file, or one for each seed."""

import os
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path

import yaml

from honestybench.errors import SubmissionError
from honestybench.records import ConfidenceRow, canonical_json
from honestybench.storage import refused_writes
from honestybench.submission.system import read_system

AUTHORS = ("HonestyBench contributors",)
"""Who stands in system.yaml where nobody else is named; it tells the reference systems from anybody's."""

SYSTEM_NAME = "system.yaml"


def refuse_foreign_system(folder: Path, llm: str, authors: tuple[str, ...] = AUTHORS) -> date | None:
    """Refuse to replace a system of another LLM or of somebody else, and give the date of the one that stands there.

    None for a new or empty folder. Raises: SubmissionError.
    """
    if not folder.is_symlink() and (not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))):
        return None
    try:
        system = read_system(folder / SYSTEM_NAME)
    except (OSError, SubmissionError):
        system = None
    if system is None or folder.is_symlink() or (system.authors, system.llm) != (authors, llm):
        raise SubmissionError(
            f"the folder holds no system of {', '.join(authors)} for {llm}; it stays as it is",
            where=str(folder),
            remedy="rename or move it, or name another folder with --out",
        )
    return system.date


def write_system(
    folder: Path,
    about: Mapping[str, object],
    confidences: Mapping[int | None, Iterable[ConfidenceRow]],
    *,
    today: date,
) -> int:
    """Write a submission folder and count the rows of one of its files.

    `about` holds the keys of system.yaml but `date`; authors and licence are filled in where they are missing.
    `confidences` maps seeds to rows; the one key None means a method without a seed. A system of before is
    replaced, and keeps its date where system.yaml would not change otherwise. Files of seeds that are no longer
    there go. Raises: SubmissionError, before anything is written, where the folder is somebody else's; StorageError.
    """
    described = {"authors": list(AUTHORS), "license": "Apache-2.0", **about}
    dated = refuse_foreign_system(folder, str(about["llm"]), tuple(str(name) for name in described["authors"]))  # type: ignore[attr-defined]
    if dated is not None and (family := read_system(folder / SYSTEM_NAME).family) != about["family"]:
        raise SubmissionError(
            f"the folder holds another system, of the family {family}; it stays as it is",
            where=str(folder),
            value=about["family"],
            remedy="name another folder with --out, or move this one away",
        )
    names = {seed: "confidences.jsonl" if seed is None else f"confidences-seed{seed}.jsonl" for seed in confidences}
    rows = 0
    with refused_writes(folder):
        folder.mkdir(parents=True, exist_ok=True)
        system = folder / SYSTEM_NAME
        before = system.read_text(encoding="utf-8") if system.exists() else None
        if before is None or before != _yaml({**described, "date": dated}):
            _replace(system, _yaml({**described, "date": today}))
        for seed, name in names.items():
            lines = [canonical_json({"id": row.id, "confidence": row.confidence}) + "\n" for row in confidences[seed]]
            rows = len(lines)
            _replace(folder / name, "".join(lines))
        for stale in folder.glob("confidences*.jsonl*"):
            if stale.name not in names.values():
                stale.unlink()
    return rows


def _yaml(about: Mapping[str, object]) -> str:
    return str(yaml.safe_dump(dict(about), sort_keys=False, allow_unicode=True, width=110))


def _replace(path: Path, text: str) -> None:
    aside = path.with_name(path.name + ".partial")
    aside.write_text(text, encoding="utf-8")
    os.replace(aside, path)
