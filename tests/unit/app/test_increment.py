"""An increment stamps each step when it happens."""

from __future__ import annotations

from time import monotonic_ns

import msgspec
import pytest

from app.increment import Increment
from app.journal import AnyEvent, Journal, Released
from app.lock import Abandoned, Grant
from app.resource import Write


class Number:
    in_lock_store = False

    def read(self, grant: Grant) -> int:
        return 0

    def write(self, value: int | None, grant: Grant) -> Write:
        return Write(value=1, overwrote=0)

    def parts(self) -> dict[str, int]:
        return {"": 1}


class LostLock:
    """A lock that is lost before the write, and releases all the same."""

    release_began_ns = 0

    def run(self, work):
        try:
            return work(Grant("lock", still_mine=lambda: False))
        finally:
            self.release_began_ns = monotonic_ns()


def test_failed_work_ends_before_its_release(tmp_path):
    """Where the work fails, the grant ends before the lock's own release, not after it."""
    lock, journal = LostLock(), Journal(tmp_path / "journal")

    with pytest.raises(Abandoned):
        Increment("r1", Number(), journal, 0).run(lock)

    decode = msgspec.json.Decoder(AnyEvent).decode
    events = [decode(line) for line in (tmp_path / "journal").read_bytes().splitlines()]
    (released,) = (event for event in events if isinstance(event, Released))
    assert 0 < released.releasing_ns <= lock.release_began_ns
