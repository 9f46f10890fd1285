"""One situation under which one claim is tested: a TOML file to one checked record."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.lock import Claim, Stage
from lab.errors import BadInput, choose_from
from lab.paths import SCENARIOS
from lab.scenario.fault import Fault
from lab.scenario.faults import parse as parse_fault
from lab.scenario.requirements import MEASURES, NEEDS


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The fields are the keys of the TOML file; all but the first six can be overridden for one run.

    tests: the claim under stress. load: a file of locustfiles/. needs: what a stage must have for the scenario to make
    sense. danger: how much of what must have happened for a pass to be worth anything, by the measures' names.
    cures: the scenario whose harm this one is the cure of, so that nobody needs to be harmed by it. nested: ``same`` or
    ``crossed`` where a request takes two locks. receipts: whether the work writes twice. store_persists: whether the lock's
    store writes every change to disk. store_replica: whether it has a replica that lags, and a sentinel. store_clocks:
    whether its clocks can be shifted. store_nodes: how many servers it is made of, where it can be made of several.
    nodes_away: which of its servers are gone from the beginning, counted from 1. faults: what is broken on purpose, and where.
    ttl_ms: None for the stage's own. lease_ms: an explicit lease time, None for none. rate: arrivals per second, whatever the
    answers do; None for users who wait for their answers. notes: what was changed on the user's behalf, and why.
    """

    name: str = ""
    title: str
    tests: Claim
    load: str = "rush"
    cures: str = ""
    needs: tuple[str, ...] = ()
    danger: dict[str, int] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    requests: int = 5000
    users: int = 100
    replicas: int = 3
    processes: int = 1
    ttl_ms: int | None = None
    wait_ms: int = 10_000
    retry_ms: int = 30
    lease_ms: int | None = None
    work_ms: int = 0
    nested: str = ""
    receipts: bool = False
    store_persists: bool = False
    store_replica: bool = False
    store_clocks: bool = False
    store_nodes: int = 1
    nodes_away: tuple[int, ...] = ()
    rate: float | None = None
    seed: int = 1
    notes: tuple[str, ...] = ()

    @property
    def request_timeout_s(self) -> float:
        """When a client gives up on an answer: longer than any wait and work can take."""
        return 10 + (self.wait_ms + self.work_ms + (self.ttl_ms or 0)) / 1000

    def misfit(self, stage: Stage) -> str | None:
        """Why this scenario makes no sense for a stage; None if it does."""
        for need in self.needs:
            what, has = NEEDS[need]
            if not has(stage):
                return f"{self.name} needs {what}; {stage.name} has none"
        return None


OVERRIDES = ("requests", "users", "replicas", "processes", "ttl_ms", "wait_ms", "retry_ms", "work_ms", "rate", "seed")


def names() -> list[str]:
    """The scenarios there are."""
    return sorted(path.stem for path in SCENARIOS.glob("*.toml"))


def load(name: str) -> Scenario:
    """A scenario by name. Raises BadInput, naming the file, the key and what would do."""
    path = SCENARIOS / f"{choose_from('scenario', name, names())}.toml"
    try:
        return parse(path.stem, tomllib.loads(path.read_text(encoding="utf-8")), where=f"scenarios/{path.name}")
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"scenarios/{path.name}: {error}") from None


def parse(name: str, table: Mapping[str, Any], where: str) -> Scenario:
    """The checked record of a scenario's table. Raises BadInput."""
    known = {spec.name for spec in dataclasses.fields(Scenario)} - {"name", "notes"}
    for key in table:
        choose_from("key", key, sorted(known), where)
    for key in ("title", "tests"):
        if key not in table:
            raise BadInput(f"{where}: the key {key!r} is missing")
    fields = dict(table)
    fields["tests"] = Claim[choose_from("claim", fields["tests"], [claim.name for claim in Claim], where)]
    fields["nodes_away"] = tuple(table.get("nodes_away", ()))
    fields["needs"] = tuple(choose_from("need", need, NEEDS, where) for need in table.get("needs", ()))
    fields["danger"] = {choose_from("measure", key, MEASURES, where): value for key, value in table.get("danger", {}).items()}
    fields["faults"] = tuple(parse_fault(fault, where) for fault in table.get("faults", ()))
    scenario = Scenario(name=name, **fields)
    check_numbers(scenario, where)
    return scenario


def check_numbers(scenario: Scenario, where: str) -> None:
    least = {
        "requests": 1,
        "users": 1,
        "replicas": 1,
        "processes": 1,
        "ttl_ms": 1,
        "wait_ms": 0,
        "retry_ms": 1,
        "work_ms": 0,
        "seed": 0,
        "store_nodes": 1,
    }
    for name, minimum in least.items():
        value = getattr(scenario, name)
        if value is not None and (type(value) is not int or value < minimum):
            raise BadInput(f"{where}: {name} must be a whole number, at least {minimum}, not {value!r}")
    if scenario.rate is not None and not 0 < scenario.rate < 1e6:
        raise BadInput(f"{where}: rate must be a number of arrivals per second above 0, not {scenario.rate!r}")
    if scenario.processes > scenario.requests:
        raise BadInput(f"{where}: {scenario.processes} Locust processes cannot share {scenario.requests} requests")
