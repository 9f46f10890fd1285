"""Define a scenario: one situation that tests one claim; find contradictions in it, and apply a user's changes for one run.

``reader.py`` makes the record from a TOML file, and checks the types of the keys before.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from msgspec.structs import asdict, replace

from app.lock import Claim, Stage
from lab.errors import BadInput
from lab.scenario.fault import Fault, kind_of
from lab.scenario.options import OPTIONS, shown
from lab.scenario.requirements import NEEDS, most_servers, servers
from lab.scenario.toml_types import Counts, Duration, Line, Nodes, Servers, Switch, Text, Texts
from lab.text import counted

SYNCS = ("always", "everysec", "no")  # before each answer, once a second, when the kernel decides: values of Redis's appendfsync


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The fields are the keys of the TOML file. A user can change the fields in ``options.py`` for one run."""

    name: str = ""  # the name of the file
    title: Line
    tests: Claim  # the claim that it tests
    may_break: Texts = ()  # other claims that a lock can break here: `lab test` runs the scenario for them as well
    cures: Text = ""  # the scenario that shows the problem, if this one shows the cure: then no stage has to fail here
    needs: Texts = ()  # requirements on a stage: names in NEEDS
    danger: Counts = field(default_factory=dict)  # least values of measures, by name, without which a pass does not count
    faults: tuple[Fault, ...] = ()  # the faults, each with its failpoint
    requests: int = 5000  # 0: as many as the run time, or the user's own load, allows
    users: int = 100
    think_ms: int = 0  # how long each user waits between an answer and its next request
    spawn_rate: int | None = None  # how many users start each second; None: all at once
    replicas: int = 3
    processes: int = 1
    ttl_ms: int | None = None  # None: the TTL of the stage
    wait_ms: int = 10_000
    retry_ms: int = 30
    lease_ms: Duration | None = None  # an explicit lease time; None: the stage's default
    work_ms: int = 0
    stock: int | None = None  # how many items there are to sell; None: the counter only grows
    # how a request takes two locks: ``same`` for one key twice, ``crossed`` for two keys in either order; empty: it takes one
    nested: Text = ""
    receipts: Switch = False  # whether the work writes twice: the counter, and a receipt
    store_persists: Switch = False  # whether the lock's store writes every change to a file
    store_syncs: Text = "always"  # when it syncs that file to disk: a name in SYNCS
    store_replica: Switch = False  # whether the lock's store has a replica, and a Sentinel that promotes it
    store_second_replica: Switch = False  # whether the lock's store has two replicas
    store_clocks: Switch = False  # whether the clocks of the lock's store can be shifted
    store_nodes: Servers = 3  # the number of servers of the lock's store, if it is an ensemble
    nodes_away: Nodes = ()  # the servers of the lock's store that are stopped from the beginning, counted from 1
    rate: float | None = None  # arrivals per second; None: each user waits for its answer
    connections: int | None = None  # at a rate: the most requests under way, beyond which requests are late; None: no limit
    seed: int = 1
    run_time: int | None = None  # after how many seconds the load ends; None: when all requests have ended
    own_load: str = ""  # the path of the user's own locustfile that drives the run; empty: the lab's own
    notes: tuple[str, ...] = ()  # values that the lab changed for this run, and why

    @property
    def request_timeout_s(self) -> float:
        """Return after how many seconds a client gives up on an answer: longer than any wait and work can take."""
        return 10 + (self.wait_ms + self.work_ms + (self.ttl_ms or 0)) / 1000

    @property
    def locust_users(self) -> int:
        """Return how many users Locust starts. At a rate, one in each process sends all requests."""
        return self.processes if self.rate else self.users

    def misfit(self, stage: Stage) -> str | None:
        """Return why this scenario makes no sense for a stage; None if it does."""
        for need in self.needs:
            what, has = NEEDS[need]
            if not has(stage):
                return f"the scenario {self.name} needs {what}; the stage {stage.name} does not have it"
        return self._no_such_server(stage)

    def _no_such_server(self, stage: Stage) -> str | None:
        """Return which fault acts on no server of the stage's store; None if each acts on at least one."""
        number = servers(stage.store, self.store_nodes, self.store_replica)
        for fault in self.faults if number else ():
            nodes = getattr(fault, "nodes", ())
            if nodes and min(nodes) > number:
                has = f"the store of {stage.name} has {counted(number, 'server')}"
                return f"the fault {kind_of(fault)} of the scenario {self.name} acts on server {min(nodes)}, and {has}"
        return None


def contradictions(scenario: Scenario, given: Collection[str]) -> Iterator[str]:
    """Yield each contradiction in a scenario as a sentence. given: the keys of its file."""
    if not (scenario.title.isprintable() and scenario.title.strip()):
        yield f"title must be one line of text in quotes, not {shown(scenario.title)}"
    yield from chain(of_load(scenario, given), of_ttl(scenario), _lock(scenario))
    yield from chain(_servers(scenario), _faults(scenario))


def of_load(scenario: Scenario, given: Collection[str]) -> Iterator[str]:
    """Yield contradictions in the load. given: the keys of the file, or a run's options; with ``rate`` if there is a rate."""
    users, processes, connections = scenario.users, scenario.processes, scenario.connections
    requests = scenario.requests or sys.maxsize
    if "rate" in given and (of_users := [name for name in ("users", "think_ms", "spawn_rate") if name in given]):
        yield f"{of_users[0]} and rate exclude each other: at a rate, no users wait for answers. Give one of the two"
    for name, why in (("seed", "it sets the random arrival times"), ("connections", "users have one connection each")):
        if name in given and "rate" not in given:
            yield f"{name} has no effect without rate: {why}. Give both, or neither"
    if processes > requests:
        yield f"{processes} Locust processes cannot share {counted(requests, 'request')}; give at most {requests} processes"
    if connections is not None and connections < processes:
        yield f"processes = {processes} cannot share connections = {connections}; give at most as many"
    if "rate" not in given and users < processes:
        yield f"processes = {processes} cannot share users = {users}; give at most {users}"
    if "users" in given and users > requests:
        yield f"users = {users} cannot share requests = {requests}; give at most {counted(requests, 'user')}, or more requests"
    if "stock" in given and scenario.stock is not None and scenario.stock >= requests:
        yield f"stock = {scenario.stock} is never sold out by requests = {requests}; give fewer items, or more requests"


def of_ttl(scenario: Scenario) -> Iterator[str]:
    """Yield contradictions in the lock's times."""
    ttl_ms, retry_ms = scenario.ttl_ms, scenario.retry_ms
    if ttl_ms is not None and ttl_ms < retry_ms:
        yield (
            f"retry_ms = {retry_ms} is longer than ttl_ms = {ttl_ms}: a waiter would sleep longer than a whole lease. "
            f"Give a ttl_ms of at least {retry_ms}"
        )


def _lock(scenario: Scenario) -> Iterator[str]:
    if scenario.lease_ms is not None and "lease" not in scenario.needs:
        yield f'lease_ms = {scenario.lease_ms} reaches only a stage that takes a lease; give needs = ["lease"] as well'
    if scenario.receipts and "writes" not in scenario.needs:
        yield 'receipts = true makes a request write twice, which not every resource can; give needs = ["writes"] as well'


def _servers(scenario: Scenario) -> Iterator[str]:
    if scenario.store_syncs != "always" and not scenario.store_persists:
        yield f"store_syncs = {scenario.store_syncs!r} is about a file, and there is none; give store_persists = true as well"
    if scenario.store_replica and "standby" not in scenario.needs:
        yield 'store_replica = true needs a lock in one Redis; give needs = ["standby"] as well'
    if scenario.store_second_replica and not scenario.store_replica:
        yield "store_second_replica = true needs store_replica = true"
    most = most_servers(scenario.needs, scenario.store_nodes)
    named = [("nodes_away", scenario.nodes_away)]
    named += [
        (f"the fault {kind_of(fault)}: {key}", getattr(fault, key))
        for fault in scenario.faults
        for key in ("nodes", "away")
        if hasattr(fault, key)
    ]
    for what, numbers in named:
        if beyond := [number for number in numbers if number > most]:
            yield f"{what} names the server {beyond[0]}, and the lock's store has at most {counted(most, 'server')} here"
    if len(scenario.nodes_away) >= most:
        yield f"nodes_away = {list(scenario.nodes_away)} stops every server of the lock's store; leave at least one"


def _faults(scenario: Scenario) -> Iterator[str]:
    for fault in scenario.faults:
        what, nodes, away = f"the fault {kind_of(fault)}", getattr(fault, "nodes", ()), getattr(fault, "away", ())
        if running := sorted(set(away) - set(scenario.nodes_away)):
            yield f"{what}: away names the server {running[0]}, which is not stopped from the beginning; add it to nodes_away"
        if stopped := sorted(set(nodes) & set(scenario.nodes_away)):
            yield f"{what}: nodes names the server {stopped[0]}, which nodes_away has stopped already"
        if fault.at.startswith("write_again.") and not scenario.receipts:
            yield f"{what}: at = {fault.at!r} is never reached without receipts = true: a request writes once"
        if fault.skip > scenario.requests * (2 if scenario.nested else 1):
            yield f"{what}: skip = {fault.skip} is never reached with requests = {scenario.requests}"


def scaled(scenario: Scenario, stage: Stage, given: Collection[str]) -> Scenario:
    """Return the scenario with a TTL that the stage can keep. Raises BadInput.

    given: the names of the options that the user gave; their values stay as they are.

    The scenarios' times are milliseconds, where the documents have seconds. Some stores count TTLs in whole seconds, and some
    locks have one TTL in their code. For these locks, all times of the scenario change by the same factor: a time that is longer
    than the TTL stays longer than the TTL. A note of the run records the factor.
    """
    ttl_ms, step_ms = scenario.ttl_ms, stage.ttl_step_ms
    fitting_ms = ttl_ms if ttl_ms is None else stage.ttl_ms if stage.has_fixed_ttl else -(-ttl_ms // step_ms) * step_ms
    if ttl_ms is None or fitting_ms is None or ttl_ms == fitting_ms:
        return scenario
    keeps = f"always has a TTL of {fitting_ms} ms" if stage.has_fixed_ttl else f"keeps TTLs in steps of {step_ms} ms"
    if "ttl_ms" in given and stage.has_fixed_ttl:
        raise BadInput(f"{stage.name} {keeps}; leave out ttl_ms={ttl_ms}")
    if "ttl_ms" in given:
        lower_ms = fitting_ms - step_ms
        choices = f"{lower_ms} or {fitting_ms}" if lower_ms else str(fitting_ms)
        raise BadInput(f"{stage.name} {keeps}; give ttl_ms={choices} instead of {ttl_ms}")
    factor = fitting_ms / ttl_ms
    grow = [option.name for option in OPTIONS.values() if option.scales_with_ttl and option.name not in given]
    times: dict[str, Any] = {name: round(getattr(scenario, name) * factor) for name in grow}
    faults = tuple(_longer(fault, factor) for fault in scenario.faults)
    note = (
        f"the TTL in force is {fitting_ms} ms instead of {ttl_ms}, because {stage.name} {keeps}; "
        f"work, waits and faults last {factor:.2f} times as long, too"
    )
    return dataclasses.replace(scenario, ttl_ms=fitting_ms, faults=faults, notes=(*scenario.notes, note), **times)


def _longer(fault: Fault, factor: float) -> Fault:
    """Return the fault with all its times scaled."""
    return replace(fault, **{name: round(value * factor) for name, value in asdict(fault).items() if name.endswith("_ms")})


def override(scenario: Scenario, stage: Stage, given: Mapping[str, Any]) -> Scenario:
    """Return the scenario with the user's values, fitted to the stage. Raises BadInput for values that make no sense.

    given: values by the names in OPTIONS, and ``load``, the path of the user's own locustfile; None means not given.
    """
    chosen = {name: value for name, value in given.items() if value is not None and name != "load"}
    for name, value in chosen.items():
        if refusal := OPTIONS[name].refusal(value):
            raise BadInput(refusal)
    if load := given.get("load"):
        scenario = dataclasses.replace(scenario, own_load=load, rate=None, connections=None)
    scenario = dataclasses.replace(_fit_stock(scenario, chosen), **chosen)
    if (load or scenario.run_time) and "requests" not in chosen:
        scenario = dataclasses.replace(scenario, requests=0)
    if load and (decided := [name for name in ("requests", "rate", "connections", "think_ms") if name in chosen]):
        raise BadInput(f"{decided[0]} has no effect with a load of your own: {load} decides it. Leave it out")
    if {"run_time", "requests"} <= chosen.keys():
        raise BadInput(
            "requests and run_time exclude each other: the load ends after a number, or after a time. Give one of the two"
        )
    known = chosen.keys() - {"seed"} | ({"rate"} if scenario.rate is not None else set())  # a seed without a rate is harmless
    _refuse(of_load(scenario, known))
    if reason := scenario.misfit(stage):
        raise BadInput(reason)
    return _fit_ttl(_fit_users(scenario), stage, chosen)


def _refuse(reasons: Iterator[str]) -> None:
    """Raise BadInput for the first reason, if there is one."""
    for reason in reasons:
        raise BadInput(reason)


def _fit_stock(scenario: Scenario, chosen: Mapping[str, Any]) -> Scenario:
    """Return the scenario with a stock in proportion to the requests that the user gave."""
    requests = chosen.get("requests", scenario.requests)
    if "stock" in chosen or scenario.stock is None or requests == scenario.requests:
        return scenario
    fitted = max(1, scenario.stock * requests // scenario.requests)
    return _noted(
        dataclasses.replace(scenario, stock=fitted),
        f"{counted(fitted, 'item')} instead of {scenario.stock}: the run has {counted(requests, 'request')}",
    )


def _fit_users(scenario: Scenario) -> Scenario:
    """Return the scenario with no more users than requests."""
    if scenario.rate is not None or not 0 < scenario.requests < scenario.users:
        return scenario
    users, requests = counted(scenario.requests, "user"), counted(scenario.requests, "request")
    return _noted(
        dataclasses.replace(scenario, users=scenario.requests),
        f"{users} instead of {scenario.users}: the run has only {requests}",
    )


def _fit_ttl(scenario: Scenario, stage: Stage, chosen: Mapping[str, Any]) -> Scenario:
    if stage.ttl_ms is None:
        note = f"{stage.name} has no TTL: ttl_ms={scenario.ttl_ms} is not used"
        return _noted(scenario, note) if "ttl_ms" in chosen else scenario
    scenario = scaled(dataclasses.replace(scenario, ttl_ms=scenario.ttl_ms or stage.ttl_ms), stage, chosen)
    _refuse(of_ttl(scenario))
    return scenario


def _noted(scenario: Scenario, note: str) -> Scenario:
    return dataclasses.replace(scenario, notes=(*scenario.notes, note))
