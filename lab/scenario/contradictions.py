"""Keys of a scenario file that contradict each other, each in a sentence. The types of the keys have been checked before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from lab.evidence.fault_record import Effect
from lab.scenario.fault import Fault, Need, Target, kind_of
from lab.scenario.options import shown
from lab.scenario.requirements import REDIS_NODES, most_servers
from lab.scenario.scenario import Scenario
from lab.text import counted


class Limit(NamedTuple):
    """The largest value that a measure can have in a run."""

    most: int
    # where the limit comes from, as a half sentence
    why: str


def limit(measure: str, scenario: Scenario) -> Limit | None:
    """Return the limit of a measure under a scenario; None where there is none."""
    return LIMITS[measure](scenario) if measure in LIMITS else None


def _injected(scenario: Scenario) -> Limit:
    return Limit(len(scenario.faults), f"the scenario has {counted(len(scenario.faults), 'fault')}")


def _long_faults(scenario: Scenario) -> Limit:
    long = [fault for fault in scenario.faults if fault.for_ms > (scenario.ttl_ms or 0)]
    ttl = f" of more than ttl_ms = {scenario.ttl_ms}" if scenario.ttl_ms else ""
    return Limit(len(long), f"the scenario has {counted(len(long), 'fault')}{ttl}")


def _grants(scenario: Scenario) -> Limit:
    each = 2 if scenario.nested else 1
    return Limit(each * scenario.requests, f"the scenario has {counted(scenario.requests, 'request')}")


def _handovers(scenario: Scenario) -> Limit:
    if scenario.rate is None and scenario.users == 1:
        return Limit(0, "users = 1, and a single user never waits for the lock of another request")
    return Limit(0, "wait_ms = 0, and no request waits") if scenario.wait_ms == 0 else _grants(scenario)


def _handovers_between_replicas(scenario: Scenario) -> Limit:
    return _handovers(scenario) if scenario.replicas > 1 else Limit(0, "replicas = 1")


def _waited(scenario: Scenario) -> Limit:
    wait_ms, retry_ms = scenario.wait_ms, scenario.retry_ms
    short = Limit(0, f"wait_ms = {wait_ms} is shorter than retry_ms = {retry_ms}")
    return short if wait_ms < retry_ms else _grants(scenario)


def _votes(scenario: Scenario) -> Limit:
    if any(Effect.CLOCKS_JUMP is fault.effect for fault in scenario.faults):
        return Limit(REDIS_NODES, f"{REDIS_NODES} servers vote")
    return Limit(0, "no fault of the scenario lets clocks jump")


def _asked_during_fault(scenario: Scenario) -> Limit:
    return Limit(len(scenario.faults) * _grants(scenario).most, f"{_grants(scenario).why} and {_injected(scenario).why}")


def _clocks_moved(scenario: Scenario) -> Limit:
    moving = [fault for fault in scenario.faults if Need.CLOCKS in fault.needs]
    servers = sum(len(getattr(fault, "nodes", ())) for fault in moving)
    return Limit(servers, f"its faults move the clocks of {counted(servers, 'server')}")


def _sessions_ended(scenario: Scenario) -> Limit | None:
    ends = any(fault.target is Target.SESSION for fault in scenario.faults)
    return None if ends else Limit(0, "no fault of the scenario ends sessions")


def _late_writes(scenario: Scenario) -> Limit:
    delaying = [fault for fault in scenario.faults if fault.target is Target.COUNTER]
    return Limit(len(delaying), f"{counted(len(delaying), 'fault')} of the scenario delay a write")


def _share(scenario: Scenario) -> Limit:
    replicas = counted(scenario.replicas, "replica")
    return Limit(100 // scenario.replicas, f"the least busy of {replicas} has at most an even share")


# they follow from the scenario alone, so they are generous; a measure without a line here has no limit
LIMITS: dict[str, Callable[[Scenario], Limit | None]] = {
    "asked_on_each_side": _grants,
    "asked_during_fault": _asked_during_fault,
    "clocks_moved": _clocks_moved,
    "granted": _grants,
    "granted_anew": _injected,
    "handovers": _handovers,
    "handovers_between_replicas": _handovers_between_replicas,
    "late_releases": _long_faults,
    "late_writes": _late_writes,
    "least_of_even_share_percent": lambda scenario: Limit(100, "it is a share in percent"),
    "least_share_percent": _share,
    "outlasted_ttl": _grants,
    "outlived_freezes": _long_faults,
    "refused": _grants,
    "sessions_ended": _sessions_ended,
    "faults": _injected,
    "faults_past_ttl": _long_faults,
    "tries": _grants,
    "turned_away": _grants,
    "votes": _votes,
    "waited": _waited,
}


def unreachable(scenario: Scenario) -> Iterable[str]:
    """Yield a sentence for each danger that no run of the scenario can reach."""
    for measure, least in scenario.danger.items():
        found = limit(measure, scenario)
        if found is not None and least > found.most:
            remedy = f"give at most {found.most}" if found.most else "leave it out"
            yield f"danger.{measure} = {least} can never be reached, because {found.why}; {remedy}"


def beyond_the_load(fault: Fault, scenario: Scenario) -> bool:
    """Return whether a fault waits for more grants than the scenario has requests."""
    return fault.skip > _grants(scenario).most


LONGEST_LOAD_S = 86_400  # from the first to the last request, at a rate


def contradictions(scenario: Scenario, given: Collection[str]) -> Iterator[str]:
    """Yield what makes no sense in a scenario. given: the keys of its file."""
    if not (scenario.title.isprintable() and scenario.title.strip()):
        yield f"title must be one line of text in quotes, not {shown(scenario.title)}"
    yield from chain(of_load(scenario, given), of_ttl(scenario), _lock(scenario))
    yield from chain(_servers(scenario), _faults(scenario), unreachable(scenario))


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
        if beyond_the_load(fault, scenario):
            yield f"{what}: skip = {fault.skip} is never reached with requests = {scenario.requests}"
