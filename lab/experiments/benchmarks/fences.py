"""The price of a fence: increments of one client with a lock alone, with a number, and with a number and its owner."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.journal import Journal
from app.lock import Grant, Stage
from app.locks import stages
from app.resources import resource
from app.settings import Settings
from app.stores import lock_store
from lab.experiments.benchmark import Measured, RatioLimit, pairwise, ratio
from lab.experiments.lock_benchmark import RETRY_MS, WAIT_MS
from lab.servers import process
from lab.servers.programs.redis import RedisServer
from lab.servers.supervisor import Supervisor

FOR_S = 1.0


def measure(pairs: int) -> Iterator[Measured]:
    """Measure increments in this process, on one Redis for the lock and one for the counter."""
    supervisor = Supervisor()
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as name, contextlib.closing(supervisor):
        starting = [process.start(RedisServer(one), supervisor, Path(name)) for one in ("lock-redis", "counter-redis")]
        lock, counter = (one.wait() for one in starting)
        settings = Settings.read({}, run="bench", redis_url=lock.address, counter_url=counter.address)

        def per_s(stage: str) -> Callable[[], float]:
            return lambda: _per_s(stages()[stage], settings)

        yield _ratio(
            "number", "fencing", "watchdog", RatioLimit(at_least=0.7), pairwise(pairs, per_s("fencing"), per_s("watchdog"))
        )
        owner = pairwise(pairs, per_s("fencing_owner"), per_s("fencing"))
        yield _ratio("owner", "fencing_owner", "fencing", RatioLimit(at_least=0.9), owner)


def _per_s(stage: Stage, settings: Settings) -> float:
    """Return how many increments one client makes a second: acquire, read, write, release."""
    store = lock_store(stage.store, settings, Journal(None))
    counter = resource(stage, settings, store)

    def work(grant: Grant) -> Any:
        return counter.write((counter.read(grant) or 0) + 1, grant)

    def increment() -> None:
        stage.lock(store, f"lab:bench:{stage.name}:lock", stage.ttl_ms or 0, WAIT_MS, RETRY_MS).run(work)

    increment()  # warm
    began_s, done = time.monotonic(), 0
    while time.monotonic() < began_s + FOR_S:
        increment()
        done += 1
    return done / (time.monotonic() - began_s)


def _ratio(name: str, of: str, against: str, promise: RatioLimit, both: Iterator[tuple[float, float]]) -> Measured:
    ratios = [one / other for one, other in both]
    what = f"increments a second of {of} with one client, as a share of those of {against}, {len(ratios)} pairs"
    return ratio(f"fences {name}", what, promise, ratios)
