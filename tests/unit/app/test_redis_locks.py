"""What the locks in one Redis do when a release fails, when a stranger has the key, and when they are entered again."""

from __future__ import annotations

import threading
from uuid import uuid4

import pytest

from app.lock import NotAcquired
from app.locks import stages
from app.locks.watchdog import RENEWER
from tests.fake_redis import PERSISTENT, FakeRedis

RENEWED = ["watchdog", "watchdog_abort", "pubsub", "queued", "fencing"]
SUBSCRIBED = ["pubsub", "queued"]


@pytest.fixture
def store() -> FakeRedis:
    return FakeRedis()


@pytest.fixture
def key() -> str:
    return uuid4().hex


def lock(name, store, key, wait_ms=0, **lease):
    return stages()[name].lock(store, key, 30_000, wait_ms, 1, **lease)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", RENEWED)
def test_failed_release_ends_the_renewal(name, when, store, key):
    """A lock is renewed no longer when its release has begun, also if the release fails or its reply is lost."""
    before = len(RENEWER.held)
    store.fails = ("release", when)

    with pytest.raises(ConnectionError):
        lock(name, store, key).run(lambda grant: None)

    assert len(RENEWER.held) == before


@pytest.mark.parametrize("name", RENEWED)
def test_inner_release_keeps_the_renewal(name, store, key):
    """An inner release leaves the renewal of the outer lock as it is."""
    before = len(RENEWER.held)

    def work(grant):
        lock(name, store, key).run(lambda grant: None)
        return len(RENEWER.held)

    assert lock(name, store, key).run(work) == before + 1
    assert len(RENEWER.held) == before


@pytest.mark.parametrize("name", SUBSCRIBED)
def test_key_of_a_stranger_without_ttl(name, store, key):
    """A key without a TTL, which another program has set, keeps every request out."""
    store.holds[key], store.ttls_ms[key] = {"stranger": 1}, PERSISTENT

    with pytest.raises(NotAcquired):
        lock(name, store, key, wait_ms=20).run(lambda grant: pytest.fail("entered the lock of a stranger"))


@pytest.mark.parametrize("name", SUBSCRIBED)
def test_wait_without_ttl(name, store, key):
    """A waiter at a key without a TTL waits for a message for as long as it is ready to wait, and does not poll."""
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


@pytest.mark.parametrize("name", ["request_owner", *RENEWED])
def test_lock_of_a_failed_request(name, store, key):
    """A request does not enter by the hold of a request that failed before it on the same thread."""
    store.fails = ("release", "before")
    with pytest.raises(ConnectionError):
        lock(name, store, key).run(lambda grant: None)
    store.fails = ("", "")

    with pytest.raises(NotAcquired):
        lock(name, store, key).run(lambda grant: pytest.fail("entered the lock of another request"))


def test_thread_as_owner(store, key):
    """With a thread as the owner, the next request on the thread of a failed one enters by its hold."""
    store.fails = ("release", "before")
    with pytest.raises(ConnectionError):
        lock("reentrant", store, key).run(lambda grant: None)
    store.fails = ("", "")

    assert lock("reentrant", store, key).run(lambda grant: "entered") == "entered"
    assert store.holds[key], "the hold of the failed request stays"
