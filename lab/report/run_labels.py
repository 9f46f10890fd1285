"""What runs that are compared are called, so that no two are called the same: by stage, else by the parameters in which
they differ, else by when they began.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import msgspec

from lab.report.run_data import Result

PARAMETERS: dict[str, str] = {  # by name, as a label says them
    "scenario": "{}",
    "replicas": "{} replicas",
    "users": "{} users",
    "rate": "{} arrivals/s",
    "requests": "{} requests",
    "ttl_ms": "TTL {} ms",
    "work_ms": "work {} ms",
    "retry_ms": "retry {} ms",
    "wait_ms": "wait {} ms",
    "processes": "{} Locust processes",
    "seed": "seed {}",
}
ONE = {"replicas": "s", "users": "s", "requests": "s", "processes": "es"}  # what falls away where there is one of them
NONE = "–"
MOMENTS = (slice(11, 19), slice(0, 19), slice(0, 23))  # of a time in ISO 8601: the time, with the day, with milliseconds


def parameter(result: Result, name: str) -> object:
    """The value of a parameter; None where the run has none. At a rate there are no users who wait for answers."""
    scenario = result.record.scenario
    if name == "scenario":
        return scenario["name"]
    if name == "ttl_ms":
        return result.record.stage["ttl_ms"]
    if name == "users" and scenario.get("rate"):
        return None
    return scenario.get(name)


def differing(results: Sequence[Result]) -> list[str]:
    """The parameters that are not the same in all of them."""
    return [name for name in PARAMETERS if len({parameter(one, name) for one in results}) > 1]


def tell_apart(results: Sequence[Result]) -> list[Result]:
    """The same results, in the same order, each with a label of its own."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.label].append(result)
    named = {result.record.run: label for alike in groups.values() for result, label in zip(alike, _labels(alike), strict=True)}
    return [msgspec.structs.replace(result, told=named[result.record.run]) for result in results]


def _labels(alike: Sequence[Result]) -> list[str]:
    if len(alike) == 1:
        return [alike[0].label]
    names = differing(alike)
    labels = [", ".join([one.label, *(_said(one, name) for name in names)]) for one in alike]
    if len(set(labels)) == len(labels):
        return labels
    twice = Counter(labels)
    moment = _moment(alike)
    return [f"{label}, {moment(one)}" if twice[label] > 1 else label for label, one in zip(labels, alike, strict=True)]


def _said(result: Result, name: str) -> str:
    value = parameter(result, name)
    if value is None:
        return f"no {name.removesuffix('_ms').replace('ttl', 'TTL')}"
    text = PARAMETERS[name].format(value)
    return text.removesuffix(ONE[name]) if value == 1 and name in ONE else text


def _moment(alike: Sequence[Result]) -> Callable[[Result], str]:
    """When each began, as finely as they lie apart; runs that began in one millisecond are told apart by their folders."""
    for part in MOMENTS:
        if len({one.record.started_utc[part] for one in alike}) == len(alike):
            return lambda one: one.record.started_utc[part].replace("T", " ")
    return lambda one: one.record.run
