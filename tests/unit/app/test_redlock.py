"""Test Redlock's validity: the work asks the grant for it before it writes."""

from types import ModuleType, SimpleNamespace

import pytest

from app.increment import Increment
from app.journal import Journal
from app.lock import Abandoned, NotAcquired
from app.locks import redlock
from tests.fake_clock import FakeClock

TTL_MS = 1000


class FakeNodes:
    """Five servers, of which ``agree`` say yes. All answers together take ``take_s`` seconds."""

    def __init__(self, clock: FakeClock, agree: int = 5, take_s: float = 0.0) -> None:
        self.clock, self.agree, self.take_s = clock, agree, take_s
        self.released = 0

    def all(self, command: str, *_: object) -> list[str | None]:
        if command == "EVAL":
            self.released += 1
            return ["1"] * 5
        self.clock.sleep(self.take_s)
        return ["OK"] * self.agree + [None] * (5 - self.agree)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def stage(monkeypatch, clock) -> ModuleType:
    monkeypatch.setattr(redlock, "time", clock)
    return redlock


def test_no_validity_left(stage, clock):
    """Five votes that arrive after the TTL grant no lock, and are released."""
    nodes = FakeNodes(clock, take_s=1.1)

    with pytest.raises(NotAcquired):
        stage.Lock(nodes, "key", TTL_MS, 0, 10).run(lambda grant: None)

    assert nodes.released


def test_work_is_abandoned(stage, clock):
    """An increment whose lock loses its validity during the work writes nothing."""
    written = []
    lock = stage.Lock(FakeNodes(clock), "key", TTL_MS, 0, 10)
    slow = SimpleNamespace(read=lambda grant: clock.sleep(2) or 0, write=lambda value, grant: written.append(value))

    with pytest.raises(Abandoned):
        Increment("r0", slow, Journal(None), work_ms=0).run(lambda: lock)

    assert written == []
