"""The queue of ``fair`` on a real Redis: the places of waiters that died or gave up. ``test_queues.py`` tests the order."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from app.locks import fair
from app.stores.redis import Redis
from tests.command import wait_for

TTL_MS = 3000  # of a place, which is renewed every second: long enough for a busy machine


@pytest.fixture
def stores(redis_port) -> Iterator[list[Redis]]:
    """Yield the clients of two replicas."""
    made = [Redis(port=redis_port, decode_responses=True) for _ in range(2)]
    yield made
    for one in made:
        one.close()


def lock(store: Redis, key: str, wait_ms: int = 10_000) -> fair.Lock:
    return fair.Lock(store, key, TTL_MS, wait_ms, 1)


def queue(store: Redis, key: str) -> list[str]:
    return store.lrange(f"{key}:queue", 0, -1)


def waiters(stores: list[Redis], key: str, number: int, entered: list[int]) -> list[threading.Thread]:
    """Start waiters of both replicas, each when the one before is in the queue. A waiter notes its number when it is inside."""
    threads = []
    for place in range(number):
        one = lock(stores[place % 2], key)
        threads.append(threading.Thread(target=lambda one=one, place=place: one.run(lambda grant: entered.append(place))))
        threads[-1].start()
        wait_for(lambda one=one: getattr(one, "owner", "") in queue(stores[0], key))
    return threads


def test_places_of_the_dead(stores, key):
    """Dead names at the head of the queue are dropped, and the first live waiter is called."""
    entered: list[int] = []

    def work(grant: object) -> list[threading.Thread]:
        stores[0].rpush(f"{key}:queue", "dead", "dead too")
        return waiters(stores, key, 2, entered)

    for thread in lock(stores[0], key).run(work):
        thread.join()

    assert entered == [0, 1]


def test_dead_head_of_a_free_lock(stores, key):
    """A waiter that died after it was called keeps others out until its place expires, and no longer."""
    entered: list[int] = []
    stores[0].rpush(f"{key}:queue", "called")
    stores[0].set(f"{key}:queue:called", "waits", px=200)

    for thread in waiters(stores, key, 2, entered):
        thread.join()

    assert entered == [0, 1]


def test_waiter_that_gives_up_calls_the_next(stores, key):
    """A waiter that is called just when it gives up calls the next waiter, which waits without asking."""
    entered: list[int] = []
    gone = lock(stores[0], key)
    gone.owner = "gone"
    lock(stores[1], key).run(lambda grant: gone.is_granted())  # it stands in the queue, and the release has called it
    threads = waiters(stores, key, 1, entered)
    stores[0].pexpire(f"{key}:queue:gone", 60_000)

    assert entered == []
    gone.leave()
    threads[0].join()

    assert entered == [0]
