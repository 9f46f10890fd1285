"""One body of tests for every stage, on the real store of each."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest

from app.lock import Claim, Grant, NotAcquired, NotOwner
from app.locks import stages
from app.settings import Settings
from app.stores import lock_store
from app.stores.redis import Redis

ALL = stages()
LOCKS = [
    name
    for name, stage in ALL.items()
    if Claim.exclusive_in_process in stage.claims and stage.resource not in ("one_command", "mysql_versioned", "buckets")
]
SHARED = [name for name in LOCKS if ALL[name].store == "redis"]
LEASED = [name for name in SHARED if ALL[name].ttl_ms]
REENTRANT = [name for name in LOCKS if Claim.reentrant in ALL[name].claims]
HASHES = [name for name in REENTRANT if ALL[name].store == "redis"]  # their key is a hash of owner and count


@pytest.fixture(scope="module")  # a renewal may be on its way when a test ends, and still needs its client
def clients(redis_port, store_url):
    made = {"redis": Redis(port=redis_port, decode_responses=True)}

    def client(name: str):
        if name not in made:
            made[name] = lock_store(name, Settings.read({}, **{f"{name}_url": store_url(name)}))
        return made[name]

    yield client
    for one in made.values():
        one.close()


@pytest.fixture
def store(clients, request):
    """Return the store of the stage that a test uses; Redis if it uses no stage, or a stage without a store."""
    name = getattr(request.node, "callspec", None) and request.node.callspec.params.get("name")
    return clients((name and ALL[name].store) or "redis")


def lock(name, store, key, ttl_ms=3000, wait_ms=5000, retry_ms=5):
    return ALL[name].lock(store, key, ttl_ms, wait_ms, retry_ms)


def in_thread(work) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.parametrize("name", ALL)
def test_run_returns_the_works_result(name, store, key):
    """`run` gives the work a grant, and returns the result of the work."""
    assert lock(name, store, key).run(lambda grant: (isinstance(grant, Grant), grant.still_mine())) == (True, True)


@pytest.mark.parametrize("name", LOCKS)
def test_holder_excludes_others(name, store, key):
    """A holder keeps other requests out until it releases the lock."""
    inside, done = threading.Event(), threading.Event()

    def hold(grant):
        inside.set()
        assert done.wait(5)

    holder = in_thread(lambda: lock(name, store, key).run(hold))
    assert inside.wait(5)
    with pytest.raises(NotAcquired, match="not free within 60 ms"):
        lock(name, store, key, wait_ms=60).run(lambda grant: pytest.fail("two inside"))
    done.set()
    holder.join()

    assert lock(name, store, key, wait_ms=60).run(lambda grant: "in") == "in"


@pytest.mark.parametrize("name", [name for name in LOCKS if name != "zookeeper_no_recheck"])  # its waiters may sleep on
def test_one_thread_at_a_time(name, store, key):
    """Of many threads only one is inside at a time."""
    inside, most, count = [], 0, 0

    def work(grant):
        nonlocal most, count
        inside.append(1)
        most = max(most, len(inside))
        before = count
        time.sleep(0.001)
        count = before + 1
        inside.pop()

    threads = [in_thread(lambda: lock(name, store, key).run(work)) for _ in range(20)]
    for thread in threads:
        thread.join()

    assert (most, count) == (1, 20)


@pytest.mark.parametrize("name", SHARED)
def test_release_leaves_no_key(name, store, key):
    """After a release no key is left in the store, except a fence, which outlives its grants, and a note with a TTL."""
    lock(name, store, key).run(lambda grant: None)

    left = [left for left in store.keys(f"{key}*") if not left.endswith(":fence")]
    assert [one for one in left if name != "idempotent" or one == key or not 0 < store.pttl(one) <= 3000] == []


@pytest.mark.parametrize("name", LEASED)
def test_held_lock_has_its_ttl(name, store, key):
    """A held lock has the TTL that it was given, in milliseconds."""
    assert 2000 < lock(name, store, key, ttl_ms=3000).run(lambda grant: store.pttl(key)) <= 3000


@pytest.mark.parametrize("name", REENTRANT)
def test_reentry_holds_until_the_last_leave(name, store, key):
    """A holder can enter again, and keeps others out until its last release."""

    def attempt() -> bool:
        """Return whether another thread gets the lock now."""
        got = []

        def ask() -> None:
            with suppress(NotAcquired):
                lock(name, store, key, wait_ms=30).run(got.append)

        in_thread(ask).join()
        return bool(got)

    def outer(grant):
        inside = lock(name, store, key, wait_ms=50).run(lambda grant: attempt())
        return inside, attempt()

    assert lock(name, store, key).run(outer) == (False, False)
    assert attempt()


def test_calls_that_are_sent_twice(store, key):
    """With numbered calls, an acquire and a release that are sent twice count once, and the copy of a release is no error."""
    outer, inner = (lock("idempotent", store, key, wait_ms=50) for _ in range(2))
    for one in (outer, inner):
        for script in ("acquire_script", "release_script"):
            send = getattr(one, script)
            setattr(one, script, lambda keys, args, send=send: (send(keys, args), send(keys, args))[1])

    def counts() -> list[str]:
        return [count for field, count in store.hgetall(key).items() if field != "call"]

    def work(grant):
        return counts(), inner.run(lambda grant: counts()), counts()

    assert outer.run(work) == (["1"], ["2"], ["1"])
    assert not store.exists(key)


@pytest.mark.parametrize("name", HASHES)
def test_release_without_a_hold(name, store, key):
    """A release by a request that does not hold the lock is an error."""
    with pytest.raises(NotOwner, match="did not hold it"):
        lock(name, store, key).run(lambda grant: store.delete(key))


@pytest.mark.parametrize("name", ["pubsub", "queued", "fair", "cohort"])
def test_key_of_a_stranger_without_ttl(name, store, key):
    """A key that another program has set, and that does not expire, keeps every request out."""
    store.hset(key, "stranger", 1)

    with pytest.raises(NotAcquired):
        lock(name, store, key, wait_ms=60).run(lambda grant: pytest.fail("entered the lock of a stranger"))


def test_watchdog_renews_the_outer_hold(store, key):
    """The watchdog renews an outer hold after the inner hold has ended."""

    def outer(grant):
        lock("watchdog", store, key, ttl_ms=300).run(lambda grant: None)
        time.sleep(0.6)
        return store.pttl(key)

    assert lock("watchdog", store, key, ttl_ms=300).run(outer) > 0


def test_one_renewal_thread_a_process(store):
    """One thread renews all locks of a process."""
    done, inside = threading.Event(), threading.Barrier(6)
    holders = [
        in_thread(lambda one=one: lock("watchdog", store, f"lab:test:{one}").run(lambda _: (inside.wait(5), done.wait(5))))
        for one in range(5)
    ]
    inside.wait(5)
    watchdogs = [thread for thread in threading.enumerate() if thread.name == "watchdog"]
    done.set()
    for holder in holders:
        holder.join()

    assert len(watchdogs) == 1
