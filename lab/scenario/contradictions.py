"""Keys of a scenario file that contradict each other, each in a sentence. The types of the keys have been checked before."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain

from lab.scenario.fault import kind_of
from lab.scenario.options import shown
from lab.scenario.requirements import most_servers
from lab.scenario.scenario import Scenario
from lab.text import counted

LONGEST_LOAD_S = 86_400  # from the first to the last request, at a rate


def contradictions(scenario: Scenario, given: Collection[str]) -> Iterator[str]:
    """Yield what makes no sense in a scenario. given: the keys of its file."""
    if not (scenario.title.isprintable() and scenario.title.strip()):
        yield f"title must be one line of text in quotes, not {shown(scenario.title)}"
    yield from chain(of_load(scenario, given), of_ttl(scenario), _lock(scenario))
    yield from chain(_servers(scenario), _faults(scenario))


def of_load(scenario: Scenario, given: Collection[str]) -> Iterator[str]:
    """Yield what makes no sense in the load. given: the keys of the file, or a run's options; ``rate`` where there is one."""
    users, requests, processes, connections = scenario.users, scenario.requests, scenario.processes, scenario.connections
    if "users" in given and "rate" in given:
        yield "users and rate exclude each other: at a rate, no users wait for answers. Give one of the two"
    if "seed" in given and "rate" not in given:
        yield "seed has no effect without rate: it sets the random arrival times. Give both, or neither"
    if "connections" in given and "rate" not in given:
        yield "connections has no effect without rate: users have one connection each. Give both, or neither"
    if scenario.rate is not None and requests > scenario.rate * LONGEST_LOAD_S:
        yield (
            f"{requests} requests at a rate of {scenario.rate:g} a second take longer than {LONGEST_LOAD_S // 3600} hours; "
            "give a higher rate, or fewer requests"
        )
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
    """Yield what makes no sense in the lock's times."""
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
    if twice := sorted({need for need in scenario.needs if scenario.needs.count(need) > 1}):
        yield f"needs has {twice[0]!r} more than once"
    if scenario.cures == scenario.name:
        yield f"cures = {scenario.cures!r} is the scenario itself; name the scenario that shows the problem"


def _servers(scenario: Scenario) -> Iterator[str]:
    if scenario.store_syncs != "always" and not scenario.store_persists:
        yield f"store_syncs = {scenario.store_syncs!r} is about a file, and there is none; give store_persists = true as well"
    if scenario.store_second_replica and not (scenario.store_replica and "standby" in scenario.needs):
        yield 'store_second_replica = true needs store_replica = true and needs = ["standby"]: one primary with a replica'
    most = most_servers(scenario.needs, scenario.store_nodes, scenario.store_replica)
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
        if len(set(numbers)) < len(numbers):
            yield f"{what} must name each server once, not {list(numbers)}"
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
