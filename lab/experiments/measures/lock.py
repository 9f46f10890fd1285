"""A lock alone, without replicas and load: clients acquire and release it as fast as they can, on one key or on a key each.

Each client is a process of its own. A cycle is one acquire and one release, with no work in between unless the value has some.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import redis

from app.lock import Grant, Lock, NotAcquired, Result, Work
from app.settings import Settings
from app.stores import lock_store
from lab.errors import BadInput, choose_from
from lab.experiments.measures import Meter
from lab.experiments.result import Point
from lab.language import Language
from lab.scenario import reader
from lab.scenario.stages import find_stage
from lab.servers import process
from lab.servers.forked import FORK, forked
from lab.servers.stores import store_servers
from lab.servers.supervisor import Supervisor
from lab.story.say import text

WAIT_MS, RETRY_MS = 60_000, 30
# by the name that `--values` takes: how many clients, whether they all use one key, and the seconds of work
SITUATIONS = {
    "one client": (1, False, 0.0),
    "16 clients on a key each": (16, False, 0.0),
    "16 clients on one key": (16, True, 0.0),
    "16 clients on one key with 5 ms of work": (16, True, 0.005),
}
REDIS_PY = "redis-py"


class RedisPy:
    """redis-py's own lock with the interface of a stage."""

    def __init__(self, store: Any, key: str) -> None:
        self.lock = redis.lock.Lock(store, key, timeout=3, sleep=RETRY_MS / 1000, blocking_timeout=WAIT_MS / 1000)

    def run(self, work: Work[Result]) -> Result:
        with self.lock:
            return work(Grant(""))


@dataclass
class LockMeter(Meter):
    """Measures a window of a lock. The servers of a store are started once."""

    # by name of a store that is up: the settings for its servers
    up: dict[str, Settings] = field(default_factory=dict)

    def conditions(self, stage: str, value: str, language: Language) -> str:
        choose_from("value", value, SITUATIONS, "--values")
        if stage != REDIS_PY and find_stage(stage).store is None:
            raise BadInput(f"the stage {stage} has no store: it cannot be measured without replicas")
        return text("experiment", "by_cycles", language, for_s=self.experiment.for_s)

    def measure(self, point: Point) -> None:
        stage = point.stage
        clients, is_one_key, work_s = SITUATIONS[point.value]
        found = None if stage == REDIS_PY else find_stage(stage)
        name = (found and found.store) or "redis"
        settings = self.up[name] if name in self.up else self._started(name)

        def lock(number: int) -> Callable[[], Lock]:
            key = f"lab:bench:{stage}:{'all' if is_one_key else number}"
            store = lock_store(name, settings)
            return lambda: found.lock(store, key, found.ttl_ms or 0, WAIT_MS, RETRY_MS) if found else RedisPy(store, key)

        all_warm = FORK.Barrier(clients)
        competing = [forked(_compete, lock, number, work_s, self.experiment.for_s, all_warm) for number in range(clients)]
        point.figures = _figures([cycle for _, pipe in competing for cycle in pipe.recv()])
        for one, _ in competing:
            one.join()

    def _started(self, name: str) -> Settings:
        """Start the servers of a store."""
        supervisor = self.stack.enter_context(contextlib.closing(Supervisor()))
        folder = Path(self.stack.enter_context(TemporaryDirectory(prefix="lab-lock-"))).resolve()
        shelf = store_servers(name)
        servers = [process.start(one, supervisor, folder) for one in shelf.programs(reader.load("rush"))]
        url = shelf.url([one.wait() for one in servers])
        self.up[name] = Settings.read({}, run="experiment", **{f"{name}_url": url})
        return self.up[name]


def _compete(
    lock: Callable[[int], Callable[[], Lock]], number: int, work_s: float, for_s: float, all_warm: Barrier, pipe: Connection
) -> None:
    """Make cycles in a process of its own. Send when each began and ended, in seconds."""
    make, cycles = lock(number), list[tuple[float, float]]()

    def cycle() -> None:
        began_s = time.monotonic()
        with contextlib.suppress(NotAcquired):
            make().run(lambda _: time.sleep(work_s) if work_s else None)
            cycles.append((began_s, time.monotonic()))

    cycle()
    cycles.clear()
    all_warm.wait()
    until_s = time.monotonic() + for_s
    while time.monotonic() < until_s:
        cycle()
    pipe.send(cycles)


def _figures(cycles: list[tuple[float, float]]) -> dict[str, float]:
    """Return the figures of a window; none if the lock was never granted."""
    if not cycles:
        return {}
    took_ms = sorted(1000 * (ended_s - began_s) for began_s, ended_s in cycles)
    lasted_s = max(ended_s for _, ended_s in cycles) - min(began_s for began_s, _ in cycles)
    return {
        "cycles_per_s": len(cycles) / lasted_s,
        "cycle_p50_ms": took_ms[len(took_ms) // 2],
        "cycle_p99_ms": took_ms[int(len(took_ms) * 0.99)],
    }


METER = LockMeter
