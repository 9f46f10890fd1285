"""An increment stamps each step when it happens."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic_ns

import msgspec
import pytest

from app.increment import Increment
from app.journal import AnyEvent, GaveUp, Got, Journal, Refusal, Released, SoldOut, Started, Writing, Wrote, WroteAgain
from app.lock import Abandoned, Grant, NotAcquired, NotOwner
from app.locks import stages
from app.resource import Write
from app.resources import stock_of_a_grant
from app.settings import Settings
from tests.fake_number import Number


class LostLock:
    """A lock that is lost before the write, and releases all the same."""

    release_began_ns = 0

    def run(self, work):
        try:
            return work(Grant("lock", still_mine=lambda: False))
        finally:
            self.release_began_ns = monotonic_ns()


class Once(Number):
    """A number that adds once, and answers a second write with the first."""

    def __init__(self) -> None:
        self.writes = 0

    def write(self, value: int | None, grant: Grant) -> Write:
        self.writes += 1
        return Write(value=1, overwrote=0, repeated=self.writes > 1)


class WorksTwice:
    """A lock that does the work twice."""

    def run(self, work):
        work(Grant("lock"))
        return work(Grant("lock"))


def test_repeated_write_is_no_write(tmp_path):
    """Where the resource applies a request once, the second doing of the work writes nothing, and gives the same answer."""
    answer = Increment("r1", Once(), Journal(tmp_path / "journal"), 0).run(WorksTwice())

    events = list(map(msgspec.json.Decoder(AnyEvent).decode, (tmp_path / "journal").read_bytes().splitlines()))
    assert [event.turn for event in events if isinstance(event, Wrote)] == [1]
    assert [event.turn for event in events if isinstance(event, Refusal)] == [2]
    assert [event.result for event in events if isinstance(event, Released)] == ["ok", "ok"]
    assert answer.wrote == 1


def test_failed_work_ends_before_its_release(tmp_path):
    """Where the work fails, the grant ends before the lock's own release, not after it."""
    lock, journal = LostLock(), Journal(tmp_path / "journal")

    with pytest.raises(Abandoned):
        Increment("r1", Number(), journal, 0).run(lock)

    decode = msgspec.json.Decoder(AnyEvent).decode
    events = [decode(line) for line in (tmp_path / "journal").read_bytes().splitlines()]
    (released,) = (event for event in events if isinstance(event, Released))
    assert 0 < released.releasing_ns <= lock.release_began_ns


class FailsInRelease(LostLock):
    """A lock whose release fails after the work has failed, in a plain `finally`."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def run(self, work):
        try:
            return super().run(work)
        finally:
            raise self.error


@pytest.mark.parametrize("error", [NotOwner("lock", "r1"), ConnectionError("the store is down")], ids=["not_owner", "store"])
def test_failed_release_does_not_hide_the_work(tmp_path, error):
    """The client gets the error of the work, and no acknowledgement, also where the release fails after it."""
    with pytest.raises(Abandoned):
        Increment("r1", Number(), Journal(tmp_path / "journal"), 0).run(FailsInRelease(error))

    events = map(msgspec.json.Decoder(AnyEvent).decode, (tmp_path / "journal").read_bytes().splitlines())
    (released,) = (event for event in events if isinstance(event, Released))
    assert released.result.startswith("error: Abandoned")


class NeverBegins:
    """A lock that finds that it is not its own before the work: the inner of two is released first."""

    def run(self, work):
        raise NotOwner("lock", "r1")


def test_no_owner_before_the_work(tmp_path):
    """A request whose work never began is not acknowledged."""
    with pytest.raises(NotOwner):
        Increment("r1", Number(), Journal(tmp_path / "journal"), 0).run(NeverBegins())

    events = list(map(msgspec.json.Decoder(AnyEvent).decode, (tmp_path / "journal").read_bytes().splitlines()))
    assert [type(event) for event in events] == [Started, GaveUp]


class TriesAgain:
    """A lock that forgets the error of its work, and then fails in another way."""

    def run(self, work):
        with suppress(Abandoned):
            work(Grant("lock", still_mine=lambda: False))
        raise NotAcquired("lock", 10)


def test_error_of_an_earlier_turn_is_past(tmp_path):
    """The error of a turn that the lock has dealt with is not the answer of the request."""
    with pytest.raises(NotAcquired):
        Increment("r1", Number(), Journal(tmp_path / "journal"), 0).run(TriesAgain())


class Ends:
    """A lock that ends its thread before it asks for anything."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def run(self, work):
        raise self.error


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_stage_that_exits_is_an_error(tmp_path, error):
    """A stage that would end its process fails its request, and the reason is on record."""
    with pytest.raises(RuntimeError, match=f"the stage raised {type(error).__name__}"):
        Increment("r1", Number(), Journal(tmp_path / "journal"), 0).run(Ends(error))

    assert f'"why":"{type(error).__name__}: ' in (tmp_path / "journal").read_text(encoding="utf-8")


class Pending(Number):
    """A number in a transaction: no write is valid before the release."""

    def write(self, value: int | None, grant: Grant) -> Write:
        return Write(value=1, overwrote=0, pending=True)


class Transaction:
    """A lock whose release is the end of a transaction, which fails here."""

    def run(self, work):
        work(Grant("lock"))
        raise OSError("the connection is gone")


def events(path) -> list[object]:
    decode = msgspec.json.Decoder(AnyEvent).decode
    return [decode(line) for line in path.read_bytes().splitlines()]


def test_undone_writes_are_not_journaled(tmp_path):
    """Where the transaction of two writes fails, neither write is in the journal."""
    with pytest.raises(OSError, match="the connection is gone"):
        Increment("r1", Pending(), Journal(tmp_path / "journal"), 0, receipts=Pending()).run(Transaction())

    assert not [event for event in events(tmp_path / "journal") if isinstance(event, (Wrote, WroteAgain))]


def test_writes_are_journaled_at_the_commit(tmp_path):
    """Where the transaction of two writes succeeds, both are in the journal."""

    class Sound:
        def run(self, work):
            return work(Grant("lock"))

    Increment("r1", Pending(), Journal(tmp_path / "journal"), 0, receipts=Pending()).run(Sound())

    assert [type(event) for event in events(tmp_path / "journal")][1:] == [Got, Writing, Wrote, WroteAgain, Released]


class Shop(Number):
    """A shop that has sold three items."""

    def read(self, grant: Grant) -> int:
        return 3

    def write(self, value: int | None, grant: Grant) -> Write:
        return Write(value=4, overwrote=3)


class Held:
    """A lock that grants at once."""

    def run(self, work):
        return work(Grant("lock"))


@pytest.mark.parametrize(("stock", "sold_out"), [(None, False), (4, False), (3, True)])
def test_sells_only_what_is_left(tmp_path, stock, sold_out):
    """A request sells an item only if one is left. Otherwise it writes nothing, and is answered."""
    answer = Increment("r1", Shop(), Journal(tmp_path / "journal"), 0, stock=stock).run(Held())

    assert answer.sold_out is sold_out
    done = [SoldOut] if sold_out else [Writing, Wrote]
    assert [type(event) for event in events(tmp_path / "journal")][1:] == [Got, *done, Released]


@pytest.mark.parametrize(("stage", "stock"), [("lua", 2000), ("bucketed", 250)])
def test_bucket_sells_its_share(stage, stock):
    """A stock of eight buckets is an eighth for each."""
    assert stock_of_a_grant(stages()[stage], Settings(stock=2000)) == stock
