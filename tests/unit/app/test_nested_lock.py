"""Test nested locks: the facts about the outer lock that the journal keeps."""

import time

import msgspec
import pytest

from app.increment import Increment
from app.journal import AnyEvent, GaveUp, Got, Journal, Released
from app.lock import Grant, NotAcquired
from app.locks import stages
from app.nested_lock import NestedLock
from app.request.context import here
from app.settings import Settings
from app.web import StageEndpoint
from tests.fake_number import Number


class Fake:
    """A lock that notes the times of its steps."""

    def __init__(self, key: str, gives_up: bool = False, valid: bool = True) -> None:
        self.key = key
        self.gives_up = gives_up
        self.valid = valid
        self.asked_ns = self.entered_ns = self.left_ns = self.released_ns = 0

    def run(self, work):
        self.asked_ns = time.monotonic_ns()
        here().sending()
        here().answered("SET", True)
        if self.gives_up:
            raise NotAcquired(self.key, 0)
        self.entered_ns = time.monotonic_ns()
        try:
            return work(Grant(self.key, still_mine=lambda: self.valid))
        finally:
            self.left_ns = time.monotonic_ns()
            here().sending()
            here().answered("DEL", 1)
            self.released_ns = time.monotonic_ns()


@pytest.fixture
def events(tmp_path):
    """Do one increment under a lock, and return the events of its journal."""

    def run(lock) -> list[AnyEvent]:
        journal = Journal(tmp_path / "journal")
        Increment("r1", Number(), journal, 0).run(lambda: lock)
        return read()

    def read() -> list[AnyEvent]:
        decode = msgspec.json.Decoder(AnyEvent).decode
        return [decode(line) for line in (tmp_path / "journal").read_bytes().splitlines()]

    run.read = read
    return run


def event_of(events: list[AnyEvent], kind: type):
    return next(event for event in events if isinstance(event, kind))


def test_times_of_the_outer_lock(events):
    """The grant has the times of both locks: each was sent before it was granted, and the outer lock came first."""
    outer, inner = Fake("outer"), Fake("inner")

    written = events(NestedLock(outer, inner))

    got, released = event_of(written, Got), event_of(written, Released)
    assert (got.key, got.outer_key) == ("inner", "outer")
    assert outer.asked_ns <= outer.entered_ns <= got.outer_got_ns
    assert got.outer_got_ns <= inner.asked_ns <= got.sent_ns <= inner.entered_ns <= got.got_ns
    assert released.releasing_ns <= inner.released_ns <= released.outer_releasing_ns <= outer.left_ns


@pytest.mark.parametrize(
    ("nested", "locks"),
    [("same", ["", "", "", ""]), ("crossed", [":a", ":b", ":b", ":a"])],
)
def test_order_of_two_locks(nested, locks):
    """Two requests take the same lock twice, or two locks in opposite orders."""
    settings = Settings.read({"LAB_STAGE": "local", "LAB_NESTED": nested})
    endpoint = StageEndpoint(stages()["local"], settings, Journal(None))

    taken = [endpoint.lock(request) for request in ("r1", "r2")]

    assert [one.key.removeprefix(endpoint.lock_key) for lock in taken for one in (lock.outer, lock.inner)] == locks


def test_inner_lock_gives_up(events):
    """A request that gives up the inner lock journals the outer lock that it held; the next request has no outer lock."""
    with pytest.raises(NotAcquired):
        events(NestedLock(Fake("outer"), Fake("inner", gives_up=True)))

    assert event_of(events.read(), GaveUp).holding == "outer"
    assert events(Fake("alone"))[-4].outer_key == ""
