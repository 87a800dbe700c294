"""Read system.yaml: what a system is, what it saw and what it cost."""

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from honestybench.errors import SubmissionError
from honestybench.records import SPLITS
from honestybench.release import CONFIG_NAME
from honestybench.submission.faults import shown

METHOD_CLASSES: tuple[str, ...] = ("training_free", "elicitation", "calibration", "other")
SEES: tuple[str, ...] = ("question", "answer", "samples")
"""What a system reads: the question alone, the answer too, or sampled answers."""
SELECTED_ON: tuple[str, ...] = ("none", *SPLITS)
"""Where settings or checkpoints were chosen; a row selected on an evaluation split is marked."""

ORACLE_FAMILY = "oracle"
"""The family of systems that read labels of the questions they are scored on: ceilings, shown and never ranked."""

MAX_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """One system as its system.yaml describes it.

    `llm` is the slug of the answering LLM, `release` the id of the release that was read. `labels_used`
    counts gold-labelled examples, those used for selection included; `samples_per_question` counts sampled
    answers and `extra_passes` forward passes beyond the greedy answer. Links are http(s) or None.
    """

    name: str
    family: str
    llm: str
    release: str
    method_class: str
    sees: str
    labels_used: int
    samples_per_question: int
    extra_passes: int
    selected_on: str
    authors: tuple[str, ...]
    date: date
    description: str
    url: str | None = None
    code_url: str | None = None
    paper: str | None = None
    license: str | None = None

    @property
    def is_ranked(self) -> bool:
        """Whether the system takes part in ranks, ties and comparisons: all but the oracles do."""
        return self.family != ORACLE_FAMILY


def read_system(path: Path) -> System:
    """Read and check a system.yaml. Raises: SubmissionError with every fault; OSError."""
    values, faults = _parse(path), []
    checked: dict[str, Any] = {}
    for name, check in CHECKS.items():
        optional = name in OPTIONAL
        if name not in values:
            faults += [] if optional else [f"{name} is missing"]
        elif not (optional and values[name] in NULLS):
            try:
                checked[name] = check(values[name])
            except ValueError as error:
                faults.append(f"{name} must be {error}, not {shown(values[name])}")
    for key in sorted(values.keys() - CHECKS.keys()):
        close = get_close_matches(key, CHECKS, n=1)
        faults.append(f"unknown key {shown(key)}" + (f", did you mean {close[0]}?" if close else ""))
    if faults:
        count = f"{len(faults)} faults: " if len(faults) > 1 else ""
        raise SubmissionError(count + "; ".join(faults), where=str(path), remedy=f"the keys are {', '.join(CHECKS)}")
    return System(**checked)


class _PlainLoader(yaml.BaseLoader):
    """Read every scalar as its text and no tag at all: a release id of digits stays text, `no` stays a name."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key) for key, _ in node.value]
        for index, (key, (key_node, _)) in enumerate(zip(keys, node.value, strict=True)):
            if key in keys[:index]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands twice", key_node.start_mark
                )
        return super().construct_mapping(node, deep)


def _parse(path: Path) -> dict[str, object]:
    with path.open("rb") as file:
        text = file.read(MAX_BYTES + 1)
    fault = f"the file has over {MAX_BYTES} bytes" if len(text) > MAX_BYTES else ""
    values: object = None
    try:
        values = yaml.load(text, _PlainLoader) if not fault else None
    except yaml.YAMLError as error:
        fault = f"this is not YAML: {error}"
    except (RecursionError, UnicodeError) as error:
        fault = f"this is not YAML that can be read: {error}"
    if not fault and not isinstance(values, dict):
        fault = "the file must hold `key: value` lines"
    if fault or not isinstance(values, dict):
        raise SubmissionError(" ".join(fault.split()), where=str(path), remedy=f"the keys are {', '.join(CHECKS)}")
    return values


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError("text on one line")
    return value.strip()


def _paragraph(value: object) -> str:
    return _text(" ".join(value.split()) if isinstance(value, str) else value)


def _slug(value: object) -> str:
    if not isinstance(value, str) or not CONFIG_NAME.fullmatch(value):
        raise ValueError("a slug of lower case letters, digits, '.', '_' and '-'")
    return value


def _release_id(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        raise ValueError("a release id of 64 hexadecimal digits")
    return value


def _count(value: object) -> int:
    if not isinstance(value, str) or not re.fullmatch("[0-9]{1,9}", value):
        raise ValueError("a whole number from 0")
    return int(value)


def _one_of(names: tuple[str, ...]) -> Callable[[object], str]:
    def check(value: object) -> str:
        if value not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return str(value)

    return check


def _authors(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError("a list of names")
    return tuple(_text(each) for each in value)


def _date(value: object) -> date:
    if not isinstance(value, str) or not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        raise ValueError("a date like 2026-01-31")
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise ValueError("a date of the calendar") from error


def _link(value: object) -> str:
    fault = ValueError("a link that starts with https:// or http://")
    if not isinstance(value, str) or not re.fullmatch("[!-~]+", value):
        raise fault
    try:
        parts = urlsplit(value)
    except ValueError as error:
        raise fault from error
    if parts.scheme not in ("http", "https") or not parts.hostname or set(value) & set('<>"\\^`{|}'):
        raise fault
    return value


CHECKS: dict[str, Callable[[object], object]] = {
    "name": _text,
    "family": _text,
    "llm": _slug,
    "release": _release_id,
    "method_class": _one_of(METHOD_CLASSES),
    "sees": _one_of(SEES),
    "labels_used": _count,
    "samples_per_question": _count,
    "extra_passes": _count,
    "selected_on": _one_of(SELECTED_ON),
    "authors": _authors,
    "url": _link,
    "code_url": _link,
    "paper": _link,
    "license": _text,
    "date": _date,
    "description": _paragraph,
}
"""Key of system.yaml -> its check, which gives the value or raises ValueError with what it must be."""

OPTIONAL = frozenset(("url", "code_url", "paper", "license"))
NULLS = ("", "null", "~")
