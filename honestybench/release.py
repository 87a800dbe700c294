"""A release folder as a whole: its manifest, its configs and splits, and where its card stands.

`shards` and `card` both need the manifest, and `shards` needs the card: so it lives below both.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

import pyarrow as pa

from honestybench.errors import DataError, ReleaseError, UnknownNameError, UsageError
from honestybench.records import SPLITS, canonical_json, sha256_hex
from honestybench.schema import ANNOTATED_SCHEMA, QUESTIONS_SCHEMA, SCHEMA_VERSION
from honestybench.shapes import read_strict_json, shape_faults
from honestybench.storage import MANIFEST_NAME

QUESTIONS = "questions"
"""The config without annotations; every other config holds one LLM's annotations under its slug."""

SPLIT_ALIASES: dict[str, tuple[str, ...]] = {"test": ("in_domain", "ood")}
"""Split names that read several splits as one."""

CONFIG_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
MAX_FAULTS = 20


class Shard(TypedDict):
    """One Parquet file. `arrow_bytes` is its size in memory, `size_bytes` its size on disk."""

    path: str
    config: str
    split: str
    rows: int
    size_bytes: int
    arrow_bytes: int
    sha256: str


class SourceInfo(TypedDict):
    """Terms of one source: SPDX id or `unclear: …`, whom to credit, where it comes from."""

    title: str
    spdx: str
    attribution: str
    url: str
    note: str | None


class UnparsedCount(TypedDict):
    """How many of a source's verdicts could not be parsed."""

    unparsed: int
    verdicts: int


class LlmInfo(TypedDict):
    """One answering LLM: its name, what was run, all that can change its answers, unparsed verdicts by source."""

    name: str
    description: str
    provenance: dict[str, object]
    unparsed: dict[str, UnparsedCount]


class PromptInfo(TypedDict):
    """One prompt file."""

    sha256: str


class Content(TypedDict):
    """All that makes a release what it is; the release id is the hash of this part.

    `counts` is source -> split -> examples and holds for every config: all hold the same examples.
    """

    schema_version: str
    profile: str
    partial: bool
    config: dict[str, object]
    config_hash: str
    counts: dict[str, dict[str, int]]
    flag_counts: dict[str, int]
    sources: dict[str, SourceInfo]
    llms: dict[str, LlmInfo]
    judge: dict[str, object]
    prompts: dict[str, PromptInfo]
    shards: list[Shard]
    default_config: str


class _ManifestFile(TypedDict):
    content: Content
    environment: dict[str, object]
    release_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A manifest whose shape was checked. `environment` (versions, hardware) stands outside the release id."""

    content: Content
    environment: dict[str, object]
    release_id: str

    @classmethod
    def of(cls, content: object, environment: object) -> "Manifest":
        """Check the two parts and derive the release id. Raises: DataError."""
        try:
            parts = json.loads(canonical_json({"content": content, "environment": environment}))
            release_id = content_id(parts["content"])
        except (TypeError, ValueError) as error:
            raise DataError(f"the manifest must be plain JSON: {error}") from error
        return cls._checked({**parts, "release_id": release_id}, where="the manifest of this build")

    @classmethod
    def _checked(cls, value: object, *, where: str) -> "Manifest":
        faults = list(shape_faults(value, _ManifestFile, "manifest"))
        if not faults:
            faults = list(_content_faults(cast(_ManifestFile, value)["content"]))
        if faults:
            more = f"; and {len(faults) - MAX_FAULTS} more" if len(faults) > MAX_FAULTS else ""
            raise ReleaseError(
                "; ".join(faults[:MAX_FAULTS]) + more, where=where, remedy="build the release again, or fetch it again"
            )
        file = cast(_ManifestFile, value)
        return cls(content=file["content"], environment=file["environment"], release_id=file["release_id"])

    @property
    def configs(self) -> tuple[str, ...]:
        """Names of the configs, the default one first."""
        names = sorted({shard["config"] for shard in self.content["shards"]})
        return tuple(sorted(names, key=lambda name: name != self.content["default_config"]))

    def splits(self, config: str) -> tuple[str, ...]:
        """The splits of a config that hold rows, in the order of SPLITS. Raises: UnknownNameError."""
        if config not in self.configs:
            raise UnknownNameError("config", config, self.configs)
        held = {shard["split"] for shard in self.content["shards"] if shard["config"] == config}
        return tuple(split for split in SPLITS if split in held)

    def aliases(self, config: str) -> dict[str, tuple[str, ...]]:
        """The split aliases of a config, each with those of its splits that hold rows."""
        held = self.splits(config)
        found = {alias: tuple(split for split in splits if split in held) for alias, splits in SPLIT_ALIASES.items()}
        return {alias: splits for alias, splits in found.items() if splits}

    def select(self, config: str, split: str | None = None) -> list[Shard]:
        """The shards of a split or an alias, of all splits for None, in reading order. Raises: UnknownNameError."""
        held, aliases = self.splits(config), self.aliases(config)
        if split is not None and split not in (*held, *aliases):
            raise UnknownNameError(f"split of config {config!r}", split, (*held, *aliases))
        wanted = held if split is None else aliases.get(split, (split,))
        return [
            shard
            for name in wanted
            for shard in self.content["shards"]
            if (shard["config"], shard["split"]) == (config, name)
        ]

    def to_json(self) -> str:
        """Write the manifest as text, keys sorted: equal manifests give equal bytes."""
        value = {"content": self.content, "environment": self.environment, "release_id": self.release_id}
        return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False) + "\n"


def content_id(content: object) -> str:
    """Derive the release id: sha256 over the canonical JSON of the manifest's content part."""
    return sha256_hex(canonical_json(content))


def read_manifest(release: Path) -> Manifest:
    """Read and check a release's manifest. Raises: ReleaseError when it is missing or not what it must be."""
    path = release / MANIFEST_NAME
    try:
        value = read_strict_json(path)
    except FileNotFoundError as error:
        raise ReleaseError(
            f"no release here: {MANIFEST_NAME} is missing",
            where=str(release),
            remedy=f"give the folder that holds {MANIFEST_NAME}, or build one with `make build-bench`",
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise ReleaseError(
            f"the manifest cannot be read: {error}",
            where=str(path),
            remedy="build the release again, or fetch it again",
        ) from error
    return Manifest._checked(value, where=str(path))


def only_llm(release: Path) -> str:
    """Name the LLM of a release where there is exactly one. Raises: UsageError; ReleaseError."""
    llms = sorted(set(read_manifest(release).configs) - {QUESTIONS})
    if len(llms) != 1:
        remedy = f"name one with --llm: {', '.join(llms)}" if llms else "build the release with an LLM"
        raise UsageError(f"{len(llms)} LLMs have answered here", where=str(release), remedy=remedy)
    return llms[0]


def schema_of(config: str) -> pa.Schema:
    """The Arrow schema that every shard of a config has."""
    return QUESTIONS_SCHEMA if config == QUESTIONS else ANNOTATED_SCHEMA


def shard_path(config: str, split: str, index: int, total: int) -> str:
    """Name a shard, relative to the release folder."""
    return f"data/{config}/{split}-{index:05d}-of-{total:05d}.parquet"


def card_place(release: Path) -> tuple[Path, str]:
    """Say where a release's card stands, and where its data are as seen from there.

    The card stands in the release folder; for a release embedded in a Python package (its parent
    holds `__init__.py`) it stands beside the package's modules, where `datasets` looks for it.
    """
    release = release.resolve()
    if (release.parent / "__init__.py").is_file():
        return release.parent / "README.md", f"{release.name}/data"
    return release / "README.md", "data"


def _content_faults(content: Content) -> Iterator[str]:
    """Check what the shape cannot tell: version, names, and that the shards are numbered 0 to N-1 of N."""
    if content["schema_version"] != SCHEMA_VERSION:
        yield f"schema version {content['schema_version']!r}, but this honestybench reads {SCHEMA_VERSION!r}"
    groups: dict[tuple[str, str], list[str]] = {}
    for shard in content["shards"]:
        groups.setdefault((shard["config"], shard["split"]), []).append(shard["path"])
    for (config, split), paths in groups.items():
        if not CONFIG_NAME.fullmatch(config):
            yield f"config {config!r} must be lower case letters, digits, '.', '_' and '-'"
        if split not in SPLITS:
            yield f"unknown split {split!r}"
        if paths != [shard_path(config, split, index, len(paths)) for index in range(len(paths))]:
            yield f"the shards of {config}/{split} are not numbered in order: {', '.join(paths)}"
    if content["default_config"] not in {config for config, _ in groups}:
        yield f"the default config {content['default_config']!r} has no shard"
