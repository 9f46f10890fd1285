"""Change a scenario for one run: apply what the user gave, and fit the result to the stage."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from app.lock import Stage
from lab.errors import BadInput
from lab.scenario.contradictions import of_load, of_ttl
from lab.scenario.options import OPTIONS
from lab.scenario.scenario import Scenario
from lab.scenario.ttl_rounding import scaled
from lab.text import counted


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
