"""Define the events of a schedule, and read and write its short form: ``A2pAB1t3000rAB``.

A letter is one step of that replica's request: a command is executed and its reply arrives, or a sleep ends. A lower-case
letter is a step of another thread of that replica, such as its renewal or its subscription. A number after a letter repeats the
step. ``t3000`` lets time pass until the clock reads 3000 ms. The faults: ``pA`` pauses A, ``rA`` resumes it, ``kA`` kills it,
``lA`` loses the reply to A's command, ``dA`` loses the command itself, ``xA`` sends it twice, ``fA`` lets A's work fail, ``w``
restarts the store without its data. ``A=1`` is a random choice. If a replica has more threads, a number after an apostrophe
gives the thread: ``a'3`` is thread 3 in the background, ``a'32`` are two steps of thread 3, ``a'(12)`` is thread 12, ``A'1`` is
the second request that A serves at the same time.

If a lock sends a command to several servers at once, each server executes it at its own moment: ``A.3`` is server 3, and
``A.123`` are servers 1, 2 and 3 in this order. ``lA.3``, ``dA.3`` and ``xA.3`` are faults at one server, ``lA``, ``dA`` and
``xA`` are faults at all servers, and ``w3`` restarts server 3.

A search has a budget: the number of faults of each kind. It tries every moment for each fault.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class EventKind(StrEnum):
    """The kinds of events. The value is the letter of the short form; a step has none, and a choice has a sign."""

    STEP = ""
    CHOICE = "="
    CLOCK = "t"
    PAUSE = "p"
    RESUME = "r"
    CRASH = "k"
    LOST_REPLY = "l"
    LOST_COMMAND = "d"
    RESEND = "x"
    FAILURE = "f"
    RESTART = "w"


STEP, CHOICE, CLOCK, PAUSE, RESUME, CRASH, LOST_REPLY, LOST_COMMAND, RESEND, FAILURE, RESTART = EventKind
NOBODY = -1
MOST_TIMES = 10_000


class ScheduleEvent(NamedTuple):
    """One event."""

    kind: EventKind
    # the replica, counted from 0; NOBODY for the clock and the store
    client: int = NOBODY
    # the thread of the replica; 0 serves its first request
    thread: int = 0
    # whether the thread serves a request
    own: bool = True
    # of CLOCK: the time on the clock afterwards, in milliseconds; of CHOICE: the place of the value
    number: int = 0
    # the server that executes the command or restarts, counted from 1; 0 if there is only one, or for all of them
    node: int = 0

    def __str__(self) -> str:
        if self.kind is CLOCK:
            return f"t{self.number}"
        if self.kind is RESTART:
            return f"w{self.node or ''}"
        number = f"{self.thread}" if self.thread < 10 else f"({self.thread})"  # one digit, or the repetitions would be part of it
        mark = f"'{number}" if self.thread != (not self.own) else ""
        letter = letter_of(self.client, background=not self.own) + mark
        if self.kind is CHOICE:
            return f"{letter}={self.number}"
        return f"{self.kind}{letter}.{self.node}" if self.node else f"{self.kind}{letter}"


def letter_of(client: int, background: bool = False) -> str:
    """Return the letter of a replica."""
    return chr(ord("a" if background else "A") + client)


def short(events: Sequence[ScheduleEvent]) -> str:
    """Return the short form of a schedule."""
    groups: list[list[ScheduleEvent]] = []
    for event in events:
        if groups and _goes_on(groups[-1], event):
            groups[-1].append(event)
        else:
            groups.append([event])
    words = []
    for first, *others in groups:
        more = "".join(str(event.node) for event in others) if first.node else len(others) + 1 if others else ""
        words.append(f"{first}{more}")
    return "".join(words)


def _goes_on(group: Sequence[ScheduleEvent], event: ScheduleEvent) -> bool:
    """Return whether an event joins the word of a group: it repeats the step, or is the same step at another server."""
    last = group[-1]
    if event.kind is not STEP or last._replace(node=event.node) != event or bool(last.node) != bool(event.node):
        return False
    return not event.node or all(before.node != event.node for before in group)


WORD = re.compile(
    r"t(?P<clock>\d+)|(?P<restart>w)(?P<restarted>[1-9]?)|"
    r"(?P<fault>[prkldxf]?)(?P<letter>[A-Ha-h])('(?P<thread>\d|\(\d+\)))?((=(?P<value>\d+))|(\.(?P<nodes>[1-9]+))|(?P<times>\d*))"
)


def parse(text: str) -> list[ScheduleEvent]:
    """Return the events of a short form. Raises ValueError, which names the place in the text."""
    place, events = 0, list[ScheduleEvent]()
    while place < len(text):
        match = WORD.match(text, place)
        if match is None or not match.group():
            raise ValueError(f"unknown event {text[place : place + 8]!r} at character {place + 1}")
        place = match.end()
        if match["clock"]:
            events.append(ScheduleEvent(CLOCK, number=int(match["clock"])))
            continue
        if match["restart"]:
            events.append(ScheduleEvent(RESTART, node=int(match["restarted"] or 0)))
            continue
        background = match["letter"].islower()
        client = ord(match["letter"]) - ord("a" if background else "A")
        event = ScheduleEvent(
            EventKind(match["fault"]), client, int((match["thread"] or f"{background:d}").strip("()")), own=not background
        )
        if match["value"]:
            events.append(event._replace(kind=CHOICE, number=int(match["value"])))
        elif match["nodes"]:
            events += [event._replace(node=int(node)) for node in match["nodes"]]
        else:
            events += [event] * min(MOST_TIMES, int(match["times"] or 1))
    return events


class Budget(NamedTuple):
    """The number of faults of each kind that a search may still inject."""

    # a replica is stopped (SIGSTOP), and resumed at any later moment
    pauses: int = 0
    # a replica is killed
    crashes: int = 0
    # the lock's store executes a command, its reply is lost, and the client raises an error
    lost_replies: int = 0
    # the same, and the client sends the command again
    resends: int = 0
    # the lock's store loses its data
    restarts: int = 0
    # the work fails with an exception
    failures: int = 0

    def without(self, name: str) -> Budget:
        """Return the budget after one fault of this kind."""
        return self._replace(**{name: getattr(self, name) - 1})

    def used(self, left: Budget) -> Budget:
        """Return the faults that a search with this budget has injected. left: the rest of the budget."""
        return Budget(*(whole - rest for whole, rest in zip(self, left, strict=True)))


NONE = Budget()
# by the kind of an event that injects a fault: the field of the budget from which it is taken
SPENDS = {
    PAUSE: "pauses",
    CRASH: "crashes",
    LOST_REPLY: "lost_replies",
    LOST_COMMAND: "lost_replies",
    RESEND: "resends",
    RESTART: "restarts",
    FAILURE: "failures",
}
