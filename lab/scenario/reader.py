"""Read a scenario: a TOML file becomes one checked record. An error names the file, the key and the valid choices."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_args

from app.lock import Claim
from app.locks import A_NAME
from app.settings import Nesting
from lab.errors import BadInput, choose_from
from lab.paths import SCENARIOS, shown
from lab.scenario.faults import parse as parse_fault
from lab.scenario.options import OPTIONS
from lab.scenario.requirements import MEASURES, NEEDS
from lab.scenario.scenario import SYNCS, Scenario, contradictions
from lab.scenario.toml_types import Duration, Tables, Text, converted

IN_CHINESE = ("title_zh", "name_zh")  # keys that lab/story/say.py reads: the title, and the name in a picture
ENDING = ".toml"  # a name with this ending is the path of a file, and not a scenario of the lab


def names() -> list[str]:
    """Return the names of all scenarios."""
    return sorted(path.stem for path in SCENARIOS.glob("*.toml"))


def load(name: str) -> Scenario:
    """Read a scenario by its name, or by the path of a file like the lab's files (``./own.toml``).

    Raises BadInput, which names the file, the key and the valid choices.
    """
    if name.endswith(ENDING):
        return _load_file(Path(name))
    path = SCENARIOS / f"{name}.toml"
    if not A_NAME.fullmatch(name) or not path.exists():
        choose_from("scenario", name, names())
    return _of_the_lab(path, path.stat().st_mtime_ns)


@cache
def _of_the_lab(path: Path, _changed_ns: int) -> Scenario:
    """Read a scenario of the lab, again only if its file has changed: a matrix reads it many times."""
    where = f"scenarios/{path.name}"
    return parse(path.stem, _table(path, where), where)


def _load_file(path: Path) -> Scenario:
    """Read a scenario from any path. Its name is the file's name, which must not be a name of the lab's scenarios."""
    if not path.exists():
        raise BadInput(
            f"there is no file {str(path)!r}. Give the name of a scenario, or the path of its file. "
            "`lab list scenarios` lists the names."
        )
    where = str(shown(path))
    if not A_NAME.fullmatch(path.stem):
        raise BadInput(f"{where}: the file's name is the name of the scenario; use at most 64 letters, digits, _ and - in it")
    if path.stem in names() and path.resolve() != (SCENARIOS / path.name).resolve():
        raise BadInput(f"{where}: the lab has a scenario {path.stem!r} of its own; give the file another name")
    scenario = parse(path.stem, _table(path, where), where)
    if not scenario.danger:
        raise BadInput(f"{where}: [danger] is missing or empty: without it, a run in which nothing happened would pass")
    return scenario


def _table(path: Path, where: str) -> dict[str, Any]:
    """Return the content of a TOML file. Raises BadInput, with the line at which the file is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{where}: a scenario is a text file that can be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: the text must be UTF-8, and the byte {error.start} is not") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{where}: {error}") from None


def parse(name: str, table: Mapping[str, Any], where: str) -> Scenario:
    """Return the checked record of a scenario's table. Raises BadInput."""
    known = {spec.name for spec in dataclasses.fields(Scenario)} - {"name", "notes", "run_time", "own_load"}
    for key in table:
        choose_from("key", key, sorted({*known, *IN_CHINESE}), where)
    table = {key: value for key, value in table.items() if key not in IN_CHINESE}
    for key in ("title", "tests"):
        if key not in table:
            raise BadInput(f"{where}: the key {key!r} is missing; every scenario has it")
    for option in OPTIONS.values():  # before the types: no file can hold None, which the types of some options allow
        if option.name in table and (refusal := option.refusal(table[option.name])):
            raise BadInput(f"{where}: {refusal}")
    others = {key: value for key, value in table.items() if key not in OPTIONS}
    fields = dict(table) | converted(others, Scenario, where, tests=Text, faults=Tables, lease_ms=Duration)
    for key, (kind, choices) in _choices().items():
        named = fields.get(key, ())
        for one in [named] if isinstance(named, str) else named:
            choose_from(kind, one, choices, f"{where}: {key}")
    fields["tests"] = Claim[fields["tests"]]
    fields["faults"] = tuple(parse_fault(fault, where) for fault in fields.get("faults", ()))
    scenario = Scenario(name=name, **fields)
    for sentence in contradictions(scenario, table.keys()):
        raise BadInput(f"{where}: {sentence}")
    return scenario


def _choices() -> dict[str, tuple[str, Iterable[str]]]:
    """Return, by each key whose values are names, the kind of the names and the valid names."""
    return {
        "tests": ("claim", Claim.__members__),
        "cures": ("scenario", ["", *names()]),
        "store_syncs": ("time to sync", SYNCS),
        "nested": ("way of nesting", get_args(Nesting)),
        "needs": ("need", NEEDS),
        "may_break": ("claim", Claim.__members__),
        "danger": ("measure", MEASURES),
    }
