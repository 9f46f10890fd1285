"""Five Redis servers that are independent of each other."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from lab.scenario.requirements import REDIS_NODES
from lab.scenario.scenario import Scenario
from lab.servers.process import Program
from lab.servers.programs.redis import Redis
from lab.servers.programs.shifted_redis import ShiftedRedis
from lab.servers.redis_events import RedisEvents
from lab.servers.server import Reachable, Server
from lab.servers.store import EventRecorder
from lab.servers.stores.redis import commands

__all__ = ["commands", "event_recorders", "joined", "programs", "url"]  # ``commands`` adds the servers' counts


def programs(scenario: Scenario) -> list[Program]:
    kind = ShiftedRedis if scenario.store_clocks else Redis
    return [
        kind(f"lock-redis-{number}", notify=True, persists=scenario.store_persists, syncs=scenario.store_syncs)
        for number in range(1, REDIS_NODES + 1)
    ]


def joined(running: Sequence[Server]) -> AbstractContextManager[None]:
    """Do nothing: the servers are independent of each other."""
    return contextlib.nullcontext()


def url(running: Sequence[Reachable]) -> str:
    return ",".join(one.address for one in running)


def event_recorders(running: Sequence[Server], path: Path) -> list[EventRecorder]:
    return [RedisEvents(one.port, path, one.name, one.killed, one.host) for one in running]
