"""The short form of a schedule."""

from __future__ import annotations

import pytest

from lab.explore.questions import pairs_of_faults, single_faults
from lab.explore.search.event import (
    CHOICE,
    CLOCK,
    CRASH,
    FAILURE,
    LOST_COMMAND,
    LOST_REPLY,
    NONE,
    PAUSE,
    RESEND,
    RESTART,
    RESUME,
    STEP,
    parse,
    short,
)
from lab.explore.search.event import ScheduleEvent as Event
from tests.every import every


@every(
    "text, events",
    [
        ("A2", [Event(STEP, 0), Event(STEP, 0)]),
        ("ABb", [Event(STEP, 0), Event(STEP, 1), Event(STEP, 1, 1, own=False)]),
        ("pAt3000rA", [Event(PAUSE, 0), Event(CLOCK, number=3000), Event(RESUME, 0)]),
        ("kAxBdCw", [Event(CRASH, 0), Event(RESEND, 1), Event(LOST_COMMAND, 2), Event(RESTART)]),
        ("A=2B", [Event(CHOICE, 0, number=2), Event(STEP, 1)]),
        ("a'2", [Event(STEP, 0, 2, own=False)]),
        ("A'1", [Event(STEP, 0, 1)]),
        ("da", [Event(LOST_COMMAND, 0, 1, own=False)]),
        ("A.12B.2", [Event(STEP, 0, node=1), Event(STEP, 0, node=2), Event(STEP, 1, node=2)]),
        (
            "A.21A.2A",
            [
                Event(STEP, 0, node=2),
                Event(STEP, 0, node=1),
                Event(STEP, 0, node=2),
                Event(STEP, 0),
            ],
        ),
        ("fA", [Event(FAILURE, 0)]),
        ("dA.3lBw2", [Event(LOST_COMMAND, 0, node=3), Event(LOST_REPLY, 1), Event(RESTART, node=2)]),
        ("", []),
    ],
)
def test_short_form(text, events):
    """A schedule is read from its short form, and written as the same."""
    assert parse(text) == events
    assert short(events) == text


@every("text, place", [("AZ", 2), ("A2?B", 3), ("t", 1), ("pt3000", 1), ("A A", 2)])
def test_no_schedule(text, place):
    """An unknown event is named with its place."""
    with pytest.raises(ValueError, match=rf"unknown event .* at character {place}$"):
        parse(text)


def test_cheapest_first():
    """The searches have no fault, then one of each kind, and then each pair."""
    budgets = [NONE, *single_faults(), *pairs_of_faults()]

    assert [sum(budget) for budget in budgets] == sorted(sum(budget) for budget in budgets)
    assert len(set(budgets)) == len(budgets) == 1 + 6 + 21
