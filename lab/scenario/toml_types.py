"""Define the types of the keys of TOML files. msgspec checks a value against its type; messages show the type's description."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec
from msgspec import Meta

from lab.errors import BadInput
from lab.scenario.options import LONGEST_MS, MOST, shown
from lab.text import thousands

MOST_SERVERS = 9  # in an ensemble: more servers only vote more slowly


def _whole(least: int, most: int, top: str = "") -> Meta:
    return Meta(ge=least, le=most, description=f"a whole number, at least {least}, at most {top or format(most, ',')}")


Text = Annotated[str, Meta(description="a text in quotes")]
Line = Annotated[str, Meta(description="one line of text in quotes")]  # ``scenario.py`` checks its characters
Switch = Annotated[bool, Meta(description="true or false")]
Number = Annotated[int, _whole(0, MOST)]
Factor = Annotated[int, _whole(1, MOST)]
Servers = Annotated[int, _whole(1, MOST_SERVERS)]
Time = Annotated[int, _whole(0, LONGEST_MS, f"{thousands(LONGEST_MS)} (a day)")]
Duration = Annotated[int, _whole(1, LONGEST_MS, f"{thousands(LONGEST_MS)} (a day)")]
Texts = Annotated[tuple[str, ...], Meta(description="a list of texts in quotes")]
Nodes = Annotated[tuple[Factor, ...], Meta(description="a list of whole numbers, each at least 1")]
SomeNodes = Annotated[
    tuple[Factor, ...], Meta(min_length=1, description="a list of whole numbers, at least one, each at least 1")
]
Counts = Annotated[dict[str, Factor], Meta(description="a table of whole numbers, each at least 1")]
Tables = Annotated[tuple[dict[str, Any], ...], Meta(description="a list of tables")]
Record = TypeVar("Record", bound=msgspec.Struct)


@cache
def _types(record: Any) -> dict[str, Any]:
    return get_type_hints(record, include_extras=True)


def converted(table: Mapping[str, Any], record: Any, where: str, **others: Any) -> dict[str, Any]:
    """Return a table with its values converted to the types of the record. Raises BadInput with the key, its type and its value.

    others: the types of keys whose TOML type differs from the record's.
    """
    types = _types(record) | others
    made = {}
    for key, value in table.items():
        try:
            made[key] = msgspec.convert(value, types[key])
        except msgspec.ValidationError:
            words = next(meta.description for meta in types[key].__metadata__)
            raise BadInput(f"{where}: {key} must be {words}, not {shown(value)}") from None
    return made


def entry_of(file: str, entry: Mapping[str, Any], record: type[Record]) -> Record:
    """Return an entry of a list in the documents as a record. Raises BadInput with the file and the entry."""
    try:
        return msgspec.convert(entry, record)
    except msgspec.ValidationError as error:
        raise BadInput(f"{file}: {entry}: {error}") from None
