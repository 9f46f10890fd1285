"""One situation under which one claim is tested: a TOML file to one checked record."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.lock import Claim, Stage
from lab.choice import BadInput, chosen
from lab.fault import Fault
from lab.fault import parse as parse_fault

FOLDER = Path(__file__).parents[1] / "scenarios"


def _guards(stage: Stage) -> bool:
    """Whether it promises that replicas destroy nothing of each other's, with the help of a store."""
    return stage.store is not None and Claim.exclusive in stage.claims


def _keeps_out(stage: Stage) -> bool:
    """Whether it does so by one lock: an optimistic stage lets everybody in, and refuses writes; buckets let many in."""
    return _guards(stage) and stage.resource not in ("mysql_versioned", "buckets")


VOLATILE = ("redis", "redis_nodes")  # stores that can keep nothing on disk
WITH_SESSIONS = ("etcd", "mysql", "zookeeper")  # stores at which a client has a session that can end; etcd calls it a lease
ENSEMBLES = ("etcd", "zookeeper")  # stores of several servers with one that leads
NEEDS: dict[str, tuple[str, Callable[[Stage], bool]]] = {
    "store": ("a store that replicas share", lambda stage: stage.store is not None),
    "ttl": ("a time to live", lambda stage: stage.ttl_ms is not None),
    "lock": (
        "a lock to wait for",
        lambda stage: _keeps_out(stage) or Claim.prompt_handover in stage.claims,
    ),
    "mutex": (
        "a lock that ends at its process",
        lambda stage: Claim.exclusive_in_process in stage.claims and Claim.exclusive not in stage.claims,
    ),
    "waiting": (  # setnx_no_else keeps nobody out, and has everybody try again
        "a store that has somebody try again",
        lambda stage: stage.store is not None and (Claim.exclusive in stage.claims or stage.store == "redis"),
    ),
    "guard": (
        "a promise that replicas destroy nothing of each other's in one number",
        lambda stage: _guards(stage) and stage.resource != "buckets",
    ),
    "one_lock": ("one lock for the whole number", lambda stage: stage.resource != "buckets"),
    "exclusion": ("a lock that keeps others out", _keeps_out),
    "volatile": ("a lock in a store that can keep nothing on disk", lambda stage: _keeps_out(stage) and stage.store in VOLATILE),
    "session": ("a session at its store", lambda stage: _guards(stage) and stage.store in WITH_SESSIONS),
    "owner": ("an owner written in the lock", lambda stage: Claim.releases_only_its_own in stage.claims),
    "ensemble": ("a store that elects another leader among its servers", lambda stage: stage.store in ENSEMBLES),
    "nodes": ("several stores", lambda stage: stage.store == "redis_nodes"),
    "redis": ("one lock in Redis", lambda stage: stage.store in ("redis", "redis_nodes") and _keeps_out(stage)),
    "fence": ("a resource that refuses old fences", lambda stage: stage.resource == "fenced"),
    "writes": ("a write that can be followed by another", lambda stage: stage.resource in ("read_then_write", "fenced")),
    "lease": ("an explicit lease time", lambda stage: stage.lease),
    "renewal": ("renewal", lambda stage: stage.ttl_ms is not None and Claim.held_to_the_end in stage.claims),
}
MEASURES = (
    "asked_while_struck",
    "clocks_moved",
    "handovers",
    "handovers_between_replicas",
    "late_releases",
    "least_of_even_share_percent",
    "least_share_percent",
    "outlasted_ttl",
    "outlived_freezes",
    "refused",
    "sessions_ended",
    "struck",
    "struck_past_ttl",
    "tries",
    "turned_away",
    "waited",
)


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
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load(name: str) -> Scenario:
    """A scenario by name. Raises BadInput, naming the file, the key and what would do."""
    path = FOLDER / f"{chosen('scenario', name, names())}.toml"
    try:
        return parse(path.stem, tomllib.loads(path.read_text(encoding="utf-8")), where=f"scenarios/{path.name}")
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"scenarios/{path.name}: {error}") from None


def parse(name: str, table: Mapping[str, Any], where: str) -> Scenario:
    """The checked record of a scenario's table. Raises BadInput."""
    known = {spec.name for spec in dataclasses.fields(Scenario)} - {"name", "notes"}
    for key in table:
        chosen("key", key, sorted(known), where)
    for key in ("title", "tests"):
        if key not in table:
            raise BadInput(f"{where}: the key {key!r} is missing")
    fields = dict(table)
    fields["tests"] = Claim[chosen("claim", fields["tests"], [claim.name for claim in Claim], where)]
    fields["nodes_away"] = tuple(table.get("nodes_away", ()))
    fields["needs"] = tuple(chosen("need", need, NEEDS, where) for need in table.get("needs", ()))
    fields["danger"] = {chosen("measure", key, MEASURES, where): value for key, value in table.get("danger", {}).items()}
    fields["faults"] = tuple(parse_fault(fault, where) for fault in table.get("faults", ()))
    scenario = Scenario(name=name, **fields)
    _check_numbers(scenario, where)
    return scenario


def override(scenario: Scenario, stage: Stage, given: Mapping[str, Any]) -> Scenario:
    """The scenario with what the user gave, fitted to the stage. Raises BadInput for what cannot be meant.

    given: values by the names in OVERRIDES; None means not given.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    scenario = dataclasses.replace(scenario, **asked)
    _check_numbers(scenario, "this run")
    if reason := scenario.misfit(stage):
        raise BadInput(reason)
    scenario = _fit_users(scenario, explicit="users" in asked)
    return _fit_ttl(scenario, stage, asked)


def _check_numbers(scenario: Scenario, where: str) -> None:
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


def _fit_users(scenario: Scenario, explicit: bool) -> Scenario:
    if scenario.rate is not None:
        if explicit:
            raise BadInput("this run: users and rate exclude each other: at a rate, requests arrive whatever the answers do")
        return scenario
    if scenario.users < scenario.processes:
        raise BadInput(f"this run: {scenario.users} users cannot be split over {scenario.processes} Locust processes")
    if scenario.users <= scenario.requests:
        return scenario
    if explicit:
        raise BadInput(
            f"this run: {scenario.users} users cannot share {scenario.requests} requests; "
            f"give at most {scenario.requests} users, or at least {scenario.users} requests"
        )
    note = f"{scenario.requests} users instead of {scenario.users}: there are no more requests than that"
    return dataclasses.replace(scenario, users=scenario.requests, notes=(*scenario.notes, note))


def _fit_ttl(scenario: Scenario, stage: Stage, asked: Mapping[str, Any]) -> Scenario:
    if stage.ttl_ms is None:
        note = f"{stage.name} has no TTL: ttl_ms={scenario.ttl_ms} is not used"
        notes = (*scenario.notes, note) if "ttl_ms" in asked else scenario.notes
        return dataclasses.replace(scenario, notes=notes)
    from lab.scaling import scaled

    scenario = scaled(dataclasses.replace(scenario, ttl_ms=scenario.ttl_ms or stage.ttl_ms), stage, asked)
    if scenario.ttl_ms is not None and scenario.ttl_ms < scenario.retry_ms:
        raise BadInput(
            f"this run: ttl_ms={scenario.ttl_ms} is shorter than retry_ms={scenario.retry_ms}: "
            "every waiter would sleep through whole leases; give a longer TTL or a shorter retry"
        )
    return scenario
