"""Five Redis servers that know nothing of each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lab.scenario import Scenario
from lab.server import Reachable, Server
from lab.service import Service
from lab.services.redis import Redis
from lab.services.shifted_redis import ShiftedRedis
from lab.store import Witnessing
from lab.stores.redis import commands
from lab.witness import Witness

NODES = 5

__all__ = ["commands", "services", "url", "witnesses"]  # what they count is counted as of one


def services(scenario: Scenario) -> list[Service]:
    kind = ShiftedRedis if scenario.store_clocks else Redis
    return [kind(f"lock-redis-{number}", notify=True, persists=scenario.store_persists) for number in range(1, NODES + 1)]


def url(running: Sequence[Reachable]) -> str:
    return ",".join(one.address for one in running)


def witnesses(running: Sequence[Server], path: Path) -> list[Witnessing]:
    return [Witness(one.port, path, one.name, one.away, one.host) for one in running]
