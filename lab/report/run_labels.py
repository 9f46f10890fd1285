"""Give each of several compared runs a label of its own.

The label is the stage. Runs with the same stage also get the parameters in which they differ. Runs that do not differ get the
time at which they began.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import msgspec

from lab.report.run_data import Result
from lab.scenario.options import OPTIONS, Label

NONE = "–"
MOMENTS = (slice(11, 19), slice(0, 19), slice(0, 23))  # of a time in ISO 8601: the time, with the day, with milliseconds


def labels() -> dict[str, Label]:
    """Return how a label writes each parameter: the scenario, and every option."""
    return {"scenario": Label("{}", none="no scenario")} | {option.name: option.label for option in OPTIONS.values()}


def parameter(result: Result, name: str) -> object:
    """Return the value of a parameter; None where the run has none. At a rate there are no users that wait for answers."""
    scenario = result.record.scenario
    if name == "scenario":
        return scenario["name"]
    if name == "ttl_ms":
        return result.record.stage["ttl_ms"]
    if name == "users" and scenario.get("rate"):
        return None
    return scenario.get(name)


def differing(results: Sequence[Result]) -> list[str]:
    """Return the parameters in which the results differ."""
    return [name for name in labels() if len({parameter(one, name) for one in results}) > 1]


def with_labels(results: Sequence[Result]) -> list[Result]:
    """Return the same results, in the same order, each with a label of its own."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.label].append(result)
    named = {result.record.run: label for alike in groups.values() for result, label in zip(alike, _labels(alike), strict=True)}
    return [msgspec.structs.replace(result, given_label=named[result.record.run]) for result in results]


def _labels(alike: Sequence[Result]) -> list[str]:
    if len(alike) == 1:
        return [alike[0].label]
    names = differing(alike)
    words = labels()
    found = [", ".join([one.label, *(words[name].text(parameter(one, name)) for name in names)]) for one in alike]
    if len(set(found)) == len(found):
        return found
    twice = Counter(found)
    moment = _moment(alike)
    return [f"{label}, {moment(one)}" if twice[label] > 1 else label for label, one in zip(found, alike, strict=True)]


def _moment(alike: Sequence[Result]) -> Callable[[Result], str]:
    """Return what writes the time of each run, as exactly as needed. Runs of one millisecond get the name of their folder."""
    for part in MOMENTS:
        if len({one.record.started_utc[part] for one in alike}) == len(alike):
            return lambda one: one.record.started_utc[part].replace("T", " ")
    return lambda one: one.record.run
