"""Read raw source files into checked records; every fault names file, record, field, value and remedy."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from honestybench.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One raw record and its place: `number` counts from 1; `prefix` is the path to a nested record."""

    file: Path
    number: int
    fields: Mapping[str, object]
    prefix: str = ""

    def text(self, name: str) -> str:
        """Return a field that must be text. Raises SourceError."""
        value = self._required(name, "text")
        if not isinstance(value, str):
            raise self.fault(name, value, "must be text")
        return self._whole_text(name, value)

    def optional_text(self, name: str) -> str | None:
        """Return a text field, None where it is absent or null. Raises SourceError."""
        return None if self.fields.get(name) is None else self.text(name)

    def integer(self, name: str) -> int:
        """Return a field that must be a whole number, as JSON or as its digits. Raises SourceError."""
        value = self._required(name, "a whole number")
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**63:
            raise self.fault(name, value, "must be a whole number of at most 64 bits")
        return value

    def optional_integer(self, name: str) -> int | None:
        """Return a whole number, None where the field is absent or null. Raises SourceError."""
        return None if self.fields.get(name) is None else self.integer(name)

    def texts(self, name: str) -> list[str]:
        """Return a field that must be a list of texts. Raises SourceError."""
        value = self._required(name, "a list of texts")
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self.fault(name, value, "must be a list of texts")
        return [self._whole_text(name, entry) for entry in value]

    def _whole_text(self, name: str, text: str) -> str:
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise self.fault(name, text, "holds half of a surrogate pair, which is no text")
        return text

    def child(self, name: str) -> "Record":
        """Return a field that must be a nested record. Raises SourceError."""
        return self._nested(name, self._required(name, "a record"))

    def children(self, name: str) -> list["Record"]:
        """Return a field that must be a list of nested records. Raises SourceError."""
        value = self._required(name, "a list of records")
        if not isinstance(value, list):
            raise self.fault(name, value, "must be a list of records")
        return [self._nested(f"{name}[{index}]", entry) for index, entry in enumerate(value)]

    def fault(self, name: str, value: object, what: str) -> SourceError:
        """Describe a field that does not hold what it must."""
        shown = value if value is None or len(repr(value)) <= 200 else repr(value)[:200] + "…"
        return SourceError(
            f"field {self.prefix + name!r} {what}",
            where=f"{self.file}, record {self.number}",
            value=shown,
            remedy="fetch the file again from its source, or correct this record",
        )

    def _required(self, name: str, kind: str) -> object:
        if name not in self.fields:
            raise self.fault(name, None, f"is missing; it must be {kind}")
        return self.fields[name]

    def _nested(self, name: str, value: object) -> "Record":
        if not isinstance(value, dict):
            raise self.fault(name, value, "must be a record")
        return Record(file=self.file, number=self.number, fields=value, prefix=f"{self.prefix}{name}.")


def read_json_lines(path: Path) -> Iterator[Record]:
    """Yield one record a line. Raises SourceError, also for a blank line."""
    for number, line in enumerate(_lines(path), start=1):
        yield _as_record(path, number, _decoded(line, f"{path}, record {number}"))


def read_json_array(path: Path) -> Iterator[Record]:
    """Yield the records of a file that holds one JSON list. Raises SourceError."""
    value = _whole(path)
    if not isinstance(value, list):
        raise _not_the_layout(path, "must hold one JSON list", type(value).__name__)
    for number, entry in enumerate(value, start=1):
        yield _as_record(path, number, entry)


def read_json_object(path: Path) -> Record:
    """Return the one JSON object that a file holds. Raises SourceError."""
    value = _whole(path)
    if not isinstance(value, dict):
        raise _not_the_layout(path, "must hold one JSON object", type(value).__name__)
    return _as_record(path, 1, value)


def read_table(path: Path, columns: Iterable[str] | None, *, delimiter: str) -> Iterator[Record]:
    """Yield the rows of a delimited file; its first row names the columns when `columns` is None.

    Raises SourceError when a row has another number of cells.
    """
    rows = csv.reader(_lines(path), delimiter=delimiter)
    names = list(columns) if columns is not None else next(rows, [])
    try:
        for number, row in enumerate(rows, start=1):
            record = Record(file=path, number=number, fields=dict(zip(names, row, strict=False)))
            if len(row) != len(names):
                raise record.fault("*", row, f"has {len(row)} cells where {len(names)} belong")
            yield record
    except csv.Error as error:
        raise _not_the_layout(path, f"must be a delimited table ({error})", f"line {rows.line_num}") from error


def read_parquet(path: Path, columns: Iterable[str]) -> Iterator[Record]:
    """Yield the rows of a Parquet file, with these columns only, a batch in memory at a time. Raises SourceError."""
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=list(columns)):
                for fields in batch.to_pylist():
                    number += 1
                    yield Record(file=path, number=number, fields=fields)
    except (pa.ArrowException, OSError) as error:
        raise _not_the_layout(path, f"must be a Parquet file ({error})", f"row {number + 1}") from error


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file with their ends. Raises SourceError."""
    try:
        # Only "\n" ends a line: a JSON string may hold U+2028, a CSV cell "\r\n".
        with path.open(encoding="utf-8", newline="\n") as file:
            yield from file
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        remedy = "put the source's original file there"
        raise SourceError("the file does not exist", where=str(path), remedy=remedy) from error
    except UnicodeDecodeError as error:
        raise _not_the_layout(path, "must be UTF-8", error.object[error.start : error.end]) from error


def _not_the_layout(path: Path, what: str, value: object) -> SourceError:
    return SourceError(what, where=str(path), value=value, remedy="fetch the file again from its source")


def _whole(path: Path) -> object:
    return _decoded("".join(_lines(path)), str(path))


def _decoded(text: str, where: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SourceError(
            f"not JSON: {error.msg} at character {error.pos}",
            where=where,
            value=text[max(0, error.pos - 20) : error.pos + 20],
            remedy="fetch the file again from its source, or correct this record",
        ) from error
    except (ValueError, RecursionError) as error:
        what = "JSON that nests too deeply, or holds a number of thousands of digits"
        raise SourceError(what, where=where, remedy="fetch the file again from its source") from error


def _as_record(path: Path, number: int, value: object) -> Record:
    if not isinstance(value, dict):
        raise SourceError(
            "must be a JSON object",
            where=f"{path}, record {number}",
            value=type(value).__name__,
            remedy="fetch the file again from its source, or correct this record",
        )
    return Record(file=path, number=number, fields=value)
