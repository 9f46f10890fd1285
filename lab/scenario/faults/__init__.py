"""The shelf of faults: one kind in each file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app import plugins
from lab.errors import BadInput, choose_from
from lab.scenario.fault import DECLARED, FAILPOINTS, Fault
from lab.scenario.toml_types import EXPECTED, check_parameters, check_type


def faults() -> dict[str, Any]:
    """Return the classes of all faults, by the names of their files. Raises TypeError for a class that declares too little."""
    shelf = {name: file.Fault for name, file in plugins.files(__name__).items()}
    for name, kind in shelf.items():
        if missing := [attribute for attribute in DECLARED if not hasattr(kind, attribute)]:
            raise TypeError(f"the class Fault of the fault {name} must declare {', '.join(missing)}: see lab/scenario/fault.py")
    return shelf


def parse(table: Mapping[str, Any], where: str) -> Fault:
    """Read a fault from its TOML table: ``kind``, and the fields of that kind. Raises BadInput."""
    shelf = faults()
    fields = dict(table)
    if "kind" not in fields:
        raise BadInput(f"{where}: a fault needs the key 'kind'. The choices: {', '.join(shelf)}.")
    check_type("kind", fields["kind"], EXPECTED[str], f"{where}: faults")
    kind = choose_from("fault", fields.pop("kind"), shelf, where)
    known = [field.name for field in dataclasses.fields(shelf[kind])]
    for key in fields:
        choose_from("key", key, known, where, owner=f"the fault {kind}")
    for field in dataclasses.fields(shelf[kind]):
        if field.default is dataclasses.MISSING and field.name not in fields:
            raise BadInput(f"{where}: the fault {kind} needs the key {field.name!r}")
    check_parameters(fields, shelf[kind], f"{where}: the fault {kind}")
    fault: Fault = shelf[kind](**{key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()})
    choose_from("failpoint", fault.at, FAILPOINTS, f"{where}: the fault {kind}")
    return fault
