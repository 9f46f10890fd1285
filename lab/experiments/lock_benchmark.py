"""A lock alone, without replicas and load: clients acquire and release it as fast as they can, on
one key or on a key each.

Each client is a process of its own. A cycle is one acquire and one release, with no work in between
unless ``work_ms`` is given.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import monotonic_ns
from typing import Any

import msgspec
import redis

from app.journal import Journal
from app.lock import Grant, Lock, NotAcquired, Result, Stage, Work
from app.settings import Settings
from app.stores import lock_store
from lab.interrupts import forked

WAIT_MS = 60_000
RETRY_MS = 30
KEPT_FOR_MS = 30_000  # of the session at ZooKeeper, which answers no query without one
ASK: dict[str, Callable[[Any], object]] = {  # one query to each store
    "redis": lambda store: store.ping(),
    "redis_nodes": lambda store: store.all("PING"),
    "zookeeper": lambda store: store.session(KEPT_FOR_MS).exists("/"),
    "etcd": lambda store: store.last_two("lab:bench:nobody", 1),
    "mysql": lambda store: store.query("SELECT 1"),
}


class LockMeasurement(msgspec.Struct, kw_only=True):
    """One stage (or a lock that it is compared with), with a number of clients, on one key or on a key each."""

    stage: str
    store: str | None
    clients: int
    one_key: bool  # all clients use one key
    work_ms: int
    cycles: int  # how many cycles all clients made together
    per_s: float  # cycles a second, all clients together
    p50_ms: float
    p99_ms: float
    longest_wait_ms: float
    overtaken: float  # how many later requesters got the lock before a grant, on average
    commands: float  # commands for each cycle, as the store counted them
    servers: int = 1  # how many servers the store had
    # the least and the largest cycles a second of all rounds; 0 of a single one
    least_per_s: float = 0
    most_per_s: float = 0


Maker = Callable[[Any, str], Lock]
Cycle = tuple[int, int, int]  # asked, got, done: CLOCK_MONOTONIC in nanoseconds


@dataclass(frozen=True)
class ClientSetup:
    """The data with which a client process makes its lock."""

    store: str | None
    settings: Settings
    make: Maker  # makes the lock, given the store and the key
    key: str
    work_ms: int


class RoundTrip:
    """A stand-in for a lock: one query and its answer, no exclusion. No lock of that store can be faster."""

    def __init__(self, ask: Callable[[], object]) -> None:
        self.ask = ask

    def run(self, work: Work[Result]) -> Result:
        self.ask()
        return work(Grant(""))


def round_trip(store_name: str) -> Maker:
    """Return a function that makes a round trip to this store, given its client and a key, which is ignored."""
    return lambda store, _key: RoundTrip(lambda: ASK[store_name](store))


class RedisPy:
    """redis-py's own lock with the interface of a stage."""

    def __init__(self, store: Any, key: str) -> None:
        self.lock = redis.lock.Lock(store, key, timeout=3, sleep=RETRY_MS / 1000, blocking_timeout=WAIT_MS / 1000)

    def run(self, work: Work[Result]) -> Result:
        with self.lock:
            return work(Grant(""))


def maker(stage: Stage) -> Maker:
    """Return a function that makes locks of a stage with its own TTL."""
    return lambda store, key: stage.lock(store, key, stage.ttl_ms or 0, WAIT_MS, RETRY_MS)


def measure_lock(
    name: str,
    store: str | None,
    settings: Settings,
    make: Maker,
    clients: int,
    one_key: bool,
    for_s: float,
    work_ms: int,
    count: Callable[[], int],
) -> LockMeasurement:
    """Run the clients for a while. count: returns how many commands the store has executed so far."""
    keys = [f"lab:bench:{name}:{'all' if one_key else number}" for number in range(clients)]
    competing = [forked(_compete, ClientSetup(store, settings, make, key, work_ms), for_s) for key in keys]
    pipes = [pipe for _, pipe in competing]
    for pipe in pipes:
        pipe.recv()  # warm
    before = count()
    for pipe in pipes:
        pipe.send("go")
    cycles = [cycle for pipe in pipes for cycle in pipe.recv()]
    commands = count() - before
    for process, _ in competing:
        process.join()
    return _summary(name, store, clients, one_key, work_ms, cycles, commands)


def median_of(rounds: Sequence[LockMeasurement]) -> LockMeasurement:
    """Return the round with the median speed, with the least and the largest speed of all rounds."""
    in_order = sorted(rounds, key=lambda one: one.per_s)
    middle = in_order[len(in_order) // 2]
    return msgspec.structs.replace(middle, least_per_s=in_order[0].per_s, most_per_s=in_order[-1].per_s)


def _compete(client: ClientSetup, for_s: float, pipe: Connection) -> None:
    store = lock_store(client.store, client.settings, Journal(None))
    cycles: list[Cycle] = []

    def cycle() -> None:
        asked_ns, got_ns = monotonic_ns(), array("q", [0])

        def work(_: Grant) -> None:
            got_ns[0] = monotonic_ns()
            if client.work_ms:
                time.sleep(client.work_ms / 1000)

        try:
            client.make(store, client.key).run(work)
        except NotAcquired:
            return
        cycles.append((asked_ns, got_ns[0], monotonic_ns()))

    cycle()
    cycles.clear()
    pipe.send("warm")
    pipe.recv()
    until_s = time.monotonic() + for_s
    while time.monotonic() < until_s:
        cycle()
    pipe.send(cycles)


def _summary(
    name: str, store: str | None, clients: int, one_key: bool, work_ms: int, cycles: Sequence[Cycle], commands: int
) -> LockMeasurement:
    took = sorted((done - asked) / 1e6 for asked, _, done in cycles) or [0.0]
    lasted_s = (max(done for _, _, done in cycles) - min(asked for asked, _, _ in cycles)) / 1e9 if cycles else 0.0
    per_s = round(len(cycles) / lasted_s, 1) if lasted_s else 0.0
    return LockMeasurement(
        stage=name,
        store=store,
        clients=clients,
        one_key=one_key,
        work_ms=work_ms,
        cycles=len(cycles),
        per_s=per_s,
        p50_ms=round(took[len(took) // 2], 3),
        p99_ms=round(took[min(len(took) - 1, int(len(took) * 0.99))], 3),
        longest_wait_ms=round(max(((got - asked) / 1e6 for asked, got, _ in cycles), default=0.0), 3),
        overtaken=round(overtakes(cycles) / len(cycles), 2) if one_key and cycles else 0.0,
        commands=round(commands / len(cycles), 2) if cycles else 0.0,
    )


def overtakes(cycles: Sequence[Cycle]) -> int:
    """Return how many pairs of cycles there are in which the later requester got the lock first."""
    earlier: list[int] = []
    number = 0
    for asked, _, _ in sorted(cycles, key=lambda cycle: cycle[1]):
        number += len(earlier) - bisect_left(earlier, asked)
        insort(earlier, asked)
    return number
