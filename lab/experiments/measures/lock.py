"""A lock alone, without replicas and load: clients acquire and release it as fast as they can, on one key or on a key each.

Each client is a process of its own. A cycle is one acquire and one release, with no work in between unless the value has some.
"""

from __future__ import annotations

import contextlib
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic_ns
from typing import Any

import redis

from app.journal import Journal
from app.lock import Grant, Lock, NotAcquired, Result, Work
from app.settings import Settings
from app.stores import lock_store
from lab.errors import BadInput, choose_from
from lab.experiments.meter import Meter
from lab.experiments.result import Point
from lab.scenario import reader
from lab.scenario.stages import find_stage
from lab.servers import process
from lab.servers.forked import forked
from lab.servers.stores import store_servers
from lab.servers.supervisor import Supervisor

WAIT_MS, RETRY_MS = 60_000, 30
# by value: how many clients, whether all have one key, and the milliseconds of work
SITUATIONS = {
    "one client": (1, False, 0),
    "16 clients on a key each": (16, False, 0),
    "16 clients on one key": (16, True, 0),
    "16 clients on one key with 5 ms of work": (16, True, 5),
}
REDIS_PY = "redis-py"
Maker = Callable[[Any, str], Lock]  # makes a lock, given the store and the key
Cycle = tuple[int, int, int]  # asked, got, done: CLOCK_MONOTONIC in nanoseconds
Up = tuple[Settings, Callable[[], int]]  # a store that is up: its settings, and what counts the commands that it executed


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

    # the stores that are up, by name
    up: dict[str, Up] = field(default_factory=dict)

    def conditions(self, stage: str, value: str) -> str:
        choose_from("value", value, SITUATIONS, "--values")
        if stage != REDIS_PY and find_stage(stage).store is None:
            raise BadInput(f"the stage {stage} has no store: it cannot be measured without replicas")
        return f"a cycle is acquire and release; clients are processes of this machine; windows of {self.experiment.for_s:g} s"

    def point(self, stage: str, value: str, repeat: int) -> Point:
        clients, is_one_key, work_ms = SITUATIONS[value]
        found = None if stage == REDIS_PY else find_stage(stage)
        name = found.store or "redis" if found else "redis"
        settings, count = self.up[name] if name in self.up else self._started(name)

        def make(store: Any, key: str) -> Lock:
            return found.lock(store, key, found.ttl_ms or 0, WAIT_MS, RETRY_MS) if found else RedisPy(store, key)

        def lock_of(number: int) -> Callable[[], Lock]:
            key = f"lab:bench:{stage}:{'all' if is_one_key else number}"
            store = lock_store(name, settings, Journal(None))
            return lambda: make(store, key)

        competing = [forked(_compete, lock_of, number, work_ms / 1000, self.experiment.for_s) for number in range(clients)]
        pipes = [pipe for _, pipe in competing]
        for pipe in pipes:
            pipe.recv()  # warm
        before = count()
        for pipe in pipes:
            pipe.send("go")
        cycles = [cycle for pipe in pipes for cycle in pipe.recv()]
        commands = count() - before
        for one, _ in competing:
            one.join()
        return Point(stage=stage, value=value, repeat=repeat, figures=_figures(cycles, commands))

    def _started(self, name: str) -> Up:
        """Start the servers of a store."""
        supervisor = self.stack.enter_context(contextlib.closing(Supervisor()))
        folder = Path(self.stack.enter_context(TemporaryDirectory(prefix="lab-lock-"))).resolve()
        shelf = store_servers(name)
        programs = shelf.programs(reader.load("rush"))
        servers = [one.wait() for one in [process.start(one, supervisor, folder) for one in programs]]
        settings = Settings.read({}, run="experiment", **{f"{name}_url": shelf.url(servers)})
        self.up[name] = settings, lambda: sum(shelf.commands(servers).values())
        return self.up[name]


def _compete(lock_of: Callable[[int], Callable[[], Lock]], number: int, work_s: float, for_s: float, pipe: Connection) -> None:
    """Make cycles in a process of its own, and send them."""
    make, cycles = lock_of(number), list[Cycle]()

    def cycle() -> None:
        asked_ns, got_ns = monotonic_ns(), array("q", [0])

        def work(_: Grant) -> None:
            got_ns[0] = monotonic_ns()
            time.sleep(work_s)

        with contextlib.suppress(NotAcquired):
            make().run(work)
            cycles.append((asked_ns, got_ns[0], monotonic_ns()))

    cycle()
    cycles.clear()
    pipe.send("warm")
    pipe.recv()
    until_s = time.monotonic() + for_s
    while time.monotonic() < until_s:
        cycle()
    pipe.send(cycles)


def _figures(cycles: Sequence[Cycle], commands: int) -> dict[str, float]:
    """Return the figures of a window; none if nobody got the lock."""
    if not cycles:
        return {}
    took_ms = sorted((done - asked) / 1e6 for asked, _, done in cycles)
    lasted_s = (max(done for _, _, done in cycles) - min(asked for asked, _, _ in cycles)) / 1e9
    return {
        "cycles_per_s": len(cycles) / lasted_s,
        "cycle_p50_ms": took_ms[len(took_ms) // 2],
        "cycle_p99_ms": took_ms[int(len(took_ms) * 0.99)],
        "wait_max_ms": max((got - asked) / 1e6 for asked, got, _ in cycles),
        "commands_a_cycle": commands / len(cycles),
    }


METER = LockMeter
