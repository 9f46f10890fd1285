"""The short form of a schedule, and its file."""

import shlex

import pytest

from lab.errors import BadInput
from lab.evidence.run_folder import as_json
from lab.explore.commands.replay import replay
from lab.explore.schedule import SCHEMA, Schedule, in_shell, read, write
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
    parse,
    short,
)
from lab.explore.search.event import ScheduleEvent as Event
from tests.every import every


def schedule(**given):
    fields = {
        "schema": SCHEMA,
        "stage": "uuid",
        "clients": 2,
        "ttl_ms": 3000,
        "work_ms": 0,
        "until_ms": 7000,
        "events": "ApAt3000B",
    }
    return Schedule(**(fields | given))


def test_written_and_read(tmp_path):
    """A schedule is read from its file as it was written."""
    one = schedule(claim="releases_atomically", sha256="0" * 64)
    write(one, tmp_path / "one.json")

    assert read(tmp_path / "one.json") == one


@every(
    "text, message",
    [
        ("{", "is not a schedule"),
        ("[]", "Expected `object`, got `array`"),
        ("\ud800", "is not a schedule"),
        ('{"schema": 1}', r"Expected `int` >= 3 - at `\$.schema`"),
        ('{"schema": 3, "stage": "uuid"}', "missing required field `clients`"),
        (as_json(schedule(events="A?")), r"unknown event '\?' at character 2"),
        (as_json(schedule(events="AC")), "its events name 3 clients, and it has 2"),
    ],
)
def test_no_schedule(text, message, tmp_path):
    """A file that holds no schedule, or one whose parts contradict each other, is refused, with the reason in one line."""
    (tmp_path / "bad.json").write_bytes(text.encode(errors="surrogatepass"))

    with pytest.raises(BadInput, match=message) as refused:
        read(tmp_path / "bad.json")
    assert "\n" not in str(refused.value)


@every("text", ["none.json", "uuid", ":AB", "uuid:A?", "nobody:AB"])
def test_replay_of_nothing(text, tmp_path, monkeypatch):
    """What is neither a file nor a short form is bad input."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput):
        replay(text, None, None, None)


def test_options_of_a_file(tmp_path):
    """A file has its own TTL, work and clients."""
    write(schedule(), tmp_path / "one.json")

    with pytest.raises(BadInput, match="has its own TTL"):
        replay(str(tmp_path / "one.json"), 500, None, None)


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
    """A schedule is read from its short form, and written as the same, also by a shell."""
    assert parse(text) == events
    assert shlex.split(in_shell("lua", short(events))) == [f"lua:{text}"]


@every("text, place", [("AZ", 2), ("A2?B", 3), ("t", 1), ("pt3000", 1), ("A A", 2)])
def test_unknown_event(text, place):
    """An unknown event is named with its place."""
    with pytest.raises(ValueError, match=rf"unknown event .* at character {place}$"):
        parse(text)
