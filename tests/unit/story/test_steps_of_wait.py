"""A lock that stays taken, in steps: for ever, or too long; and nothing of the kind where it was free in time."""

from __future__ import annotations

import pytest

from lab.evidence.fault_record import Effect
from lab.language.choice import Language
from lab.story import say_run, steps_drawing
from lab.story.happening import Kind
from lab.story.steps import steps_of_run
from tests.builders import picture_of


def kinds(found):
    return [event.what.kind for step in found.steps for event in step]


def test_a_lock_for_ever(stuck):
    """The holder dies, its key stays, a request asks after that and gives up, and so does another."""
    found = steps_of_run(picture_of(stuck, final=0, tests="freed_after_crash"))

    asked_in_vain = [Kind.ASKED, Kind.KEY_STAYED, Kind.GAVE_UP_WAITING, Kind.OTHERS_GAVE_UP]
    assert kinds(found) == [Kind.GRANTED, Kind.FAULT, *asked_in_vain]
    assert (found.a[0], found.b[0], found.has_counter) == ("r0", "r2", False)
    assert found.steps[1][0].what.effect == Effect.PROCESS_DIES


@pytest.fixture
def late(made):
    """r0 fails and keeps its lock until its TTL of 3 s is over; r1 asks meanwhile, and gets it then."""
    made.key_event("set", 10).key_event("expire", 10).key_event("expired", 3012).key_event("set", 3020)
    made.increment("r0", 0, None, at=(10, 11, 12, 13), outcome="unknown").fault("raise_error", "r0", 20, 21)
    return made.increment("r1", 0, 0, at=(3020, 3021, 3030, 3031), replica="replica-2", asked=30)


def test_a_lock_for_too_long(late):
    """The lease ends at last, and the next request gets the lock late."""
    found = steps_of_run(picture_of(late, final=1, ttl_ms=3000, tests="freed_after_failure"))

    assert kinds(found) == [Kind.GRANTED, Kind.FAULT, Kind.ASKED, Kind.LEASE_OVER, Kind.NEXT_GOT]
    assert found.b[0] == "r1"


def test_free_in_time_has_no_steps(made):
    """Where the lock was free in time, no claim is broken, and there is nothing to show."""
    made.key_event("set", 10).key_event("del", 14).key_event("set", 20).key_event("del", 31)
    made.increment("r0", 0, 0, at=(10, 11, 12, 13)).increment("r1", 1, 1, at=(20, 21, 30, 31), replica="replica-2")

    assert steps_of_run(picture_of(made, final=2, tests="freed_after_crash")) is None


@pytest.mark.parametrize("language", Language)
def test_it_is_drawn(stuck, language):
    """The picture has the two requests and the lock, and no counter."""
    found = steps_of_run(picture_of(stuck, final=0, tests="freed_after_crash"))

    svg = steps_drawing.draw(found, "conditions", language)

    assert say_run.heading(found, language) != say_run.title_of_steps(found, language)
    assert all(f'id="step-{number}-1"' in svg for number in range(1, len(found.steps) + 1))
    assert svg.count("M62 ") == 1  # A's line; without a counter the lock's is in the middle
