"""The queue of ``fair`` on a real Redis: the order, and the places of waiters that are gone."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from app.lock import NotAcquired
from app.locks import fair
from app.stores.redis import Redis
from tests.command import wait_for

TTL_MS = 900  # a place lives as long, and is renewed every 300 ms


@pytest.fixture
def stores(redis_port) -> Iterator[list[Redis]]:
    """Return the clients of two replicas."""
    made = [Redis(port=redis_port, decode_responses=True) for _ in range(2)]
    yield made
    for one in made:
        one.close()


def lock(store: Redis, key: str, wait_ms: int = 10_000) -> fair.Lock:
    return fair.Lock(store, key, TTL_MS, wait_ms, 1)


def queue(store: Redis, key: str) -> list[str]:
    return store.lrange(f"{key}:queue", 0, -1)


def waiters(stores: list[Redis], key: str, number: int, entered: list[int]) -> list[threading.Thread]:
    """Start waiters of both replicas, one after the other. Each notes when it is inside."""
    threads = []
    for place in range(number):
        one = lock(stores[place % 2], key)
        threads.append(threading.Thread(target=lambda one=one, place=place: one.run(lambda grant: entered.append(place))))
        threads[-1].start()
        wait_for(lambda one=one: getattr(one, "owner", "") in queue(stores[0], key))
    return threads


def test_waiters_of_all_replicas_enter_in_order(stores, key):
    """The waiters of two replicas enter in the order in which they came, and leave nothing in the store."""
    entered: list[int] = []

    threads = lock(stores[0], key).run(lambda grant: waiters(stores, key, 6, entered))
    for thread in threads:
        thread.join()

    assert entered == [0, 1, 2, 3, 4, 5]
    assert stores[0].keys(f"{key}*") == []


def test_places_of_the_dead(stores, key):
    """Names at the head of the queue whose places have ended are dropped, and the first waiter that lives is called."""
    entered: list[int] = []

    def work(grant: object) -> list[threading.Thread]:
        stores[0].rpush(f"{key}:queue", "dead", "dead too")
        return waiters(stores, key, 2, entered)

    for thread in lock(stores[0], key).run(work):
        thread.join()

    assert entered == [0, 1]


def test_dead_head_of_a_free_lock(stores, key):
    """A waiter that died after it was called keeps the others out for the rest of its place, and no longer."""
    entered: list[int] = []
    stores[0].rpush(f"{key}:queue", "called")
    stores[0].set(f"{key}:queue:called", "waits", px=200)

    for thread in waiters(stores, key, 2, entered):
        thread.join()

    assert entered == [0, 1]


def test_place_outlives_its_key_while_the_waiter_asks(stores, key):
    """A waiter asks again before its place ends. So it keeps its place for as long as it waits."""
    entered: list[int] = []

    def work(grant: object) -> tuple[list[threading.Thread], list[str], list[str]]:
        threads = waiters(stores, key, 2, entered)
        before = queue(stores[0], key)
        threading.Event().wait(1.5 * TTL_MS / 1000)
        return threads, before, queue(stores[0], key)

    threads, before, after = lock(stores[0], key).run(work)
    for thread in threads:
        thread.join()

    assert before == after
    assert entered == [0, 1]


def test_waiter_that_gives_up_calls_the_next(stores, key):
    """A waiter that was called just when it gave up calls the next one, which waits without asking."""
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


def test_refused_request_leaves_no_place(stores, key):
    """A request that does not want to wait leaves nothing in the queue."""
    refused: list[str] = []

    def try_it() -> None:
        with pytest.raises(NotAcquired):
            lock(stores[1], key, wait_ms=0).run(lambda grant: None)
        refused.extend(["refused", *queue(stores[0], key)])

    def work(grant: object) -> None:
        other = threading.Thread(target=try_it)
        other.start()
        other.join()

    lock(stores[0], key).run(work)

    assert refused == ["refused"]
