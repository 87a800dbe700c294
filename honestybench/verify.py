"""Check a release against its manifest and its own contents, and list every fault found."""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from honestybench.card import render_card
from honestybench.croissant import CROISSANT_NAME, croissant_json
from honestybench.errors import DataError, ReleaseError
from honestybench.records import (
    N_SAMPLED,
    SUM_TOLERANCE,
    AnnotatedExample,
    Generation,
    QAExample,
    canonical_json,
    example_id,
)
from honestybench.release import (
    MAX_FAULTS,
    QUESTIONS,
    Content,
    Manifest,
    Shard,
    card_place,
    content_id,
    read_manifest,
    schema_of,
)
from honestybench.schema import QUESTIONS_SCHEMA, unexpected_nulls
from honestybench.shards import BATCH_ROWS, UNREADABLE, file_sha256

COPY_SUFFIX = re.compile(r"(-([2-9]|[1-9][0-9]+))?")
VERDICTS_PER_ROW = 1 + 2 * N_SAMPLED


@dataclass
class _Tally:
    """What the rows of one config add up to, gathered while they are checked."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    flags: Counter[str] = field(default_factory=Counter)
    unparsed: Counter[str] = field(default_factory=Counter)
    examples: Any = field(default_factory=hashlib.sha256)
    last: tuple[str, str] = ("", "")
    complete: bool = True

    def add(self, row: Mapping[str, Any]) -> None:
        self.counts[row["source"], row["split"]] += 1
        self.flags.update(row["flags"])
        self.unparsed[row["source"]] += row.get("n_unparsed", 0)
        self.examples.update(canonical_json([row[name] for name in QUESTIONS_SCHEMA.names]).encode())


def verify_release(release: Path) -> list[str]:
    """List a release's faults, one line each; an empty list means that it is what its manifest says.

    Checks the manifest and its id; each shard's size, sha256, schema, rows, order and ids; the
    derived columns; the manifest's counts; stray Parquet files; card and Croissant file. At most
    20 faults are listed for a shard. Reads every byte; changes nothing.
    """
    try:
        manifest = read_manifest(release)
    except ReleaseError as error:
        return [str(error)]
    faults = list(_folder_faults(release, manifest))
    tallies: dict[str, _Tally] = {}
    for config in manifest.configs:
        tally = tallies[config] = _Tally()
        for split in manifest.splits(config):
            tally.last = ("", "")
            for shard in manifest.select(config, split):
                faults += (f"{shard['path']}: {fault}" for fault in _capped(_shard_faults(release, shard, tally)))
        if tally.complete:
            faults += _count_faults(manifest.content, config, tally)
    if len({tally.examples.digest() for tally in tallies.values() if tally.complete}) > 1:
        faults.append(f"the configs {', '.join(tallies)} do not hold the same examples")
    return faults


def _folder_faults(release: Path, manifest: Manifest) -> Iterator[str]:
    expected_id = content_id(manifest.content)
    if manifest.release_id != expected_id:
        yield f"manifest.json: its content hashes to {expected_id}, its release id is {manifest.release_id!r}"
    known = {shard["path"] for shard in manifest.content["shards"]}
    for path in sorted(release.rglob("*.parquet")):
        name = path.relative_to(release).as_posix()
        if name not in known:
            yield f"{name}: the manifest does not list this file"
    llms = set(manifest.content["llms"])
    for config in sorted(llms ^ (set(manifest.configs) - {QUESTIONS})):
        yield f"manifest.json: {config!r} must be both a config and an LLM"
    card, data_prefix = card_place(release)
    expected = {
        card: render_card(manifest, data_prefix=data_prefix),
        release / CROISSANT_NAME: croissant_json(manifest),
    }
    for path, text in expected.items():
        try:
            if path.read_bytes() != text.encode():
                yield f"{path.name}: not what the manifest renders"
        except OSError as error:
            yield f"{path.name}: cannot be read: {error.strerror}"


def _shard_faults(release: Path, shard: Shard, tally: _Tally) -> Iterator[str]:
    path = release / shard["path"]
    tally.complete, complete = False, tally.complete
    try:
        size_bytes = path.stat().st_size
        if size_bytes != shard["size_bytes"]:
            yield f"{size_bytes} bytes, the manifest says {shard['size_bytes']}"
        if file_sha256(path) != shard["sha256"]:
            yield "the sha256 is not that of the manifest"
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(schema_of(shard["config"])):
                yield "other columns than its config"
                return
            if file.metadata.num_rows != shard["rows"]:
                yield f"{file.metadata.num_rows} rows, the manifest says {shard['rows']}"
            for batch in file.iter_batches(BATCH_ROWS):
                batch.validate(full=True)
                if nulls := unexpected_nulls(batch):
                    yield f"null in {', '.join(nulls)}"
                    return
                for row in batch.to_pylist():
                    tally.add(row)
                    yield from _row_faults(row, shard, tally)
        tally.complete = complete
    except FileNotFoundError:
        yield "the file is missing"
    except UNREADABLE as error:
        yield f"cannot be read: {' '.join(str(error).split())}"


def _row_faults(row: Mapping[str, Any], shard: Shard, tally: _Tally) -> Iterator[str]:
    where, key = row["id"], (row["source"], row["id"])
    if key == tally.last:
        yield f"{where!r}: two rows share this id"
    elif key < tally.last:
        yield f"{where!r}: not sorted by source, then id"
    tally.last = key
    if row["split"] != shard["split"]:
        yield f"{where!r}: a row of split {row['split']!r}"
    plain = example_id(row["source"], row["split"], row["question"], row["answers"])
    if not where.startswith(plain) or not COPY_SUFFIX.fullmatch(where, len(plain)):
        yield f"{where!r}: the content's id is {plain!r}"
    try:
        example = QAExample(**{name: _frozen(row[name]) for name in QUESTIONS_SCHEMA.names})
        if shard["config"] != QUESTIONS:
            yield from _annotation_faults(row, _annotated(example, row))
    except DataError as error:
        yield str(error)


def _annotation_faults(row: Mapping[str, Any], record: AnnotatedExample) -> Iterator[str]:
    where = row["id"]
    for name in ("self_consistency", "sample_accuracy", "n_unparsed"):
        derived = getattr(record, name)
        if row[name] != derived:
            yield f"{where!r}: {name} is {row[name]!r}, its verdicts give {derived!r}"
    labels = {record.greedy_correctness, *record.sampling_correctness, *record.consistency_judgement}
    if not labels <= {0, 1, None}:
        yield f"{where!r}: a verdict is none of 1, 0 and null: {sorted(labels - {0, 1, None}, key=str)}"
    if len(record.greedy.tokens) != len(record.greedy.logprobs):
        yield f"{where!r}: {len(record.greedy.tokens)} greedy tokens, {len(record.greedy.logprobs)} log-probabilities"
    total, recorded = math.fsum(record.greedy.logprobs), row["greedy_cumulative_logprob"]
    if not abs(total - recorded) <= SUM_TOLERANCE:
        yield f"{where!r}: greedy_cumulative_logprob is {recorded!r}, its tokens sum to {total!r}"


def _annotated(example: QAExample, row: Mapping[str, Any]) -> AnnotatedExample:
    return AnnotatedExample(
        example=example,
        greedy=Generation(
            text=row["greedy_response"],
            finish_reason=row["greedy_finish_reason"],
            tokens=tuple(row["greedy_tokens"]),
            logprobs=tuple(row["greedy_logprobs"]),
            cumulative_logprob=row["greedy_cumulative_logprob"],
        ),
        sampled=tuple(
            Generation(text=text, finish_reason=reason)
            for text, reason in zip(row["sampling_response"], row["sampling_finish_reason"], strict=True)
        ),
        greedy_correctness=row["greedy_correctness"],
        sampling_correctness=tuple(row["sampling_correctness"]),
        consistency_judgement=tuple(row["consistency_judgement"]),
    )


def _count_faults(content: Content, config: str, tally: _Tally) -> Iterator[str]:
    """Compare the manifest's counts with the rows of one config; a count of zero may be left out."""
    counted = {(source, split): n for source, of in content["counts"].items() for split, n in of.items()}
    yield from _differences(f"{config}: examples of", counted, tally.counts)
    yield from _differences(f"{config}: examples flagged", content["flag_counts"], tally.flags)
    by_source: Counter[str] = Counter()
    for (source, _), rows in tally.counts.items():
        by_source[source] += rows
    for source in sorted(by_source.keys() - content["sources"].keys()):
        yield f"manifest.json: no licence entry for source {source!r}"
    if config in content["llms"]:
        unparsed = content["llms"][config]["unparsed"]
        verdicts = {source: rows * VERDICTS_PER_ROW for source, rows in by_source.items()}
        yield from _differences(
            f"{config}: unparsed verdicts of", {k: n["unparsed"] for k, n in unparsed.items()}, tally.unparsed
        )
        yield from _differences(f"{config}: verdicts of", {k: n["verdicts"] for k, n in unparsed.items()}, verdicts)


def _differences(what: str, said: Mapping[Any, int], found: Mapping[Any, int]) -> Iterator[str]:
    for key in sorted(said.keys() | found.keys()):
        if said.get(key, 0) != found.get(key, 0):
            name = "/".join(key) if isinstance(key, tuple) else key
            yield f"{what} {name}: the manifest says {said.get(key, 0)}, the rows give {found.get(key, 0)}"


def _capped(faults: Iterable[str]) -> Iterator[str]:
    count = 0
    for count, fault in enumerate(faults, start=1):
        if count <= MAX_FAULTS:
            yield fault
    if count > MAX_FAULTS:
        yield f"and {count - MAX_FAULTS} more faults"


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
