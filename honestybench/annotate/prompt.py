"""Prompt templates: plain text files of chat turns, known by name and sha256.

A template is a sequence of turns, each headed by a line `[system]`, `[user]` or `[assistant]`.
`{name}` fields are filled in one pass, so a question that contains braces stays as it is. A last
`[assistant]` turn is a stub that the LLM continues.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, cast

from honestybench.engine.base import Message
from honestybench.errors import UsageError
from honestybench.records import sha256_hex

_ROLE = re.compile(r"^\[(system|user|assistant)\]\n", re.MULTILINE)
_FIELD = re.compile(r"\{(\w+)\}")

FIELDS: dict[str, frozenset[str]] = {
    "sample-qa": frozenset({"question"}),
    "sample-mmlu": frozenset({"question"}),
    "paper-qa": frozenset({"question"}),
    "paper-mmlu": frozenset({"question"}),
    "judge-correctness": frozenset({"question", "golds", "answer"}),
    "judge-consistency": frozenset({"question", "greedy", "answer"}),
    "verbalized-0": frozenset({"question"}),
    "p-yes": frozenset({"question"}),
    "p-true": frozenset({"question", "answer"}),
}
"""Every template of the package and the fields it must have."""


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """One template. `sha256` is over its text and stands in every manifest."""

    name: str
    text: str

    def __post_init__(self) -> None:
        found = frozenset(_FIELD.findall(self.text))
        if found != FIELDS[self.name]:
            raise UsageError(
                "a prompt must use its fields, all of them and no others",
                where=f"prompt {self.name}",
                value=sorted(found),
                remedy=f"use {', '.join('{' + field + '}' for field in sorted(FIELDS[self.name]))}",
            )
        if not _ROLE.match(self.text):
            raise UsageError("a prompt starts with a line [system], [user] or [assistant]", where=f"prompt {self.name}")

    @property
    def sha256(self) -> str:
        """Hash of the template's text, 64 hexadecimal digits."""
        return sha256_hex(self.text)

    @property
    def has_stub(self) -> bool:
        """Whether the last turn is a started answer that the LLM continues."""
        return bool(_ROLE.findall(self.text)[-1] == "assistant")

    def render(self, **fields: str) -> tuple[Message, ...]:
        """Fill the fields in and return the chat turns."""
        parts = _ROLE.split(self.text)[1:]
        return tuple(
            Message(role=cast(Literal["system", "user", "assistant"], role), content=_fill(content, fields))
            for role, content in zip(parts[::2], parts[1::2], strict=True)
        )


def _fill(content: str, fields: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: fields[match.group(1)], content.rstrip("\n"))


def load_prompt(name: str, replacement: Path | None = None) -> PromptTemplate:
    """Read a template of the package, or the file that replaces it.

    Raises: UsageError when the replacement cannot be read or lacks a field.
    """
    if replacement is None:
        return PromptTemplate(name, (files("honestybench.annotate") / "prompts" / f"{name}.txt").read_text("utf-8"))
    try:
        return PromptTemplate(name, replacement.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the prompt file: {error}", where=str(replacement)) from error


def recorded_prompts(recorded: Mapping[str, str], replacements: Mapping[str, Path]) -> dict[str, PromptTemplate]:
    """Find the templates that a release was made with: `recorded` maps their names to the sha256 in its manifest.

    A prompt that the build had replaced must be given again as a file. Raises: UsageError.
    """
    found = {}
    for name, sha256 in recorded.items():
        template = load_prompt(name, replacements.get(name))
        if template.sha256 != sha256:
            raise UsageError(
                "this is not the text that the release was made with",
                where=f"prompt {name}",
                value=f"sha256 {template.sha256}",
                remedy=f"give the file with sha256 {sha256}: --prompt {name}=FILE",
            )
        found[name] = template
    return found
