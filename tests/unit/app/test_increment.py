"""Test an increment: it journals each step when it happens."""

from time import monotonic_ns
from types import SimpleNamespace

import msgspec
import pytest

from app.increment import Increment
from app.journal import AnyEvent, GaveUp, Got, Journal, Refusal, Released, SoldOut, Started, Writing, Wrote, WroteAgain
from app.lock import Abandoned, Grant, NotOwner
from app.locks import stages
from app.resources import stock_of_a_grant
from app.settings import Settings
from tests.fake_number import Number


class LostLock:
    """A lock that is lost before the write, and is released. error: the error of the release; None if it succeeds."""

    release_began_ns = 0

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def run(self, work):
        try:
            return work(Grant("lock", still_mine=lambda: False))
        finally:
            self.release_began_ns = monotonic_ns()
            if self.error:
                raise self.error


def lock(*deeds):
    """Return a lock that does its deeds in order, and returns the last work's result. A deed: "work", or an error to raise."""

    def run(work):
        done = None
        for deed in deeds:
            if deed != "work":
                raise deed
            done = work(Grant("lock"))
        return done

    return SimpleNamespace(run=run)


@pytest.fixture
def increment(tmp_path):
    """Return a function that does an increment under a lock; its ``events()`` returns the events in the journal."""

    def run(one, number=None, **about):
        return Increment("r1", number or Number(), Journal(tmp_path / "journal"), 0, **about).run(lambda: one)

    def events() -> list[AnyEvent]:
        return list(map(msgspec.json.Decoder(AnyEvent).decode, (tmp_path / "journal").read_bytes().splitlines()))

    run.events = events
    return run


def of_kind(events, kind):
    return [event for event in events if isinstance(event, kind)]


def test_repeated_write_is_no_write(increment):
    """If the resource applies a request once, doing the work again writes nothing, and gives the same answer."""
    answer = increment(lock("work", "work"), Number(once=True))

    events = increment.events()
    assert [event.turn for event in of_kind(events, Wrote)] == [1]
    assert [event.turn for event in of_kind(events, Refusal)] == [2]
    assert [event.result for event in of_kind(events, Released)] == ["ok", "ok"]
    assert answer.value == 1


@pytest.mark.parametrize("error", [None, NotOwner("lock", "r1"), ConnectionError("the store is down")])
def test_failed_work_ends_before_its_release(increment, error):
    """If the work fails, its grant ends before the lock's release, and the client gets its error even if the release fails."""
    one = LostLock(error)

    with pytest.raises(Abandoned):
        increment(one)

    (released,) = of_kind(increment.events(), Released)
    assert 0 < released.releasing_ns <= one.release_began_ns
    assert released.result.startswith("error: Abandoned")


def test_no_owner_before_the_work(increment):
    """A request is not acknowledged if its lock raises NotOwner before the work began."""
    with pytest.raises(NotOwner):
        increment(lock(NotOwner("lock", "r1")))

    assert [type(event) for event in increment.events()] == [Started, GaveUp]


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_stage_that_exits_is_an_error(increment, error):
    """A stage that raises SystemExit or KeyboardInterrupt fails its request, and the journal has the reason."""
    with pytest.raises(RuntimeError, match=f"the stage raised {type(error).__name__}"):
        increment(lock(error))

    assert of_kind(increment.events(), GaveUp)[0].why == f"{type(error).__name__}: {error}"


def test_writes_are_journaled_at_the_commit(increment):
    """If the transaction of two writes fails, neither write is in the journal; if it succeeds, both are."""
    with pytest.raises(OSError, match="the connection is gone"):
        increment(lock("work", OSError("the connection is gone")), Number(is_pending=True), receipts=Number(is_pending=True))
    assert of_kind(increment.events(), (Wrote, WroteAgain)) == []

    increment(lock("work"), Number(is_pending=True), receipts=Number(is_pending=True))
    assert [type(event) for event in increment.events()][-5:] == [Got, Writing, Wrote, WroteAgain, Released]


@pytest.mark.parametrize(("stock", "sold_out"), [(None, False), (4, False), (3, True)])
def test_sells_only_if_an_item_is_left(increment, stock, sold_out):
    """A request sells an item only if one is left; otherwise it writes nothing, and answers that all are sold."""
    answer = increment(lock("work"), Number(holds=3), stock=stock)

    assert answer.sold_out is sold_out
    done = [SoldOut] if sold_out else [Writing, Wrote]
    assert [type(event) for event in increment.events()][1:] == [Got, *done, Released]


@pytest.mark.parametrize(("stage", "stock"), [("lua", 2000), ("bucketed", 250)])
def test_bucket_sells_its_share(stage, stock):
    """A lock without buckets sells the whole stock, and each of eight buckets sells an eighth of it."""
    assert stock_of_a_grant(stages()[stage], Settings(stock=2000)) == stock


@pytest.mark.parametrize(
    "grant", [{"key": b"lock"}, {"fence": "7"}, {"fence": True}, {"fence": 2**63}, {"fence": -1}, {"owner": None}]
)
def test_grant_that_no_journal_can_have(increment, grant):
    """A grant with a field of a wrong type or size fails its request, and adds no damaged line to the journal."""
    with pytest.raises(TypeError, match=rf"key and owner must be texts, .* in Grant\(.*{next(iter(grant))}="):
        increment(SimpleNamespace(run=lambda work: work(Grant(**{"key": "lock", **grant}))))

    assert not [event for event in increment.events() if isinstance(event, Got)]
