"""One Redis server, that keeps nothing on disk unless the scenario says so, and tells what happens to its keys."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lab.scenario import Scenario
from lab.service import Running, Service
from lab.services.redis import Redis, info
from lab.store import Witnessing
from lab.witness import Witness

LABS_OWN = ["info", "ping", "hello", "client", "config", "psubscribe", "punsubscribe", "script"]


def services(scenario: Scenario) -> list[Service]:
    return [Redis("lock-redis", notify=True, persists=scenario.store_persists)]


def url(running: Sequence[Running]) -> str:
    return ",".join(one.address for one in running)


def commands(running: Sequence[Running]) -> dict[str, int]:
    calls: dict[str, int] = {}
    for one in running:
        for key, figures in info(one.port, "commandstats").items():
            command = key.removeprefix("cmdstat_").partition("|")[0]
            if command not in LABS_OWN:
                calls[command] = calls.get(command, 0) + int(figures["calls"])
    return calls


def witnesses(running: Sequence[Running], path: Path) -> list[Witnessing]:
    return [Witness(one.port, path) for one in running]
