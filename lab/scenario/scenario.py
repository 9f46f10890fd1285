"""One situation under which one claim is tested: a TOML file to one checked record."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.lock import Claim, Stage
from lab.errors import BadInput, choose_from
from lab.paths import LOCUSTFILES, SCENARIOS, shown
from lab.scenario.contradictions import contradictions
from lab.scenario.fault import Fault, kind_of
from lab.scenario.faults import parse as parse_fault
from lab.scenario.options import OPTIONS
from lab.scenario.requirements import MEASURES, NEEDS, servers
from lab.scenario.toml_types import EXPECTED, LINE, LONGEST_MS, SHOWN, TABLES, check_type, check_types
from lab.scenario.toml_types import shown as quoted
from lab.text import counted

LONGEST_LOAD_S = 86_400  # from the first to the last request, at a rate
SYNCS = ("always", "everysec", "no")  # before each answer, once a second, when the kernel likes to; Redis's appendfsync
NESTED = ("", "same", "crossed", "ordered")
ENDING = ".toml"  # what ends so is the path of a file, and not the name of a scenario of the lab
A_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")  # it is a part of folders, of keys and of commands
MOST_SERVERS = 9  # of an ensemble: more only vote more slowly


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The fields are the keys of the TOML file. A user can change those in ``options.py`` for one run."""

    name: str = ""  # the name of the file
    title: str
    tests: Claim  # the claim under stress
    load: str = "rush"  # a file of locustfiles/
    cures: str = ""  # a scenario that shows the problem; this one shows the cure, so no stage has to fail here
    needs: tuple[str, ...] = ()  # what a stage must have for the scenario to make sense: names in NEEDS
    danger: dict[str, int] = field(default_factory=dict)  # what must have happened for a pass to count: least value by measure
    faults: tuple[Fault, ...] = ()  # what is broken on purpose, and where
    requests: int = 5000
    users: int = 100
    replicas: int = 3
    processes: int = 1
    ttl_ms: int | None = None  # None: the stage's own
    wait_ms: int = 10_000
    retry_ms: int = 30
    lease_ms: int | None = None  # an explicit lease time; None: the stage's default
    work_ms: int = 0
    stock: int | None = None  # how many items there are to sell; None for a counter that only grows
    # where a request takes two locks: ``same`` for one key twice, ``crossed`` for two keys in either order, ``ordered`` in one
    nested: str = ""
    receipts: bool = False  # whether the work writes twice: the counter, and a receipt
    store_persists: bool = False  # whether the lock's store writes every change to a file
    store_syncs: str = "always"  # when it syncs that file to disk: a name in SYNCS
    store_replica: bool = False  # whether each server of the lock's store has a replica, and a Sentinel that promotes it
    store_second_replica: bool = False  # whether it has two of them; for a store of one primary
    store_clocks: bool = False  # whether the clocks of the lock's store can be shifted
    store_nodes: int = 3  # the number of servers of the lock's store, where it is an ensemble
    nodes_away: tuple[int, ...] = ()  # the servers of the lock's store that are stopped from the beginning, counted from 1
    rate: float | None = None  # arrivals per second; None: users that wait for their answers
    connections: int | None = None  # at a rate: requests on their way at most, the next is late; None: none is late
    seed: int = 1
    notes: tuple[str, ...] = ()  # what the lab changed on the user's behalf, and why

    @property
    def request_timeout_s(self) -> float:
        """Return when a client gives up on an answer: longer than any wait and work can take."""
        return 10 + (self.wait_ms + self.work_ms + (self.ttl_ms or 0)) / 1000

    @property
    def locust_users(self) -> int:
        """Return how many users Locust starts. At a rate without connections, one in each process sends all requests."""
        return (self.connections or self.processes) if self.rate else self.users

    def misfit(self, stage: Stage) -> str | None:
        """Return why this scenario makes no sense for a stage; None if it does."""
        for need in self.needs:
            what, has = NEEDS[need]
            if not has(stage):
                return f"the scenario {self.name} needs {what}; the stage {stage.name} does not have it"
        return self._no_such_server(stage)

    def _no_such_server(self, stage: Stage) -> str | None:
        """Return why a fault does nothing at the servers of the stage's store; None where each does something."""
        number = servers(stage.store, self.store_nodes, self.store_replica)
        for fault in self.faults if number else ():
            nodes = getattr(fault, "nodes", ())
            if nodes and min(nodes) > number:
                has = f"the store of {stage.name} has {counted(number, 'server')}"
                return f"the fault {kind_of(fault)} of the scenario {self.name} acts on server {min(nodes)}, and {has}"
        return None


def names() -> list[str]:
    """Return the names of all scenarios."""
    return sorted(path.stem for path in SCENARIOS.glob("*.toml"))


def load(name: str) -> Scenario:
    """Read a scenario by its name, or by the path of a file like those of the lab (``./own.toml``).

    Raises BadInput, which names the file, the key and the valid choices.
    """
    if name.endswith(ENDING):
        return _load_file(Path(name))
    path = SCENARIOS / f"{choose_from('scenario', name, names())}.toml"
    where = f"scenarios/{path.name}"
    return parse(path.stem, _table(path, where), where)


def _load_file(path: Path) -> Scenario:
    """Read a scenario from anywhere. Its name is that of the file; a scenario of the lab keeps its name for itself."""
    if not path.exists():
        raise BadInput(
            f"there is no file {str(path)!r}. Give the name of a scenario, or the path of its file. "
            f"The scenarios: {', '.join(names())}."
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
    """Return the content of a TOML file. Raises BadInput, with the line where the file is no TOML."""
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe, which could keep the lab waiting for ever
        raise BadInput(f"{where}: a scenario is a text file, and this is none")
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text)
    except OSError as error:
        raise BadInput(f"{where}: a scenario is a text file that can be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: the text must be UTF-8, and the byte {error.start} is not") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{where}: {_syntax_error(text.rstrip(), str(error))}") from None
    except (RecursionError, ValueError) as error:  # lists in lists without end, and numbers of thousands of digits
        raise BadInput(f"{where}: this is no scenario: {error}") from None


def _syntax_error(text: str, message: str) -> str:
    """Return what is wrong with a text that is no TOML, with the line."""
    place = re.search(r"at line (\d+)", message)
    number = int(place[1]) if place else text.count("\n") + 1  # at the end of the text, the message has no line
    line = "".join(text.splitlines()[number - 1 : number]).strip()[:SHOWN]
    if "Cannot overwrite a value" in message:
        return f"the key of line {number} is there twice: {line}"
    return f"{message}: {line}" if place else message


def locustfiles() -> list[str]:
    """Return the names of the load scripts."""
    return sorted(path.stem for path in LOCUSTFILES.glob("[!_]*.py"))


def parse(name: str, table: Mapping[str, Any], where: str) -> Scenario:
    """Return the checked record of a scenario's table. Raises BadInput."""
    known = {spec.name for spec in dataclasses.fields(Scenario)} - {"name", "notes"}
    for key in table:
        choose_from("key", key, sorted(known), where)
    for key in ("title", "tests"):
        if key not in table:
            raise BadInput(f"{where}: the key {key!r} is missing; every scenario has it")
    fields = dict(table)
    _check_keys(table, where)
    fields["tests"] = Claim[choose_from("claim", fields["tests"], [claim.name for claim in Claim], f"{where}: tests")]
    fields["nodes_away"] = tuple(table.get("nodes_away", ()))
    fields["needs"] = tuple(choose_from("need", need, NEEDS, f"{where}: needs") for need in table.get("needs", ()))
    danger = table.get("danger", {})
    fields["danger"] = {choose_from("measure", key, MEASURES, f"{where}: danger"): value for key, value in danger.items()}
    fields["faults"] = tuple(parse_fault(fault, where) for fault in table.get("faults", ()))
    scenario = Scenario(name=name, **fields)
    check_numbers(scenario, where)
    for sentence in contradictions(scenario, table.keys()):
        raise BadInput(f"{where}: {sentence}")
    return scenario


def _check_keys(table: Mapping[str, Any], where: str) -> None:
    """Check the keys of a scenario one by one, but for those in OPTIONS. Raises BadInput."""
    check_type("title", table["title"], LINE, where)
    check_types({key: value for key, value in table.items() if key not in OPTIONS}, Scenario, where)
    check_type("tests", table["tests"], EXPECTED[str], where)
    check_type("faults", table.get("faults", ()), TABLES, where)
    choose_from("locustfile", table.get("load", "rush"), locustfiles(), f"{where}: load")
    choose_from("scenario", table.get("cures", ""), ["", *names()], f"{where}: cures")
    choose_from("time to sync", table.get("store_syncs", "always"), SYNCS, f"{where}: store_syncs")
    choose_from("way of nesting", table.get("nested", ""), NESTED, f"{where}: nested")
    for option in OPTIONS.values():  # None is no value that a file can have
        if option.name in table and (refusal := option.refusal(table[option.name])):
            raise BadInput(f"{where}: {refusal}")
    for key, least, most in (("lease_ms", 1, LONGEST_MS), ("store_nodes", 1, MOST_SERVERS)):
        if key in table and not (type(table[key]) is int and least <= table[key] <= most):
            raise BadInput(f"{where}: {key} must be a whole number, at least {least}, at most {most:,}, not {quoted(table[key])}")


def check_numbers(scenario: Scenario, where: str) -> None:
    """Check every option against its limits, and options against each other. Raises BadInput."""
    for option in OPTIONS.values():
        value = getattr(scenario, option.name)
        if value is not None and (refusal := option.refusal(value)):
            raise BadInput(f"{where}: {refusal}")
    if scenario.rate is not None and scenario.requests > scenario.rate * LONGEST_LOAD_S:
        raise BadInput(
            f"{where}: {scenario.requests} requests at a rate of {scenario.rate:g} a second take longer than "
            f"{LONGEST_LOAD_S // 3600} hours; give a higher rate, or fewer requests"
        )
    if scenario.processes > scenario.requests:
        raise BadInput(
            f"{where}: {scenario.processes} Locust processes cannot share {scenario.requests} requests; "
            f"give at most {scenario.requests} processes"
        )
