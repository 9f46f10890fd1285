"""How much danger a scenario can reach at most: a danger that no run can reach makes every run prove nothing.

The limits follow from the scenario alone, so they are generous. A measure without a line here has no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from lab.evidence.fault_effect import Effect
from lab.scenario.fault import Fault, Need, Target
from lab.scenario.requirements import REDIS_NODES
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


def _faults(scenario: Scenario) -> Limit:
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
    return Limit(len(scenario.faults) * _grants(scenario).most, f"{_grants(scenario).why} and {_faults(scenario).why}")


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


LIMITS: dict[str, Callable[[Scenario], Limit | None]] = {
    "asked_on_each_side": _grants,
    "asked_during_fault": _asked_during_fault,
    "clocks_moved": _clocks_moved,
    "granted": _grants,
    "granted_anew": _faults,
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
    "faults": _faults,
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
