"""Two caches on a local disk: generated blocks as files, an LLM judge's words in SQLite.

Both are addressed by content: a key carries everything that can change the value, so a stale
value cannot be found, and an interrupted build goes on where it stopped.
"""

import json
import math
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from honestybench.errors import DataError, StorageError
from honestybench.records import N_SAMPLED, SUM_TOLERANCE, Generation, canonical_json, sha256_hex
from honestybench.storage import refused_writes

Answers = tuple[Generation, tuple[Generation, ...]]
"""An example's greedy answer and its sampled ones."""


def cache_key(example_id: str, sample_index: int | None, seed: int, config_hash: str) -> str:
    """Address one answer: 64 hexadecimal digits. `sample_index` is None for the greedy answer."""
    return sha256_hex(canonical_json([example_id, sample_index, seed, config_hash]))


def request_seed(config_seed: int, example_id: str) -> int:
    """Derive an example's 32-bit seed: the first 4 bytes of sha256 over [config seed, id]."""
    return int(sha256_hex(canonical_json([config_seed, example_id]))[:8], 16)


def block_key(example_ids: Sequence[str], config_seed: int, config_hash: str) -> str:
    """Address one block: the hash of its answers' keys in order, for answers may depend on the batch."""
    keys = [
        cache_key(example_id, sample_index, request_seed(config_seed, example_id), config_hash)
        for example_id in example_ids
        for sample_index in (None, *range(N_SAMPLED))
    ]
    return sha256_hex("".join(keys))


class BlockStore:
    """Finished blocks of answers, one JSON file each, written by one process at a time.

    A block is on disk whole or not at all.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, key: str) -> Path:
        """Return where a block stands or would stand."""
        return self._root / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Answers] | None:
        """Return a block's answers by example id, None when it was not finished.

        Raises: DataError for a file that is no whole block (a disk fault: writing is atomic).
        """
        path = self.path(key)
        try:
            stored = json.loads(path.read_bytes())
            return {
                example_id: (_generation(answers["greedy"]), tuple(map(_generation, answers["sampled"])))
                for example_id, answers in stored.items()
            }
        except FileNotFoundError:
            return None
        except (DataError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(
                "the block file is corrupt", where=str(path), remedy="delete it; its answers are generated again"
            ) from error

    def put(self, key: str, answers: Mapping[str, Answers]) -> None:
        """Commit a finished block. Raises: StorageError."""
        stored = {
            example_id: {"greedy": asdict(greedy), "sampled": [asdict(generation) for generation in sampled]}
            for example_id, (greedy, sampled) in answers.items()
        }
        path = self.path(key)
        with refused_writes(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".partial")
            try:
                with partial.open("w", encoding="utf-8") as file:
                    json.dump(stored, file, ensure_ascii=False)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(partial, path)
            finally:
                partial.unlink(missing_ok=True)


def _generation(fields: dict[str, Any]) -> Generation:
    """Read one stored generation. Raises: DataError, TypeError when it is none."""
    parts: dict[str, Any] = {name: tuple(part) if isinstance(part, list) else part for name, part in fields.items()}
    generation = Generation(**parts)
    if not isinstance(generation.text, str) or not isinstance(generation.finish_reason, str):
        raise DataError("a generation needs a text and a finish reason")
    if len(generation.tokens) != len(generation.logprobs):
        raise DataError("a generation needs one log-probability a token")
    total = generation.cumulative_logprob
    if total is not None and not abs(total - math.fsum(generation.logprobs)) <= SUM_TOLERANCE:
        raise DataError("log-probabilities must add up to their sum")
    return generation


class VerdictCache:
    """What an LLM judge said, by content: one writer, a local disk. Raises: DataError, StorageError."""

    def __init__(self, path: Path) -> None:
        """Open or create the file."""
        self._path = path
        with refused_writes(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        with self._told():
            self._database = sqlite3.connect(path)
            with self._database:
                self._database.execute("CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, raw TEXT NOT NULL)")

    def get(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the raw words known for these keys."""
        found: dict[str, str] = {}
        with self._told():
            for key in keys:
                row = self._database.execute("SELECT raw FROM verdicts WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = row[0]
        return found

    def put(self, words: Mapping[str, str]) -> None:
        """Commit raw words, all or none."""
        with self._told(), self._database:
            self._database.executemany("INSERT OR REPLACE INTO verdicts VALUES (?, ?)", words.items())

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            remedy = "free some space, make the folder writable, and let only one build use it"
            raise StorageError(f"the verdict cache: {error}", where=str(self._path), remedy=remedy) from error
        except sqlite3.DatabaseError as error:
            remedy = "delete it; its verdicts are asked again"
            raise DataError(f"the verdict cache is corrupt: {error}", where=str(self._path), remedy=remedy) from error
