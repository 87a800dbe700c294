"""Compare JSON that was read from a file with the TypedDict that says what it must be."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

from honestybench.records import canonical_json

LARGEST_INTEGER = 2**53


def read_strict_json(path: Path) -> object:
    """Read a file as JSON that could be written again: no NaN, no infinity, no half of a surrogate pair.

    Raises: OSError, ValueError, RecursionError.
    """
    value: object = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    canonical_json(value).encode()
    return value


def shape_faults(value: object, hint: Any, where: str) -> Iterator[str]:
    """Compare a JSON value with a type: TypedDict, dict, list, Literal, union or a plain class.

    A whole number passes for a float, true and false for no number, and no whole number beyond ±2**53, which few
    readers of JSON hold exactly; keys that no TypedDict names are left alone.
    """
    origin = get_origin(hint)
    if origin is UnionType:
        yield from _union_faults(value, hint, where)
    elif is_typeddict(hint) or hint is dict or origin is dict:
        yield from _object_faults(value, hint, where)
    elif origin is list:
        if not isinstance(value, list):
            yield f"{where} must be a list"
        else:
            for index, element in enumerate(value):
                yield from shape_faults(element, get_args(hint)[0], f"{where}[{index}]")
    elif origin is Literal:
        if value not in get_args(hint):
            yield f"{where} must be {' or '.join(map(repr, get_args(hint)))}, not {value!r:.80}"
    elif isinstance(hint, type):
        yield from _class_faults(value, (hint,), where)


def _object_faults(value: object, hint: Any, where: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{where} must be an object"
    elif is_typeddict(hint):
        for key, inner in get_type_hints(hint).items():
            if key in value:
                yield from shape_faults(value[key], inner, f"{where}.{key}")
            elif key in hint.__required_keys__:
                yield f"{where}.{key} is missing"
    else:
        for key, inner_value in value.items():
            yield from shape_faults(inner_value, get_args(hint)[1], f"{where}.{key}")


def _union_faults(value: object, hint: Any, where: str) -> Iterator[str]:
    """A union is of plain classes, or of null and one type of any kind."""
    members = get_args(hint)
    nested = [each for each in members if is_typeddict(each) or get_origin(each) is not None]
    if not nested:
        yield from _class_faults(value, members, where)
    elif value is not None or NoneType not in members:
        yield from shape_faults(value, nested[0], where)


def _class_faults(value: object, classes: tuple[Any, ...], where: str) -> Iterator[str]:
    accepted = (*classes, int) if float in classes else classes
    if not isinstance(value, accepted) or (isinstance(value, bool) and not {bool, object} & set(classes)):
        names = " or ".join("null" if each is NoneType else each.__name__ for each in classes)
        yield f"{where} must be {names}, not {value!r:.80}"
    elif isinstance(value, int) and object not in classes and abs(value) > LARGEST_INTEGER:
        yield f"{where} is beyond ±2**53"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
