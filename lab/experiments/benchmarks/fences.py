"""The price of a fence, and of a fence with an owner."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from app.journal import Journal
from app.lock import Grant, Stage
from app.locks import stages
from app.resources import resource
from app.settings import Settings
from app.stores import lock_store
from lab.experiments.benchmark import Measured, RatioLimit, pairwise, ratio, started
from lab.experiments.lock_benchmark import RETRY_MS, WAIT_MS
from lab.servers.programs.redis import RedisServer

FOR_S = 1.0


def measure(pairs: int) -> Iterator[Measured]:
    """Measure increments in this process, on one Redis for the lock and one for the counter."""
    with started(RedisServer("lock-redis"), RedisServer("counter-redis")) as (lock, counter):
        settings = Settings.read({}, run="bench", redis_url=lock.address, counter_url=counter.address)

        def per_s(stage: str) -> Callable[[], float]:
            return lambda: _per_s(stages()[stage], settings)

        for name, of, base, least in (("number", "fencing", "watchdog", 0.7), ("owner", "fencing_owner", "fencing", 0.9)):
            what = f"increments a second of {of} with one client, as a share of those of {base}"
            yield ratio(f"fences {name}", what, RatioLimit(at_least=least), pairwise(pairs, per_s(of), per_s(base)))


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
