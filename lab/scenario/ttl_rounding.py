"""A scenario's times, fitted to a stage whose store keeps no TTL as short as the scenario's.

Scenarios scale the documents' seconds down. Where a store counts in whole seconds, all of a scenario's times are scaled by
the same factor, so that what is longer than the TTL stays longer than the TTL; and the run's notes say so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from app.lock import Stage
from lab.errors import BadInput
from lab.scenario.scenario import Scenario

TIMES = ("work_ms", "wait_ms")


def scaled(scenario: Scenario, stage: Stage, given: Collection[str]) -> Scenario:
    """The scenario with a TTL that the stage can keep. given: what the user asked for, which stays as it is. Raises BadInput."""
    ttl_ms, step_ms = scenario.ttl_ms, stage.ttl_step_ms
    if ttl_ms is None or ttl_ms % step_ms == 0:
        return scenario
    fitting_ms = -(-ttl_ms // step_ms) * step_ms
    if "ttl_ms" in given:
        lower_ms = fitting_ms - step_ms
        choices = f"{lower_ms} or {fitting_ms}" if lower_ms else str(fitting_ms)
        raise BadInput(f"this run: {stage.name} keeps TTLs in steps of {step_ms} ms: give ttl_ms={choices} instead of {ttl_ms}")
    factor = fitting_ms / ttl_ms
    times: dict[str, Any] = {name: round(getattr(scenario, name) * factor) for name in TIMES if name not in given}
    faults = tuple(_longer(fault, factor) for fault in scenario.faults)
    note = (
        f"the TTL in force is {fitting_ms} ms instead of {ttl_ms}, because {stage.name} keeps TTLs in steps of {step_ms} ms; "
        f"work, waits and faults last {factor:.2f} times as long, too"
    )
    return dataclasses.replace(scenario, ttl_ms=fitting_ms, faults=faults, notes=(*scenario.notes, note), **times)


def _longer(fault: Any, factor: float) -> Any:
    """The fault with all its times scaled."""
    times = {
        field.name: round(getattr(fault, field.name) * factor)
        for field in dataclasses.fields(fault)
        if field.name.endswith("_ms")
    }
    return dataclasses.replace(fault, **times)
