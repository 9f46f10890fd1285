"""Test the short form of a schedule, and the command that runs it."""

import shlex

import pytest

from lab.errors import BadInput
from lab.explore.code.program import Task
from lab.explore.commands.command_line import OF_A_SCHEDULE, explore
from lab.explore.questions import TTL_MS, Question
from lab.explore.schedule import in_shell, options_of, replay, typed
from lab.explore.search.event import (
    CHOICE,
    CLOCK,
    CRASH,
    FAILURE,
    LOST_COMMAND,
    LOST_REPLY,
    PAUSE,
    RESEND,
    RESTART,
    RESUME,
    STEP,
    Budget,
    parse,
    short,
)
from lab.explore.search.event import ScheduleEvent as Event
from tests.every import every


@every("text", ["none.json", "uuid", ":AB", "uuid:A?"])
def test_no_schedule(text):
    """A text that is no short form of a schedule is refused as bad input."""
    with pytest.raises(BadInput):
        typed(text)


def test_typed_again():
    """A schedule that is typed with its options is the schedule of the search, also with several requests in one replica."""
    task = Task(2000, work_ms=500, wait_ms=0, nested=True, at_once=2, in_turn=3, nap_ms=700, ends=True)
    question = Question(task, Budget(pauses=1), 1)
    *_, text = shlex.split(replay("uuid", question, parse("pArAA'1")))[:4]
    options = explore.make_context("explore", ["--replay", text, *shlex.split(options_of(question))]).params

    again = typed(text, **{name: options[name] for name in OF_A_SCHEDULE})
    assert (again.stage, again.question) == ("uuid", question)
    assert (typed("uuid:AC").question, options_of(Question(Task(TTL_MS)))) == (Question(Task(TTL_MS), replicas=3), "")


@every(
    "text, events",
    [
        ("A2Bb", [Event(STEP, 0), Event(STEP, 0), Event(STEP, 1), Event(STEP, 1, 1, own=False)]),
        ("pAt3000rA", [Event(PAUSE, 0), Event(CLOCK, number=3000), Event(RESUME, 0)]),
        ("kAxBdCwA=2", [Event(CRASH, 0), Event(RESEND, 1), Event(LOST_COMMAND, 2), Event(RESTART), Event(CHOICE, 0, number=2)]),
        ("a'32", [Event(STEP, 0, 3, own=False)] * 2),
        ("a'(12)2A'1da", [*[Event(STEP, 0, 12, own=False)] * 2, Event(STEP, 0, 1), Event(LOST_COMMAND, 0, 1, own=False)]),
        ("A.12B.2", [Event(STEP, 0, node=1), Event(STEP, 0, node=2), Event(STEP, 1, node=2)]),
        ("A.21A.2A", [Event(STEP, 0, node=2), Event(STEP, 0, node=1), Event(STEP, 0, node=2), Event(STEP, 0)]),
        ("dA.3lBw2fA", [Event(LOST_COMMAND, 0, node=3), Event(LOST_REPLY, 1), Event(RESTART, node=2), Event(FAILURE, 0)]),
        ("", []),
    ],
)
def test_short_form(text, events):
    """A schedule is read from its short form and written in the same form, also through a shell."""
    assert parse(text) == events
    assert shlex.split(in_shell("lua", short(events))) == [f"lua:{text}"]


@every("text, place", [("AZ", 2), ("A2?B", 3), ("t", 1), ("pt3000", 1), ("A A", 2)])
def test_unknown_event(text, place):
    """An unknown event is named with its place."""
    with pytest.raises(ValueError, match=rf"unknown event .* at character {place}$"):
        parse(text)
