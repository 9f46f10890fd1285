"""Round the TTL of a scenario up to a TTL that the stage can keep, and scale the other times in proportion.

Scenarios use milliseconds where the documents use seconds. Some stores count TTLs in whole seconds. For such a store, all
times of the scenario grow by the same factor: a time that is longer than the TTL stays longer than the TTL. A note of the
run records the factor.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

from msgspec.structs import asdict, replace

from app.lock import Stage
from lab.errors import BadInput
from lab.scenario.fault import Fault
from lab.scenario.options import OPTIONS
from lab.scenario.scenario import Scenario


def scaled(scenario: Scenario, stage: Stage, given: Collection[str]) -> Scenario:
    """Return the scenario with a TTL that the stage can keep. Raises BadInput.

    given: the names of the options that the user gave; their values stay as they are.
    """
    ttl_ms, step_ms = scenario.ttl_ms, stage.ttl_step_ms
    if ttl_ms is None or ttl_ms % step_ms == 0:
        return scenario
    fitting_ms = -(-ttl_ms // step_ms) * step_ms
    if "ttl_ms" in given:
        lower_ms = fitting_ms - step_ms
        choices = f"{lower_ms} or {fitting_ms}" if lower_ms else str(fitting_ms)
        raise BadInput(f"this run: {stage.name} keeps TTLs in steps of {step_ms} ms; give ttl_ms={choices} instead of {ttl_ms}")
    factor = fitting_ms / ttl_ms
    grow = [option.name for option in OPTIONS.values() if option.scales_with_ttl and option.name not in given]
    times: dict[str, Any] = {name: round(getattr(scenario, name) * factor) for name in grow}
    faults = tuple(_longer(fault, factor) for fault in scenario.faults)
    note = (
        f"the TTL in force is {fitting_ms} ms instead of {ttl_ms}, because {stage.name} keeps TTLs in steps of {step_ms} ms; "
        f"work, waits and faults last {factor:.2f} times as long, too"
    )
    return dataclasses.replace(scenario, ttl_ms=fitting_ms, faults=faults, notes=(*scenario.notes, note), **times)


def _longer(fault: Fault, factor: float) -> Fault:
    """Return the fault with all its times scaled."""
    return replace(fault, **{name: round(value * factor) for name, value in asdict(fault).items() if name.endswith("_ms")})
