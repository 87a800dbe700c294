"""Write a release's Parquet shards, and read them back by batch or as one table."""

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from honestybench.card import render_card
from honestybench.croissant import CROISSANT_NAME, croissant_json
from honestybench.errors import DataError, ReleaseError, UnknownNameError, UsageError
from honestybench.records import SPLITS
from honestybench.release import CONFIG_NAME, Manifest, Shard, card_place, read_manifest, schema_of, shard_path
from honestybench.schema import unexpected_nulls
from honestybench.storage import MANIFEST_NAME, ReplacedFolder, refused_writes

Row = Mapping[str, object]

SHARD_BYTES = 500_000_000
ROW_GROUP_BYTES = 100_000_000
"""In-memory sizes that the Hub's viewer asks for."""

BATCH_ROWS = 1024
UNREADABLE = (pa.ArrowException, OSError, UnicodeDecodeError)
"""What pyarrow raises for a damaged file; the last where a column's name is no text any more."""
SPLIT_COLUMNS = ("greedy_logprobs", "greedy_cumulative_logprob")
"""Columns of log-probabilities: byte-stream-split packs them better, and rules out a dictionary."""


class ReleaseWriter:
    """Write a whole release beside `out` and swap it in at the end.

    Use as a context manager: `write_split` for each config and split, then `finish` once. Leaving
    the block without `finish`, by an error or not, leaves `out` as it was.
    Raises: ReleaseError when `out` holds something that is no release; StorageError.
    """

    def __init__(self, out: Path) -> None:
        self._folder = ReplacedFolder(out)
        self._shards: dict[tuple[str, str], list[Shard]] = {}

    def __enter__(self) -> Self:
        _refuse_foreign_files(self._folder.out)
        self._folder.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.__exit__(kind, error, trace)

    def write_split(self, config: str, split: str, rows: Iterable[Row], schema: pa.Schema) -> None:
        """Stream one split's rows into shards; a split without rows leaves no file.

        `rows` hold every column of `schema`, sorted by source, then id, no id twice.
        Raises: DataError at the first row that breaks this; StorageError.
        """
        if not CONFIG_NAME.fullmatch(config):
            raise DataError("a config's name has lower case letters, digits, '.', '_' and '-'", value=config)
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if (config, split) in self._shards:
            raise DataError("this split was written already", where=f"{config}/{split}")
        if not schema.equals(schema_of(config)):
            raise DataError("the schema is not that of the config", where=config, value=schema.names)
        files = _SplitFiles(self._folder.new, config, split, schema)
        for row_group in _row_groups(_in_order(rows, split), schema):
            with refused_writes(self._folder.out):
                files.write(row_group)
        with refused_writes(self._folder.out):
            self._shards[config, split] = files.close()

    def finish(self, content: Mapping[str, object], environment: Mapping[str, object]) -> Manifest:
        """Add the shard list to the manifest's content, write card and manifest, and swap the release in.

        `content` is `release.Content` without `shards`. Raises: DataError; StorageError.
        """
        written = sorted(self._shards, key=lambda key: (key[0], SPLITS.index(key[1])))
        shards = [shard for key in written for shard in self._shards[key]]
        manifest = Manifest.of({**content, "shards": shards}, environment)
        with refused_writes(self._folder.out):
            new = self._folder.new
            (new / "README.md").write_text(render_card(manifest), encoding="utf-8")
            (new / CROISSANT_NAME).write_text(croissant_json(manifest), encoding="utf-8")
            (new / MANIFEST_NAME).write_text(manifest.to_json(), encoding="utf-8")
        self._folder.commit()
        return manifest


def _refuse_foreign_files(release: Path) -> None:
    """Raise ReleaseError when an older release also holds files that are no part of it: they would be lost."""
    if not (release / MANIFEST_NAME).is_file():
        return
    shards = {shard["path"] for shard in read_manifest(release).content["shards"]}
    found = {path.relative_to(release).as_posix() for path in release.rglob("*") if not path.is_dir()}
    foreign = sorted(found - shards - {"README.md", CROISSANT_NAME, MANIFEST_NAME})
    if foreign:
        raise ReleaseError(
            "the release's folder holds a file that is no part of it",
            where=str(release),
            value=foreign[0],
            remedy="move it away, or name another folder",
        )


class _SplitFiles:
    """The shards of one split; their number is part of their names and known only at the end."""

    def __init__(self, root: Path, config: str, split: str, schema: pa.Schema) -> None:
        self._root, self._config, self._split, self._schema = root, config, split, schema
        self._folder = root / "data" / config
        self._files: list[tuple[Path, int, int]] = []
        self._writer: pq.ParquetWriter | None = None
        self._rows = self._arrow_bytes = 0

    def write(self, row_group: pa.Table) -> None:
        if self._writer is not None and self._arrow_bytes + row_group.nbytes > SHARD_BYTES:
            self._end_file()
        if self._writer is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._writer = _parquet_writer(self._unnumbered(len(self._files)), self._schema)
        self._writer.write_table(row_group, row_group_size=row_group.num_rows)
        self._rows += row_group.num_rows
        self._arrow_bytes += row_group.nbytes

    def close(self) -> list[Shard]:
        self._end_file()
        shards = []
        for index, (path, rows, arrow_bytes) in enumerate(self._files):
            name = shard_path(self._config, self._split, index, len(self._files))
            os.rename(path, self._root / name)
            shards.append(
                Shard(
                    path=name,
                    config=self._config,
                    split=self._split,
                    rows=rows,
                    size_bytes=(self._root / name).stat().st_size,
                    arrow_bytes=arrow_bytes,
                    sha256=file_sha256(self._root / name),
                )
            )
        return shards

    def _end_file(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._files.append((self._unnumbered(len(self._files)), self._rows, self._arrow_bytes))
            self._writer, self._rows, self._arrow_bytes = None, 0, 0

    def _unnumbered(self, index: int) -> Path:
        return self._folder / f"{self._split}-{index:05d}.parquet"


def write_sample(release: Path, package_dir: Path) -> None:
    """Install a built release as `sample/` of a Python package, its card as the package's README.md.

    `datasets` reads the card there, so the package's name loads from the folder around it. Build
    the release with the annotated config as its default. Raises: UsageError, ReleaseError, StorageError.
    """
    if not (package_dir / "__init__.py").is_file():
        raise UsageError("no Python package here", where=str(package_dir), remedy="name a folder with an __init__.py")
    manifest = read_manifest(release)
    target = package_dir / "sample"
    with ReplacedFolder(target) as folder, refused_writes(target):
        for name in (*(shard["path"] for shard in manifest.content["shards"]), CROISSANT_NAME, MANIFEST_NAME):
            (folder.new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(release / name, folder.new / name)
        folder.commit()
        card, data_prefix = card_place(target)
        aside = card.with_name(card.name + ".partial")
        aside.write_text(render_card(manifest, data_prefix=data_prefix), encoding="utf-8")
        os.replace(aside, card)


def iter_batches(
    release: Path,
    config: str,
    split: str | None = None,
    columns: Sequence[str] | None = None,
    batch_size: int = BATCH_ROWS,
) -> Iterator[pa.RecordBatch]:
    """Read a split (or an alias; all splits for None) as record batches of at most `batch_size` rows.

    Batches follow the order of the shards and have the columns asked for, in that order.
    Raises: UnknownNameError for a config, split or column; ReleaseError for a bad shard.
    """
    schema = schema_of(config)
    names = list(schema.names if columns is None else columns)
    for shard in read_manifest(release).select(config, split):
        for name in names:
            if name not in schema.names:
                raise UnknownNameError("column", name, schema.names)
        yield from _read_shard(release / shard["path"], schema, names, batch_size)


def read_table(release: Path, config: str, split: str | None = None, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a split (or an alias; all splits for None) into one table. Raises: as `iter_batches`."""
    schema = schema_of(config)
    batches = list(iter_batches(release, config, split, columns))
    names = schema.names if columns is None else columns
    return pa.Table.from_batches(batches, pa.schema([schema.field(name) for name in names]))


def file_sha256(path: Path) -> str:
    """Hash a file's bytes; 64 hexadecimal digits."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _read_shard(path: Path, schema: pa.Schema, names: list[str], batch_size: int) -> Iterator[pa.RecordBatch]:
    remedy = "run `honestybench verify` on the release, then build or fetch it again"
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(schema):
                raise ReleaseError("the shard has other columns than its config", where=str(path), remedy=remedy)
            yield from file.iter_batches(batch_size, columns=names)
    except FileNotFoundError as error:
        raise ReleaseError("the shard is missing", where=str(path), remedy=remedy) from error
    except UNREADABLE as error:
        raise ReleaseError(f"the shard cannot be read: {error}", where=str(path), remedy=remedy) from error


def _parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    nested = {field.name for field in schema if pa.types.is_nested(field.type)}
    paths = {name: f"{name}.list.element" if name in nested else name for name in schema.names}
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=3,
        write_page_index=True,
        use_content_defined_chunking=True,
        use_dictionary=[leaf for name, leaf in paths.items() if name not in SPLIT_COLUMNS],
        use_byte_stream_split=[leaf for name, leaf in paths.items() if name in SPLIT_COLUMNS],
    )


def _in_order(rows: Iterable[Row], split: str) -> Iterator[Row]:
    """Pass the rows on, checking that each belongs to the split and follows the one before."""
    last = ("", "")
    for row in rows:
        key = (str(row.get("source")), str(row.get("id")))
        if row.get("split") != split:
            raise DataError(f"the row is not of split {split!r}", where=key[1], value=row.get("split"))
        if key == last:
            raise DataError("two rows share an id", where=key[1])
        if key < last:
            raise DataError(f"rows must be sorted by source, then id; this one follows {last[1]!r}", where=key[1])
        last = key
        yield row


def _row_groups(rows: Iterator[Row], schema: pa.Schema) -> Iterator[pa.Table]:
    """Gather rows into tables of about ROW_GROUP_BYTES that never hold two sources.

    Borders at sources keep a reader's source filter cheap, and stay put when another source grows.
    """
    for _, of_source in groupby(rows, key=lambda row: row["source"]):
        batches: list[pa.RecordBatch] = []
        while chunk := list(islice(of_source, BATCH_ROWS)):
            batches.append(_to_batch(chunk, schema))
            if sum(batch.nbytes for batch in batches) >= ROW_GROUP_BYTES:
                yield pa.Table.from_batches(batches)
                batches = []
        if batches:
            yield pa.Table.from_batches(batches)


def _to_batch(rows: list[Row], schema: pa.Schema) -> pa.RecordBatch:
    """Convert rows; when one does not fit, name it. Raises: DataError."""
    names = set(schema.names)
    for row in rows:
        if row.keys() != names:
            odd = sorted(row.keys() ^ names)
            raise DataError("the row has other columns than the schema", where=str(row["id"]), value=odd)
    try:
        batch = pa.RecordBatch.from_pylist(rows, schema=schema)
        nulls = unexpected_nulls(batch)
        fault = f"null in {', '.join(nulls)}" if nulls else None
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        fault = str(error)
    if fault is None:
        return batch
    if len(rows) > 1:
        for row in rows:
            _to_batch([row], schema)
    raise DataError(f"the row does not fit the schema: {fault}", where=str(rows[0]["id"]))
