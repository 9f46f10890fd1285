"""List the faults: one kind in each file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import fields

from app.shelf import plugins
from lab.errors import BadInput, choose_from
from lab.scenario.fault import FAILPOINTS, Fault
from lab.scenario.toml_types import Text, converted


def faults() -> dict[str, Any]:
    """Return the classes of all faults, by the names of their files."""
    return {name: file.Fault for name, file in plugins.files(__name__).items()}


def parse(table: Mapping[str, Any], where: str) -> Fault:
    """Read a fault from its TOML table: ``kind``, and the fields of that kind. Raises BadInput."""
    shelf = faults()
    if "kind" not in table:
        raise BadInput(f"{where}: a fault needs the key 'kind'. The choices: {', '.join(shelf)}.")
    converted({"kind": table["kind"]}, Fault, f"{where}: faults", kind=Text)
    kind = choose_from("fault", table["kind"], shelf, where)
    given = {key: value for key, value in table.items() if key != "kind"}
    known = {field.name: field for field in fields(shelf[kind])}
    for key in given:
        choose_from("key", key, sorted(known), where, owner=f"the fault {kind}")
    if missing := [key for key, field in known.items() if field.required and key not in given]:
        raise BadInput(f"{where}: the fault {kind} needs the key {missing[0]!r}")
    fault: Fault = shelf[kind](**converted(given, shelf[kind], f"{where}: the fault {kind}"))
    choose_from("failpoint", fault.at, FAILPOINTS, f"{where}: the fault {kind}")
    return fault
