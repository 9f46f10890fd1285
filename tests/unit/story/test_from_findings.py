"""Test the facts about claims that break without a loss, from histories made by hand."""

from typing import Any

import pytest

from lab.story.from_findings import claim_story
from lab.story.happening import Happening, Kind
from tests.builders import Made


def happened(made: Made, final: int, tests: str, **about: Any) -> tuple[Happening, ...]:
    one = claim_story(made.analyse(final=final, tests=tests, **about))
    assert one is not None
    return one.happened


def waits(made: Made, request: str, asked_ms: int, got_ms: int, number: int) -> Made:
    """Add an increment whose lock was granted some time after the request asked for it."""
    return made.increment(request, number, number, at=got_ms, asked=asked_ms)


def left(made: Made, next_ms: int) -> Made:
    """Add a request that fails and leaves its lock behind, and the next request."""
    made.increment("left", 0, 0, at=(1, 2, 3, 4), released=5, result="error: not sent", release_commands=0, answer="")
    made.key_event("hincrby", 1)
    made.fault("fail_command", "left", 4, 4, "release.before_last")
    return made.increment("next", 1, 1, at=next_ms)


def test_most_overtaken_request(made):
    """The facts have the request that was overtaken most, with the number of times."""
    waits(waits(waits(made, "b", 40, 45, 0), "c", 50, 55, 1), "a", 10, 100, 2)

    (one,) = happened(made, 3, "fair")

    assert (one.kind, one.actor, one.place, one.for_ms, one.number, one.of) == (Kind.OVERTAKEN, "a", "replica-1", 90, 2, 3)


def test_longest_idle_lock(made):
    """The facts have the longest time in which a free lock was unused, and the request that took it after that."""
    waits(waits(waits(made, "a", 10, 20, 0), "b", 11, 30, 1), "c", 12, 90, 2)

    half, longest = happened(made, 3, "prompt_handover")

    assert (half.kind, half.number, half.for_ms) == (Kind.HANDED_OVER, 2, 57)
    assert (longest.kind, longest.actor, longest.others, longest.for_ms) == (Kind.LONGEST_HANDOVER, "c", ("b",), 57)


def test_waiter_that_slept_on(made):
    """The facts have the waiter that still waited although the lock was free."""
    waits(made, "a", 0, 5, 0).gave_up("b", 4010)

    (one,) = happened(made, 1, "loses_no_wakeup", wait_ms=4000)

    assert (one.kind, one.actor, one.place) == (Kind.WAITED_FOR_FREE, "b", "replica-1")


def test_lock_that_was_left(made):
    """The facts have the request that failed, and the time after which the next request got its lock."""
    left(made, 350).key_event("expired", 345)

    one, none, other = happened(made, 2, "reenters_only_its_own", ttl_ms=300)

    assert (one.kind, one.actor, none.kind, none.number) == (Kind.LEFT_LOCK, "left", Kind.NONE_ENTERED, 0)
    assert (other.kind, other.actor, other.for_ms) == (Kind.GOT_LEFT_LOCK, "next", 346)


def test_lock_that_was_entered(made):
    """The facts have the request that left its lock, the request that entered it, and the number of such entries."""
    left(made, 20).key_event("hincrby", 20)

    one, other, number = happened(made, 2, "reenters_only_its_own", ttl_ms=300)

    assert [(each.kind, each.actor) for each in (one, other)] == [(Kind.LEFT_LOCK, "left"), (Kind.ENTERED_LEFT_LOCK, "next")]
    assert (number.kind, number.number, number.others) == (Kind.ALL_ENTERED, 1, ("left",))


def test_work_that_was_repeated(made):
    """The facts have the request that did its work again, with the number of times."""
    made.increment("a", 0, 0, at=(10, 11, 12, 13)).increment("b", 1, 1, at=(20, 21, 22, 23))
    for turn in (2, 3):
        made.increment("b", turn, turn, at=20 * turn, turn=turn, outcome=None)

    assert happened(made, 4, "counts_once") == (
        Happening(Kind.REPEATED, actor="b", number=3),
        Happening(Kind.WRITTEN_TOO_OFTEN, number=2),
    )


def test_request_that_waits_for_itself_gives_up(made):
    made.gave_up("b", 700, wanted="lab:run:mine:lock").gave_up("a", 800, wanted="lab:run:mine:lock", holding="lab:run:mine:lock")

    (one,) = happened(made, 0, "reentrant", nested="same")

    assert (one.kind, one.actor, one.key, one.for_ms) == (Kind.WAITED_FOR_ITSELF_IN_VAIN, "a", "lock", 800)


@pytest.mark.parametrize(("got_ms", "kind", "for_ms"), [(330, Kind.WAITED_FOR_ITSELF, 320), (15, Kind.REENTERED, 5)])
def test_reentry_that_succeeds(made, got_ms, kind, for_ms):
    """The facts have the request that got its own lock again: after its lease, or at once."""
    waits(made, "a", 10, got_ms, 0)

    (one,) = happened(made, 1, "reentrant", nested="same", ttl_ms=300)

    assert (one.kind, one.actor, one.for_ms, one.ttl_ms) == (kind, "a", for_ms, 300)


def test_deadlock_of_two_locks(made):
    """The facts have the lock that each request held, and the lock for which it waited."""
    made.gave_up("a", 700, wanted="run:x", holding="run:y").gave_up("b", 800, wanted="run:y", holding="run:x")

    both, *each, number = happened(made, 0, "breaks_deadlock", nested="crossed")

    assert (both.kind, both.actor, both.others, both.for_ms) == (Kind.DEADLOCK, "a", ("b",), 700)
    assert [(one.actor, one.key, one.wanted, one.for_ms) for one in each] == [("a", "y", "x", 700), ("b", "x", "y", 800)]
    assert number == Happening(Kind.ALL_GAVE_UP, number=2)


def test_claim_with_losses_has_no_story(made):
    """A claim that breaks by losses has no facts of this kind."""
    waits(made, "a", 10, 20, 0)

    assert claim_story(made.analyse(final=1, tests="exclusive")) is None
