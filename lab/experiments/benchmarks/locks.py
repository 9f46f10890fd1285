"""The costs of the locks themselves: each stage alone, and compared with what a user would take
instead.

The table of all stages goes to ``reports/bench-locks-<time>/``, together with the speeds that
document 4 claims.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import redis

from app.lock import Claim, Grant, Result, Stage, Work
from app.locks import stages
from app.settings import Settings
from lab.experiments import lock_benchmark_report
from lab.experiments.benchmark import Measured, RatioLimit, pairwise, ratio
from lab.experiments.lock_benchmark import RETRY_MS, WAIT_MS, LockMeasurement, Maker, maker, measure_lock, median_of
from lab.experiments.round_trip import round_trip
from lab.paths import REPORTS
from lab.scenario import reader
from lab.servers import process
from lab.servers.stores import stores
from lab.servers.supervisor import Supervisor

FOR_S = 1.0
ROUNDS = 3  # of the table: between two rounds of one lock, all others are measured, and the speed of the machine changes
MANY = 16


@dataclass(frozen=True)
class RunningStore:
    """A running store: its settings for clients, a function that counts the commands it has executed, and its servers' number."""

    settings: Settings
    count: Callable[[], int]
    servers: int


class RedisPy:
    """redis-py's own lock with the interface of a stage."""

    def __init__(self, store: Any, key: str) -> None:
        self.lock = redis.lock.Lock(store, key, timeout=3, sleep=RETRY_MS / 1000, blocking_timeout=WAIT_MS / 1000)

    def run(self, work: Work[Result]) -> Result:
        with self.lock:
            return work(Grant(""))


def measure(pairs: int) -> Iterator[Measured]:
    supervisor = Supervisor()
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as name, contextlib.closing(supervisor):
        wanted = dict.fromkeys(stage.store for stage in _locks() if stage.store)
        up = {store: _start_store(supervisor, store, Path(name)) for store in wanted}
        _table(up)
        yield _ratio(
            "locks lua",
            "cycles a second of lua with one client, as a share of those of redis-py's own lock",
            RatioLimit(at_least=0.9),
            pairwise(pairs, lambda: _alone(up, "lua").per_s, lambda: _run(up, "redis-py", "redis", RedisPy, 1, False).per_s),
        )
        yield _ratio(
            "locks redlock",
            "time of a cycle of redlock on five nodes, against lua's on one",
            RatioLimit(at_most=2.0),
            pairwise(pairs, lambda: _alone(up, "redlock").p50_ms, lambda: _alone(up, "lua").p50_ms),
        )
        yield _ratio(
            "locks bucketed",
            f"cycles a second of bucketed with 5 ms of work and {MANY} clients, against lua's",
            RatioLimit(at_least=3.0),
            pairwise(max(3, pairs // 2), lambda: _busy(up, "bucketed").per_s, lambda: _busy(up, "lua").per_s),
        )


def _locks() -> list[Stage]:
    """Return the stages that ask a store. A stage that lets the write decide acquires nothing."""
    shelf = stages().values()
    return [one for one in shelf if one.store and Claim.exclusive in one.claims and one.resource != "mysql_versioned"]


def _start_store(supervisor: Supervisor, store: str, folder: Path) -> RunningStore:
    shelf = stores()[store]
    programs = shelf.programs(reader.load("rush"))
    running = [one.wait() for one in [process.start(one, supervisor, folder) for one in programs]]
    settings = Settings.read({}, run="bench", **{f"{store}_url": shelf.url(running)})
    return RunningStore(settings, lambda: sum(shelf.commands(running).values()), len(running))


def _run(
    up: dict[str, RunningStore], name: str, store: str, make: Maker, clients: int, one_key: bool, work_ms: int = 0
) -> LockMeasurement:
    where = up[store]
    found = measure_lock(name, store, where.settings, make, clients, one_key, FOR_S, work_ms, where.count)
    return msgspec.structs.replace(found, servers=where.servers)


def _of(up: dict[str, RunningStore], stage: Stage, clients: int, one_key: bool, work_ms: int = 0) -> LockMeasurement:
    return _run(up, stage.name, stage.store or "", maker(stage), clients, one_key, work_ms)


def _alone(up: dict[str, RunningStore], name: str) -> LockMeasurement:
    return _of(up, stages()[name], 1, False)


def _busy(up: dict[str, RunningStore], name: str) -> LockMeasurement:
    return _of(up, stages()[name], MANY, True, work_ms=5)


def _table(up: dict[str, RunningStore]) -> None:
    """Measure every lock: alone, many clients on a key each, many on one key, with and without
    work; and each store's round trip. Each is measured in several rounds; the table has the median.
    """
    rounds = [list(_round(up)) for _ in range(ROUNDS)]
    found = [median_of(same) for same in zip(*rounds, strict=True)]
    lock_benchmark_report.write(found, FOR_S, REPORTS / f"bench-locks-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")


def _round(up: dict[str, RunningStore]) -> Iterator[LockMeasurement]:
    """Measure everything once."""
    apart, together = ((1, False, 0), (MANY, False, 0)), ((MANY, True, 0), (MANY, True, 5))
    for store in up:
        yield from (_run(up, f"one round trip to {store}", store, round_trip(store), *situation) for situation in apart)
        if store == "redis":
            yield from (_run(up, "redis-py's Lock", store, RedisPy, *situation) for situation in (*apart, *together))
        for stage in _locks():
            if stage.store == store:
                yield from (_of(up, stage, *situation) for situation in (*apart, *together))


def _ratio(name: str, what: str, promise: RatioLimit, both: Iterator[tuple[float, float]]) -> Measured:
    ratios = [one / other for one, other in both]
    return ratio(name, f"{what}, {len(ratios)} pairs", promise, ratios)
