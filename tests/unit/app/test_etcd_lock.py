"""The lock of `etcd`, over a store that exists only here."""

from collections import Counter
from types import SimpleNamespace

import pytest

from app.locks import stages

STAGES = [name for name, stage in stages().items() if stage.store == "etcd"]


class Unanswered(Exception):  # noqa: N818 - names what happened
    pass


class Store:
    """Keys in memory, with the calls of the client. It counts the commands."""

    Error = (Unanswered,)

    def __init__(self) -> None:
        self.keys: dict[str, int] = {}  # each key with its create revision, in the order in which they were made
        self.sent: Counter[str] = Counter()
        self.revision = self.sessions = self.lost_replies = 0
        self.present = SimpleNamespace(ended=True)

    def session(self, ttl_s):
        if self.present.ended:
            self.sessions += 1
            self.present = SimpleNamespace(ended=False, lease=self.sessions)
            session = self.present
            session.create = lambda key, queue: self.create(session, key, queue)
        return self.present

    def create(self, session, key, queue):
        if session.ended:
            return None
        self.sent["Txn"] += 1
        self.revision += 1
        self.keys[key] = self.revision
        return self.revision, next(iter(self.keys.values()))

    def end_session(self):
        """End the session as the server does; the client learns of it when it asks."""
        lease = self.present.lease
        self.present.ended = True
        self.keys = {key: at for key, at in self.keys.items() if f"/{lease:x}-" not in key}

    def last_two(self, queue, up_to):
        self.sent["Range"] += 1
        queued = [SimpleNamespace(key=key, revision=at, seen=self.revision) for key, at in self.keys.items() if at <= up_to]
        return queued[::-1][:2]

    def wait_until_deleted(self, key, since, timeout_s):
        self.sent["Watch"] += 1
        self.while_waiting()
        return key not in self.keys

    def while_waiting(self):
        """What happens while a request waits: the key before its own is deleted."""
        self.keys.pop(next(iter(self.keys)))

    def delete(self, key):
        self.sent["DeleteRange"] += 1
        if self.lost_replies:
            self.lost_replies -= 1
            raise Unanswered
        return self.keys.pop(key, None) is not None


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture(params=STAGES)
def make(request, store):
    return lambda wait_ms=1000: stages()[request.param].lock(store, "lab:test", 1000, wait_ms, 1)


def test_waiter_whose_session_ended_enters_again(make, store):
    """A waiter whose session ended enters the queue again, in the next session."""
    store.session(1).create("lab:test/other", "lab:test/")  # the key goes on: it was made in no session of the fake
    store.while_waiting = lambda: store.end_session() if store.sessions == 1 else store.keys.pop("lab:test/other")

    assert make().run(lambda grant: store.sessions) == 2


def test_release_is_sent_until_it_is_answered(make, store):
    """A release without an answer is sent again: a key left behind would block the queue while the session lives."""
    store.lost_replies = 2

    make().run(lambda grant: None)

    assert store.keys == {}
