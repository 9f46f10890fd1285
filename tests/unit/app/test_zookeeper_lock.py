"""Test the lock of `zookeeper` with a session in memory."""

import contextlib
from types import SimpleNamespace

import pytest

from app.lock import NotAcquired, NotOwner
from app.locks import stages


class Session:
    """Nodes in memory, with the methods of the client's session."""

    class Unanswered(Exception):  # noqa: N818 - the client's name
        pass

    def __init__(self) -> None:
        self.nodes: dict[str, SimpleNamespace] = {}
        self.made = 0
        self.connected = True
        self.answers = True

    def session(self, timeout_ms):
        return self

    def create_ephemeral_sequential(self, path):
        self.made += 1
        name = f"{path}{self.made:010}"
        self.nodes[name] = SimpleNamespace(czxid=self.made)
        return name, self.nodes[name]

    def get_children(self, path):
        return [name.rpartition("/")[2] for name in self.nodes if name.startswith(path)]

    def exists(self, path, watch=None):
        if not self.answers:
            raise self.Unanswered
        return self.nodes.get(path)

    def delete(self, path):
        return self.nodes.pop(path, None) is not None


@pytest.fixture
def store() -> Session:
    return Session()


def lock(name, store, wait_ms=0):
    return stages()[name].lock(store, "lab:test", 1000, wait_ms, 5)


@pytest.mark.parametrize(("name", "gets_it"), [("zookeeper", True), ("zookeeper_no_recheck", False)])
def test_node_before_goes_before_the_watch(name, gets_it, store, monkeypatch):
    """A waiter whose predecessor leaves between the look and the watch gets the lock only if it uses the answer of `exists`."""
    predecessor, _ = store.create_ephemeral_sequential("/lab:test/other-")
    look = store.exists

    def exists(path, watch=None):
        store.delete(predecessor)
        return look(path, watch)

    monkeypatch.setattr(store, "exists", exists)

    with contextlib.nullcontext() if gets_it else pytest.raises(NotAcquired):
        lock(name, store, wait_ms=100).run(lambda grant: None)
    assert store.nodes == {}


def suspend(store):
    store.connected = False


def end(store):
    store.nodes.clear()


def fall_silent(store):
    store.answers = False


@pytest.mark.parametrize(("event", "expected"), [(None, True), (suspend, False), (end, False), (fall_silent, False)])
def test_holder_heeds_its_session(store, event, expected):
    """A grant is no longer valid if the client is suspended, if its node is gone, or if no server answers."""

    def work(grant):
        if event is not None:
            event(store)
        return grant.still_mine()

    seen = []
    with contextlib.suppress(NotOwner):
        lock("zookeeper_abort", store).run(lambda grant: seen.append(work(grant)))

    assert seen == [expected]
