"""Five Redis servers that are independent of each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lab.scenario.requirements import REDIS_NODES
from lab.scenario.scenario import Scenario
from lab.servers.process import ServerProgram
from lab.servers.server import Server
from lab.servers.store import EventRecorder, addresses
from lab.servers.stores.redis import RedisEvents, commands, primary_named

__all__ = ["commands", "event_recorders", "programs", "url"]  # ``commands`` adds the servers' counts
url = addresses


def programs(scenario: Scenario) -> list[ServerProgram]:
    return [primary_named(f"lock-redis-{number}", scenario) for number in range(1, REDIS_NODES + 1)]


def event_recorders(running: Sequence[Server], path: Path) -> list[EventRecorder]:
    return [RedisEvents(one.port, path, one.name, one.killed, one.host) for one in running]
