"""The stages whose waiters stand in a queue at ZooKeeper, etcd or Redis: their order, and lost places, answers and sessions."""

from __future__ import annotations

import threading

import psutil
import pytest
import requests

from app.failpoints import Injection
from app.failpoints.injection import Failpoints
from app.lock import NotAcquired, NotOwner
from app.locks import stages
from app.request.context import RequestContext, begin, end
from app.settings import Endpoint, Settings
from app.stores import lock_store
from tests.command import wait_for

TTL_MS = 2000  # of a session, which a busy machine must keep alive
STORES = {"zookeeper": "zookeeper", "etcd": "etcd", "fair": "redis"}


@pytest.fixture(params=STORES)
def name(request) -> str:
    return request.param


@pytest.fixture
def connect(name, store_url):
    """Yield a function that makes a client of the store, each as another replica's; all are closed in the end."""
    made, store = [], STORES[name]

    def client():
        made.append(lock_store(store, Settings.read({}, **{f"{store}_url": store_url(store)}), counted=True))
        return made[-1]

    yield client
    for one in made:
        one.close()


def lock(name, store, key, wait_ms=5000):
    return stages()[name].lock(store, key, TTL_MS, wait_ms, 5)


class Holder:
    """Hold the lock until the event is set."""

    def __init__(self, one) -> None:
        self.one, self.inside, self.go, self.ended = one, threading.Event(), threading.Event(), None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        try:
            self.one.run(self.hold)
        except NotOwner as error:
            self.ended = error

    def hold(self, grant) -> None:
        self.grant = grant
        self.inside.set()
        assert self.go.wait(20)

    def leave(self) -> None:
        self.go.set()
        self.thread.join()


def queued(name, store, key) -> int:
    """Return how many requests stand in the queue, with the holder."""
    if name == "zookeeper":
        return len(store.session(TTL_MS).get_children(f"/{key}"))
    if name == "fair":
        return store.exists(key) + store.llen(f"{key}:queue")
    return len(store._servers[0].get_prefix(f"{key}/"))


def test_waiters_enter_in_order(name, connect, key):
    """Waiters of different replicas enter in the order in which they came."""
    stores, order = [connect(), connect()], []
    holder = Holder(lock(name, stores[0], key))
    assert holder.inside.wait(5)
    threads = []
    for number in range(6):
        one = lock(name, stores[number % 2], key)
        threads.append(threading.Thread(target=lambda one=one, number=number: one.run(lambda grant: order.append(number))))
        threads[-1].start()
        wait_for(lambda number=number: queued(name, stores[0], key) == number + 2)
    holder.leave()
    for thread in threads:
        thread.join()

    assert order == [0, 1, 2, 3, 4, 5]


def test_given_up_waiter_leaves_the_queue(name, connect, key):
    """A waiter that gives up, or does not want to wait, leaves the queue, and leaves no thread."""
    store, threads = connect(), set()
    holder = Holder(lock(name, store, key))
    assert holder.inside.wait(5)
    for wait_ms in (60, 60, 0):
        with pytest.raises(NotAcquired):
            lock(name, store, key, wait_ms).run(lambda grant: None)
        if wait_ms and not threads:  # a process listens for all its waiters from the first one on
            threads = {*threading.enumerate()}  # one that an earlier test has left may end meanwhile

    assert queued(name, store, key) == 1
    assert {*threading.enumerate()} <= threads
    holder.leave()
    assert queued(name, store, key) == 0


def test_many_waiters_keep_to_the_pool(name, connect, key, store_url):
    """Thirty-two waiters at once leave no connection beyond the pool."""
    store = connect()
    holder = Holder(lock(name, store, key))
    assert holder.inside.wait(5)
    threads = [threading.Thread(target=lambda: lock(name, store, key, wait_ms=10_000).run(lambda grant: None)) for _ in range(32)]
    for thread in threads:
        thread.start()
    wait_for(lambda: queued(name, store, key) == 33)
    holder.leave()
    for thread in threads:
        thread.join()

    port = Endpoint.parse(store_url(STORES[name])).first.port
    ours = [one for one in psutil.Process().net_connections("tcp") if one.raddr and one.raddr.port == port]
    assert len(ours) <= 64
    assert queued(name, store, key) == 0


def test_queue_place_outlives_the_ttl(name, connect, key):
    """A place in the queue outlives the TTL while its process lives."""
    store, other = connect(), connect()
    holder = Holder(lock(name, store, key))
    assert holder.inside.wait(5)
    waiter = Holder(lock(name, other, key, wait_ms=10_000))
    wait_for(lambda: queued(name, store, key) == 2)

    assert not waiter.inside.wait(1.5 * TTL_MS / 1000)
    assert queued(name, store, key) == 2

    holder.leave()
    assert waiter.inside.wait(5)
    waiter.leave()
    assert (holder.ended, waiter.ended) == (None, None)


def lose_place(name, store, key) -> None:
    """Take the last place out of the queue, as the end of its session does."""
    if name == "etcd":
        store.revoke(store.session(1).lease)
    elif name == "zookeeper":
        session = store.session(TTL_MS)
        session.delete(f"/{key}/{max(session.get_children(f'/{key}'), key=lambda node: node.rpartition('-')[2])}")
    else:
        store.delete(f"{key}:queue:{store.rpop(f'{key}:queue')}")


def test_waiter_whose_place_is_gone_enters_again(name, connect, key):
    """A waiter whose place is lost when the waiter before it gives up joins the queue again, and does not enter."""
    store, other = connect(), connect()
    holder = Holder(lock(name, store, key))
    assert holder.inside.wait(5)
    before = lock(name, store, key, wait_ms=2000)
    giving_up = threading.Thread(target=pytest.raises, args=(NotAcquired, before.run, lambda grant: None))
    giving_up.start()
    wait_for(lambda: queued(name, store, key) == 2)
    waiter = Holder(lock(name, other, key, wait_ms=10_000))
    wait_for(lambda: queued(name, store, key) == 3)

    lose_place(name, other, key)
    giving_up.join()
    wait_for(lambda: queued(name, store, key) == 2)

    assert not waiter.inside.is_set()
    holder.leave()
    assert waiter.inside.wait(10)
    waiter.leave()
    assert (holder.ended, waiter.ended) == (None, None)


@pytest.mark.parametrize("name", ["zookeeper", "etcd"])
def test_lost_answer_leaves_one_place(name, connect, key, tmp_path, monkeypatch):
    """If the answer to joining the queue is lost, one place is left and not two."""
    store, seen = connect(), []
    injection = Injection(name="lose_reply-1", failpoint="acquire.after_first", action="lose_reply")
    monkeypatch.setattr(RequestContext, "failpoints", failpoints := Failpoints(tmp_path, "replica-1"))
    failpoints.pending["lose_reply-1"] = injection
    (tmp_path / "lose_reply-1.json").touch()
    lock(name, store, key).run(lambda grant: None)  # kazoo makes the folder of the queue

    begin("r1")
    lock(name, store, key).run(lambda grant: seen.append(queued(name, store, key)))
    end()

    assert (tmp_path / "lose_reply-1.reached").exists()
    assert seen == [1]
    assert queued(name, store, key) == 0


@pytest.mark.parametrize("name", ["etcd"])
def test_release_is_sent_until_it_is_answered(name, connect, key, monkeypatch):
    """A release without an answer is sent again: a key left behind would block the queue while the session lives."""
    store, errors = connect(), [requests.ConnectionError("no answer")] * 2
    delete = store.delete

    def unanswered(owner):
        if errors:
            raise errors.pop()
        return delete(owner)

    monkeypatch.setattr(store, "delete", unanswered)
    lock(name, store, key).run(lambda grant: None)

    assert (errors, queued(name, store, key)) == ([], 0)
