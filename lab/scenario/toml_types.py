"""The types of the keys of a scenario file, in words: a value of another type is refused with what is expected."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from lab.errors import BadInput


def _number(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= least


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, (list, tuple)) and all(map(fits, value))


def _text(value: Any) -> bool:
    return isinstance(value, str)


# By the type of a record's field: what the key must be, and whether a value is that.
EXPECTED: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    str: ("a text in quotes", _text),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    int: ("a whole number, at least 0", _number(0)),
    int | None: ("a whole number, at least 0", _number(0)),
    tuple[int, ...]: ("a list of whole numbers, each at least 1", _list_of(_number(1))),
    tuple[str, ...]: ("a list of texts in quotes", _list_of(_text)),
    dict[str, int]: (
        "a table of whole numbers, each at least 0",
        lambda value: isinstance(value, dict) and all(map(_number(0), value.values())),
    ),
}
TABLES = ("a list of tables", _list_of(lambda value: isinstance(value, dict)))


def check_types(table: Mapping[str, Any], record: type, where: str) -> None:
    """Check the types of the keys of a table that are fields of the record. Raises BadInput with the key and what it must be.

    A field of a type without words here is checked elsewhere.
    """
    hints = get_type_hints(record)
    for field in dataclasses.fields(record):
        if field.name in table and hints[field.name] in EXPECTED:
            check_type(field.name, table[field.name], EXPECTED[hints[field.name]], where)


def check_type(key: str, value: Any, expected: tuple[str, Callable[[Any], bool]], where: str) -> None:
    """Check one value. Raises BadInput."""
    words, fits = expected
    if not fits(value):
        raise BadInput(f"{where}: {key} must be {words}, not {value!r}")
