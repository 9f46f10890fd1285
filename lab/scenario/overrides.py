"""Change a scenario for one run: apply what the user gave, and fit the result to the stage."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.lock import Stage
from lab.errors import BadInput
from lab.scenario.reader import check_numbers
from lab.scenario.scenario import Scenario
from lab.scenario.ttl_rounding import scaled
from lab.text import counted


def override(scenario: Scenario, stage: Stage, given: Mapping[str, Any]) -> Scenario:
    """Return the scenario with what the user gave, fitted to the stage. Raises BadInput for values that make no sense.

    given: values by the names in OPTIONS; None means not given.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    scenario = dataclasses.replace(_fit_stock(scenario, asked), **asked)
    check_numbers(scenario, "this run")
    if reason := scenario.misfit(stage):
        raise BadInput(reason)
    scenario = _fit_users(scenario, explicit="users" in asked)
    return _fit_ttl(scenario, stage, asked)


def _fit_stock(scenario: Scenario, asked: Mapping[str, Any]) -> Scenario:
    """Return the scenario with a stock in proportion to the requests that the user gave. Refuse a stock that cannot sell out."""
    requests, stock = asked.get("requests", scenario.requests), asked.get("stock")
    if stock is not None and stock >= requests > 0:
        raise BadInput(
            f"this run: stock={stock} is never sold out by requests={requests}; give a stock below the number of requests"
        )
    if stock is not None or scenario.stock is None or requests == scenario.requests:
        return scenario
    fitted = max(1, scenario.stock * requests // scenario.requests)
    note = f"{counted(fitted, 'item')} instead of {scenario.stock}: the run has {counted(requests, 'request')}"
    return dataclasses.replace(scenario, stock=fitted, notes=(*scenario.notes, note))


def _fit_users(scenario: Scenario, explicit: bool) -> Scenario:
    if scenario.connections is not None:
        _check_connections(scenario.connections, scenario)
    if scenario.rate is not None:
        if explicit:
            raise BadInput(
                "this run: users and rate exclude each other. At a rate, requests arrive however long answers take; "
                "no users wait for answers. Give one of the two"
            )
        return scenario
    if scenario.users < scenario.processes:
        raise BadInput(
            f"this run: {scenario.users} users cannot be split over {scenario.processes} Locust processes; "
            f"give at least {scenario.processes} users, or at most {scenario.users} processes"
        )
    if scenario.users <= scenario.requests:
        return scenario
    if explicit:
        raise BadInput(
            f"this run: {scenario.users} users cannot share {scenario.requests} requests; "
            f"give at most {scenario.requests} users, or at least {scenario.users} requests"
        )
    users, requests = counted(scenario.requests, "user"), counted(scenario.requests, "request")
    note = f"{users} instead of {scenario.users}: the run has only {requests}"
    return dataclasses.replace(scenario, users=scenario.requests, notes=(*scenario.notes, note))


def _check_connections(connections: int, scenario: Scenario) -> None:
    if scenario.rate is None:
        raise BadInput(
            "this run: connections has no effect without rate. Users have one connection each; give a rate as well, or users"
        )
    if connections < scenario.processes:
        raise BadInput(
            f"this run: {counted(connections, 'connection')} cannot be split over {scenario.processes} Locust processes; "
            f"give at least {counted(scenario.processes, 'connection')}"
        )


def _fit_ttl(scenario: Scenario, stage: Stage, asked: Mapping[str, Any]) -> Scenario:
    if stage.ttl_ms is None:
        note = f"{stage.name} has no TTL: ttl_ms={scenario.ttl_ms} is not used"
        notes = (*scenario.notes, note) if "ttl_ms" in asked else scenario.notes
        return dataclasses.replace(scenario, notes=notes)
    scenario = scaled(dataclasses.replace(scenario, ttl_ms=scenario.ttl_ms or stage.ttl_ms), stage, asked)
    if scenario.ttl_ms is not None and scenario.ttl_ms < scenario.retry_ms:
        shorter = ", or a shorter retry" if "retry_ms" in asked else ""  # the form of the page has no retry
        raise BadInput(
            f"this run: ttl_ms={scenario.ttl_ms} is shorter than retry_ms={scenario.retry_ms}. "
            f"A waiter would sleep longer than a whole lease. Give a ttl_ms of at least {scenario.retry_ms}{shorter}"
        )
    return scenario
