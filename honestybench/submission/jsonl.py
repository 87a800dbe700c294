"""Read JSON Lines strictly, as a stream of bytes: every line becomes an object or a fault, and memory stays bounded.

Python's json module lets through what JSON forbids (NaN, a key twice) and `str.splitlines` cuts at characters that
JSON allows inside strings; a lenient reader would score another file than the one submitted.
"""

import gzip
import io
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from honestybench.errors import SubmissionError
from honestybench.submission.faults import Fault, shown

Row = dict[str, object]
Line = tuple[int, bytes]

CHUNK_BYTES = 1 << 18
BLANK = b" \t\r\n"
"""The white space of JSON; `bytes.strip()` would take more."""

UTF8_BOM = b"\xef\xbb\xbf"
UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{", b"[\0", b"\0[")
MAX_DIGITS = 400
"""Longer integers are beyond a double, and Python refuses to convert those of over 4300 digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a file may take: bytes of a line, bytes in all (unpacked), and levels of nesting on a line."""

    line_bytes: int = 1 << 20
    total_bytes: int = 1 << 30
    depth: int = 100


LIMITS = Limits()


class _TooLarge(Exception):
    """More bytes than allowed; the line that holds the first of them."""

    def __init__(self, line: int) -> None:
        self.line = line


def read_objects(path: Path, limits: Limits = LIMITS) -> Iterator[tuple[int, Row] | Fault]:
    """Yield each line that is not blank as (line number from 1, object), or the fault it has, in file order.

    The file may be gzip, recognised by its first bytes. A file that cannot be read on ends with its fault
    (BAD_GZIP, TOO_LARGE, NOT_JSONL, NOT_UTF8 for UTF-16). Raises: as `open_file`.
    """
    with open_file(path) as file:
        try:
            yield from _read(file, limits)
        except _TooLarge as error:
            message = f"the file has over {limits.total_bytes} bytes, unpacked; keep only id and confidence"
            yield Fault(code="TOO_LARGE", line=error.line, message=message)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            yield Fault(
                code="BAD_GZIP", message=f"the gzip data is truncated or corrupt ({error}); pack the file again"
            )


def open_file(path: Path) -> io.BufferedReader:
    """Open a file to read its bytes, now and once more for its digest.

    Raises: SubmissionError for a pipe or a device, which gives its bytes once, or never; OSError.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        remedy = "save it as a file and name that"
        raise SubmissionError("a pipe or a device cannot be read here", where=str(path), remedy=remedy)
    return path.open("rb")


def _read(file: io.BufferedReader, limits: Limits) -> Iterator[tuple[int, Row] | Fault]:
    chunks = _chunks(file)
    head = next(chunks, b"")
    if head.startswith(UTF16_STARTS):
        yield Fault(code="NOT_UTF8", line=1, message="the file is UTF-16; save it as UTF-8")
        return
    if head.startswith(UTF8_BOM):
        yield Fault(code="BOM", line=1, message="UTF-8 byte-order mark ignored; save without one")
    lines = _split(chain([head], chunks), limits, skip=len(UTF8_BOM) if head.startswith(UTF8_BOM) else 0)
    records = (line for line in lines if line[1].strip(BLANK))
    start = [line for line in (next(records, None), next(records, None)) if line]
    parser = _Parser(limits)
    if start and (what := parser.spread(start)):
        yield Fault(code="NOT_JSONL", line=start[0][0], message=f"{what}; write one object per line")
        return
    for number, line in chain(start, records):
        yield parser.parse(number, line)


def _chunks(file: io.BufferedReader) -> Iterator[bytes]:
    """Read piece by piece, unpacking gzip of one or more members."""
    packed = file.peek(2)[:2] == b"\x1f\x8b"
    stream = gzip.GzipFile(fileobj=file) if packed else file
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def _split(chunks: Iterable[bytes], limits: Limits, *, skip: int) -> Iterator[Line]:
    """Split at 0x0A only, and number the lines; one that is too long may come cut, but not below the limit."""
    cut = limits.line_bytes + 1
    number, total, rest = 0, 0, b""
    for chunk in chunks:
        if total + len(chunk) > limits.total_bytes:
            raise _TooLarge(number + 1 + chunk[: limits.total_bytes - total].count(b"\n"))
        first, *others = (chunk if total else chunk[skip:]).split(b"\n")
        total += len(chunk)
        if len(rest) < cut:
            rest = (rest + first)[:cut]
        for following in others:
            number += 1
            yield number, rest
            rest = following
    if rest:
        yield number + 1, rest


class _Parser:
    """A JSON parser that notes what the json module lets pass."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._notes: dict[str, str] = {}
        decoder = json.JSONDecoder(object_pairs_hook=self._object, parse_constant=self._note, parse_int=_integer)
        self._decode = decoder.decode

    def parse(self, number: int, line: bytes) -> tuple[int, Row] | Fault:
        """Turn one line into its object, or into its first fault."""
        if len(line) > self._limits.line_bytes:
            message = f"the line has over {self._limits.line_bytes} bytes; keep only id and confidence"
            return Fault(code="LINE_TOO_LONG", line=number, message=message)
        self._notes.clear()
        try:
            text = line.decode()
            value = self._decode(text)
        except UnicodeDecodeError as error:
            return Fault(code="NOT_UTF8", line=number, message=_bad_byte(line, error.start))
        except json.JSONDecodeError as error:
            return Fault(code="BAD_JSON", line=number, message=_bad_json(error))
        except RecursionError:
            return self._too_deep(number)
        if not isinstance(value, dict):
            message = f'the line holds {_kind(value)}; write {{"id": "…", "confidence": 0.5}}'
            return Fault(code="NOT_OBJECT", line=number, message=message)
        if line.count(b"[") + line.count(b"{") > self._limits.depth and _depth(value) > self._limits.depth:
            return self._too_deep(number)
        if self._notes:
            return self._forbidden(number, value)
        return number, value

    def spread(self, start: list[Line]) -> str | None:
        """Say, from its first two lines that are not blank, how the file is JSON but not one object per line."""
        number, line = start[0]
        array = line.lstrip(BLANK).startswith(b"[")
        fault = self.parse(number, line)
        if isinstance(fault, tuple):
            return None
        if fault.code == "NOT_OBJECT" and array:
            values = self._decode(line.decode())
            return None if values and not any(isinstance(value, list | dict) for value in values) else ONE_ARRAY
        if fault.code == "LINE_TOO_LONG" and array:
            return ONE_ARRAY
        if fault.code != "BAD_JSON" or not self._ends_early(line):
            return None
        if array:
            return ONE_ARRAY
        goes_on = len(start) > 1 and not start[1][1].lstrip(BLANK).startswith(b"{")
        return "an object is spread over lines" if goes_on else None

    def _ends_early(self, line: bytes) -> bool:
        text = line.decode().rstrip()
        try:
            self._decode(text)
        except json.JSONDecodeError as error:
            return error.pos >= len(text)
        except RecursionError:
            pass
        return False

    def _too_deep(self, number: int) -> Fault:
        message = f"values are nested deeper than {self._limits.depth} levels; keep only id and confidence"
        return Fault(code="BAD_JSON", line=number, message=message)

    def _forbidden(self, number: int, row: Row) -> Fault:
        found = row.get("id")
        example_id = found if isinstance(found, str) and self._notes.get("repeated") != "id" else None
        if "repeated" in self._notes:
            message = f"the key {shown(self._notes['repeated'])} stands twice in one object; keep one"
            return Fault(code="DUPLICATE_KEY", line=number, id=example_id, message=message)
        key = next((name for name, each in row.items() if each is NOT_JSON), "a value")
        told = key if key in ("confidence", "a value") else shown(key)
        message = (
            f"{told} is {self._notes['constant']}, which JSON does not have; write a number, for confidence in [0, 1]"
        )
        return Fault(code="NOT_JSON_NUMBER", line=number, id=example_id, message=message)

    def _object(self, pairs: list[tuple[str, object]]) -> Row:
        row = dict(pairs)
        if len(row) != len(pairs):
            (repeated, _), *_ = Counter(key for key, _ in pairs).most_common(1)
            self._notes["repeated"] = repeated
        return row

    def _note(self, name: str) -> object:
        self._notes["constant"] = name
        return NOT_JSON


NOT_JSON = object()
"""Stands for NaN or Infinity in a parsed line; such a line is never handed out."""

ONE_ARRAY = "the file is one JSON array"


def _integer(digits: str) -> int:
    """Read an integer; of a very long one the leading digits, which are as far out of any range."""
    return int(digits[:MAX_DIGITS])


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        containers = (
            each.values() if isinstance(each, dict) else each for each in level if isinstance(each, list | dict)
        )
        level = [inner for container in containers for inner in container if isinstance(inner, list | dict)]
    return depth


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    return f"the {'text' if isinstance(value, str) else 'value'} {shown(value)}" if value is not NOT_JSON else "NaN"


def _bad_byte(line: bytes, offset: int) -> str:
    column = len(line[:offset].decode()) + 1
    return f"byte 0x{line[offset]:02X} at column {column} (byte offset {offset}) is not UTF-8; save the file as UTF-8"


def _bad_json(error: json.JSONDecodeError) -> str:
    text, rest = error.doc, error.doc[error.pos :].strip()
    if text.startswith("\ufeff"):
        return "a byte-order mark stands inside the file; join files without their marks"
    if "\0" in text:
        return f"a NUL byte stands at column {text.index(chr(0)) + 1}; write the file again as plain text"
    if "\r" in text.strip():
        return "a carriage return stands inside the line; end lines with LF or CRLF"
    if error.msg == "Extra data":
        repair = "JSON Lines has no commas between lines" if rest.startswith(",") else "write one object per line"
        return f"extra text after the value: {shown(rest)} ({repair})"
    found = f" before {shown(rest)}" if rest else " at the end of the line"
    quotes = "; JSON has double quotes only" if rest.startswith("'") else ""
    return f"not JSON at column {error.pos + 1}: {error.msg}{found}{quotes}"
