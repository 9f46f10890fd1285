"""All stages without replicas; lua compared with redis-py's lock.

The table of all stages goes to ``reports/bench-locks-<time>/``, together with the speeds that
document 4 claims.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import msgspec

from app.lock import Claim, Stage
from app.locks import stages
from lab.experiments import lock_benchmark_report
from lab.experiments.benchmark import Measured, RatioLimit, RunningStore, pairwise, ratio, store_up
from lab.experiments.lock_benchmark import LockMeasurement, Maker, RedisPy, maker, measure_lock, median_of, round_trip
from lab.experiments.measurement import new_place

FOR_S = 1.0
ROUNDS = 3  # of the table: between two rounds of one lock, all others are measured, and the speed of the machine changes
MANY = 16


def measure(pairs: int) -> Iterator[Measured]:
    with contextlib.ExitStack() as stack:
        wanted = dict.fromkeys(stage.store for stage in _locks() if stage.store)
        up = {store: stack.enter_context(store_up(store)) for store in wanted}
        _table(up)
        what = "cycles a second of lua with one client, as a share of those of redis-py's own lock"
        both = pairwise(pairs, lambda: _alone(up, "lua").per_s, lambda: _run(up, "redis-py", "redis", RedisPy, 1, False).per_s)
        yield ratio("locks lua", what, RatioLimit(at_least=0.9), both)
        what = "time of a cycle of redlock on five nodes, against lua's on one"
        both = pairwise(pairs, lambda: _alone(up, "redlock").p50_ms, lambda: _alone(up, "lua").p50_ms)
        yield ratio("locks redlock", what, RatioLimit(at_most=2.0), both)
        what = f"cycles a second of bucketed with 5 ms of work and {MANY} clients, against lua's"
        both = pairwise(max(3, pairs // 2), lambda: _busy(up, "bucketed").per_s, lambda: _busy(up, "lua").per_s)
        yield ratio("locks bucketed", what, RatioLimit(at_least=3.0), both)


def _locks() -> list[Stage]:
    """Return the stages that ask a store. A stage that lets the write decide acquires nothing."""
    shelf = stages().values()
    return [one for one in shelf if one.store and Claim.exclusive in one.claims and one.resource != "mysql_versioned"]


def _run(
    up: dict[str, RunningStore], name: str, store: str, make: Maker, clients: int, one_key: bool, work_ms: int = 0
) -> LockMeasurement:
    where = up[store]
    found = measure_lock(name, store, where.settings, make, clients, one_key, FOR_S, work_ms, where.count)
    return msgspec.structs.replace(found, servers=len(where.servers))


def _of(up: dict[str, RunningStore], stage: Stage, clients: int, one_key: bool, work_ms: int = 0) -> LockMeasurement:
    return _run(up, stage.name, stage.store or "", maker(stage), clients, one_key, work_ms)


def _alone(up: dict[str, RunningStore], name: str) -> LockMeasurement:
    return _of(up, stages()[name], 1, False)


def _busy(up: dict[str, RunningStore], name: str) -> LockMeasurement:
    return _of(up, stages()[name], MANY, True, work_ms=5)


def _table(up: dict[str, RunningStore]) -> None:
    """Measure every lock: alone, many clients on a key each, many on one key, with and without work; and each store's round trip.

    Each is measured in several rounds. The table has the median, and is written after each round.
    """
    rounds, into = list[list[LockMeasurement]](), new_place("bench-locks")
    for _ in range(ROUNDS):
        rounds.append(list(_round(up)))
        lock_benchmark_report.write([median_of(same) for same in zip(*rounds, strict=True)], FOR_S, into)


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
