"""The types of the keys of a scenario file, in words: a value of another type is refused with what is expected."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

from lab.errors import BadInput

LONGEST_MS = 86_400_000  # a day: a longer time is a slip of the keyboard
MOST = 1_000_000_000  # of any other number
SHOWN = 60  # characters of a refused value
DAY = f"{LONGEST_MS:,} (a day)"


def shown(value: object) -> str:
    """Return a value as a message shows it: in one line, and not longer than can be read."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 2]} …"


def _number(least: int, most: int = MOST) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, (list, tuple)) and all(map(fits, value))


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _line(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and bool(value.strip())


Expected = tuple[str, Callable[[Any], bool]]  # what a key must be, in words, and whether a value is that

# By the type of a record's field.
EXPECTED: dict[Any, Expected] = {
    str: ("a text in quotes", _text),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    int: (f"a whole number, at least 0, at most {MOST:,}", _number(0)),
    int | None: (f"a whole number, at least 0, at most {MOST:,}", _number(0)),
    float: ("a number", lambda value: type(value) in (int, float) and math.isfinite(value)),
    tuple[int, ...]: ("a list of whole numbers, each at least 1", _list_of(_number(1))),
    tuple[str, ...]: ("a list of texts in quotes", _list_of(_text)),
    dict[str, int]: (
        "a table of whole numbers, each at least 1",
        lambda value: isinstance(value, dict) and all(map(_number(1), value.values())),
    ),
}
TABLES: Expected = ("a list of tables", _list_of(lambda value: isinstance(value, dict)))
LINE: Expected = ("one line of text in quotes", _line)


def check_types(table: Mapping[str, Any], record: type, where: str) -> None:
    """Check the types of the keys of a table that are fields of the record. Raises BadInput with the key and what it must be.

    A field of a type without words here is checked elsewhere.
    """
    hints = get_type_hints(record)
    for field in dataclasses.fields(record):
        if field.name in table and hints[field.name] in EXPECTED:
            check_type(field.name, table[field.name], EXPECTED[hints[field.name]], where)


def check_parameters(table: Mapping[str, Any], record: type, where: str) -> None:
    """Check the keys of a table by the types, the names and the defaults of the record's fields. Raises BadInput.

    A number or a list may be zero or empty only where its default is: a freeze of 0 ms, or a kill of no server, is no fault.
    A field in milliseconds is at most a day. A list names each server once.
    """
    hints = get_type_hints(record)
    for field in dataclasses.fields(record):
        if field.name not in table:
            continue
        value, hint, zero = table[field.name], hints[field.name], field.default in (0, ())
        expected = EXPECTED[hint]
        if hint is int:
            least, most, top = (0 if zero else 1), MOST, f"{MOST:,}"
            if field.name.endswith("_ms"):
                most, top = LONGEST_MS, DAY
            expected = (f"a whole number, at least {least}, at most {top}", _number(least, most))
        check_type(field.name, value, expected, where)
        if isinstance(value, list):
            check_type(
                field.name, value, ("a list that names each server once", lambda found: len(set(found)) == len(found)), where
            )
            if not zero:
                check_type(field.name, value, ("a list of at least one number", bool), where)


def check_type(key: str, value: Any, expected: Expected, where: str) -> None:
    """Check one value. Raises BadInput."""
    words, fits = expected
    if not fits(value):
        raise BadInput(f"{where}: {key} must be {words}, not {shown(value)}")
