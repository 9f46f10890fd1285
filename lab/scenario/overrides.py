"""Change a scenario for one run: apply what the user gave, and fit the result to the stage."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec.structs import asdict, replace

from app.lock import Stage
from lab.errors import BadInput
from lab.scenario.contradictions import of_load, of_ttl
from lab.scenario.fault import Fault
from lab.scenario.options import OPTIONS
from lab.scenario.scenario import Scenario
from lab.text import counted


def scaled(scenario: Scenario, stage: Stage, given: Collection[str]) -> Scenario:
    """Return the scenario with a TTL that the stage can keep. Raises BadInput.

    given: the names of the options that the user gave; their values stay as they are.

    Scenarios use milliseconds where the documents use seconds. Some stores count TTLs in whole seconds, and some locks have one
    TTL in their code. For such a lock, all times of the scenario change by the same factor: a time that is longer than the TTL
    stays longer than the TTL. A note of the run records the factor.
    """
    ttl_ms, step_ms = scenario.ttl_ms, stage.ttl_step_ms
    fitting_ms = ttl_ms if ttl_ms is None else stage.ttl_ms if stage.has_fixed_ttl else -(-ttl_ms // step_ms) * step_ms
    if ttl_ms is None or fitting_ms is None or ttl_ms == fitting_ms:
        return scenario
    keeps = f"always has a TTL of {fitting_ms} ms" if stage.has_fixed_ttl else f"keeps TTLs in steps of {step_ms} ms"
    if "ttl_ms" in given and stage.has_fixed_ttl:
        raise BadInput(f"this run: {stage.name} {keeps}; leave out ttl_ms={ttl_ms}")
    if "ttl_ms" in given:
        lower_ms = fitting_ms - step_ms
        choices = f"{lower_ms} or {fitting_ms}" if lower_ms else str(fitting_ms)
        raise BadInput(f"this run: {stage.name} {keeps}; give ttl_ms={choices} instead of {ttl_ms}")
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
    """Return the scenario with what the user gave, fitted to the stage. Raises BadInput for values that make no sense.

    given: values by the names in OPTIONS; None means not given.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    for name, value in asked.items():
        if refusal := OPTIONS[name].refusal(value):
            raise BadInput(f"this run: {refusal}")
    scenario = dataclasses.replace(_fit_stock(scenario, asked), **asked)
    known = asked.keys() - {"seed"} | ({"rate"} if scenario.rate is not None else set())  # a seed does no harm
    _refuse(of_load(scenario, known))
    if reason := scenario.misfit(stage):
        raise BadInput(reason)
    return _fit_ttl(_fit_users(scenario), stage, asked)


def _refuse(reasons: Iterator[str]) -> None:
    """Raise BadInput for the first reason, if there is one."""
    for reason in reasons:
        raise BadInput(f"this run: {reason}")


def _fit_stock(scenario: Scenario, asked: Mapping[str, Any]) -> Scenario:
    """Return the scenario with a stock in proportion to the requests that the user gave."""
    requests = asked.get("requests", scenario.requests)
    if "stock" in asked or scenario.stock is None or requests == scenario.requests:
        return scenario
    fitted = max(1, scenario.stock * requests // scenario.requests)
    return _noted(
        dataclasses.replace(scenario, stock=fitted),
        f"{counted(fitted, 'item')} instead of {scenario.stock}: the run has {counted(requests, 'request')}",
    )


def _fit_users(scenario: Scenario) -> Scenario:
    """Return the scenario with no more users than requests."""
    if scenario.rate is not None or scenario.users <= scenario.requests:
        return scenario
    users, requests = counted(scenario.requests, "user"), counted(scenario.requests, "request")
    return _noted(
        dataclasses.replace(scenario, users=scenario.requests),
        f"{users} instead of {scenario.users}: the run has only {requests}",
    )


def _fit_ttl(scenario: Scenario, stage: Stage, asked: Mapping[str, Any]) -> Scenario:
    if stage.ttl_ms is None:
        note = f"{stage.name} has no TTL: ttl_ms={scenario.ttl_ms} is not used"
        return _noted(scenario, note) if "ttl_ms" in asked else scenario
    scenario = scaled(dataclasses.replace(scenario, ttl_ms=scenario.ttl_ms or stage.ttl_ms), stage, asked)
    _refuse(of_ttl(scenario))
    return scenario


def _noted(scenario: Scenario, note: str) -> Scenario:
    return dataclasses.replace(scenario, notes=(*scenario.notes, note))
