"""Test the locks in one Redis when the work fails, when another owner has the key, and when the holder enters again."""

import sys
import threading

import pytest

from app.lock import NotAcquired, NotOwner
from app.locks import stage, stages
from app.locks.watchdog import RENEWER
from lab.evidence import decided
from tests.fake_redis import PERSISTENT, FakeRedis

RENEWED = ["watchdog", "watchdog_once", "watchdog_cancelled", "watchdog_abort", "pubsub", "queued", "fair", "cohort", "fencing"]
SUBSCRIBED = ["pubsub", "queued", "fair", "cohort"]


@pytest.fixture
def store() -> FakeRedis:
    return FakeRedis()


def lock(name, store, key, wait_ms=0, **lease):
    return stages()[name].lock(store, key, 30_000, wait_ms, 1, **lease)


@pytest.mark.parametrize("name", ["reentrant", "request_owner", *RENEWED])
def test_failed_work_whose_lock_is_gone(name, store, key):
    """If the lock is gone, work that failed raises its own error, and work that succeeded raises the error of the release."""

    def lose(grant):
        store.holds.clear()
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        lock(name, store, key).run(lose)
    with pytest.raises(NotOwner):
        lock(name, store, key).run(lambda grant: store.holds.clear())


@pytest.mark.parametrize("name", RENEWED)
def test_inner_release_keeps_the_renewal(name, store, key):
    """An inner release does not end the renewal of the outer lock."""
    before = len(RENEWER.held)

    def work(grant):
        lock(name, store, key).run(lambda grant: None)
        return len(RENEWER.held)

    assert lock(name, store, key).run(work) == before + 1
    assert len(RENEWER.held) == before


def test_renewal_beyond_the_time_limit(store, key):
    """In `watchdog_cancelled`, the time limit of the acquire is over when the work begins, and no renewal is sent."""
    made = lock("watchdog_cancelled", store, key, wait_ms=60_000)

    def work(grant):
        with pytest.raises(store.Error, match="time limit"):
            made.renew()
        return made in RENEWER.held

    assert made.run(work)


@pytest.mark.parametrize("name", SUBSCRIBED)
def test_wait_without_ttl(name, store, key):
    """A waiter for a key without a TTL waits for one message until its wait time is over, and does not poll."""
    store.holds[key], store.ttls_ms[key] = {"stranger": 1}, PERSISTENT

    with pytest.raises(NotAcquired):
        lock(name, store, key, wait_ms=50).run(lambda grant: None)

    assert len(store.messages.waited_s) == 1


@pytest.mark.parametrize("lease", [{}, {"lease_ms": 30_000}], ids=["renewed", "lease"])
def test_reentry_passes_the_queue(lease, store, key):
    """A holder that acquires its own lock again does not queue behind the requests that wait for it."""
    waiter = threading.Thread(target=lambda: lock("queued", store, key, wait_ms=10_000, **lease).run(lambda grant: None))

    def work(grant):
        waiter.start()
        assert store.messages.waiting.wait(10)
        return lock("queued", store, key, wait_ms=200, **lease).run(lambda grant: "entered again")

    assert lock("queued", store, key, **lease).run(work) == "entered again"
    store.messages.message.set()
    waiter.join()


class TakenStore:
    """A store whose key is always there."""

    tries = 0

    def set(self, *_: object, **__: object) -> bool:
        self.tries += 1
        return False

    def delete(self, *_: object) -> None:
        """Delete nothing: the key stays."""


@pytest.mark.parametrize("name", ["setnx_no_else", str(decided.slips()["retries_by_recursion"])], ids=["no else", "else"])
def test_recursion_ends_with_the_stack(name):
    """If each try is a nested call, a waiter fails when its tries have used up the stack, long before its wait time is over."""
    store = TakenStore()
    lock = stage(name).lock(store, "key", ttl_ms=0, wait_ms=60_000, retry_ms=0)

    with pytest.raises(RecursionError):
        lock.run(lambda grant: grant)

    assert sys.getrecursionlimit() / 2 < store.tries < sys.getrecursionlimit()
