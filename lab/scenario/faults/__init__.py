"""The shelf of faults, one a file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app import plugins
from lab.errors import BadInput, choose_from
from lab.scenario.fault import GATES, Fault


def faults() -> dict[str, Any]:
    """The harms, by file name."""
    return {name: file.Harm for name, file in plugins.files(__name__).items()}


def parse(table: Mapping[str, Any], where: str) -> Fault:
    """A fault from its TOML table: ``kind``, and the fields of that kind. Raises BadInput."""
    shelf = faults()
    fields = dict(table)
    kind = choose_from("fault", str(fields.pop("kind", "")), shelf, where)
    known = [field.name for field in dataclasses.fields(shelf[kind])]
    for key in fields:
        choose_from(f"key of {kind}", key, known, where)
    try:
        fault: Fault = shelf[kind](**fields)
    except TypeError as error:
        raise BadInput(f"{where}: fault {kind}: {error}") from None
    choose_from("gate", fault.at, GATES, where)
    return fault
