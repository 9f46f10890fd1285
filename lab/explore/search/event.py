"""One event of a schedule, and the short form of a schedule: ``A2pAB1t3000rAB``.

A letter is one step of that replica's request: a command is executed and its reply arrives, or a sleep ends. A lower-case
letter is a step of another thread of that replica: its renewal, its subscription. A number after a letter repeats the step.
``t3000`` lets time pass until the clock reads 3000 ms. The faults: ``pA`` pauses A, ``rA`` resumes it, ``kA`` kills it, ``lA``
loses the reply to A's command, ``dA`` loses the command itself, ``xA`` sends it twice, ``fA`` lets A's work fail, ``w`` restarts
the store without its data. ``A=1`` is a random choice. Where a replica has more threads, a number names the thread: ``a'3`` is
thread 3 in the background, ``a'32`` two steps of it, ``a'(12)`` thread 12, ``A'1`` the second request that A serves at once.

Where a lock asks several servers at once, each of them executes the command at its own moment: ``A.3`` is server 3, ``A.123``
one after the other. ``lA.3``, ``dA.3`` and ``xA.3`` are the faults at one server, ``lA``, ``dA`` and ``xA`` those at all of them,
and ``w3`` restarts server 3.

A search has a budget: how many faults of each kind it may inject. It decides every moment of each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class EventKind(StrEnum):
    """What happens. The value is the letter of the short form; a step and a choice have none."""

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
    # of CLOCK: what the clock reads afterwards; of CHOICE: the place of the value
    number: int = 0
    # of several servers, the one that executes the command or restarts, counted from 1
    node: int = 0

    def __str__(self) -> str:
        if self.kind is CLOCK:
            return f"t{self.number}"
        if self.kind is RESTART:
            return f"w{self.node or ''}"
        number = f"{self.thread}" if self.thread < 10 else f"({self.thread})"  # what follows one digit is how often
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
        more = "".join(str(one.node) for one in others) if first.node else len(others) + 1 if others else ""
        words.append(f"{first}{more}")
    return "".join(words)


def _goes_on(group: Sequence[ScheduleEvent], event: ScheduleEvent) -> bool:
    """Return whether an event is written in one word with those before: the same step again, or the same at another server."""
    last = group[-1]
    if event.kind is not STEP or last._replace(node=event.node) != event or bool(last.node) != bool(event.node):
        return False
    return not event.node or all(one.node != event.node for one in group)


WORD = re.compile(
    r"t(?P<clock>\d+)|(?P<restart>w)(?P<restarted>[1-9]?)|"
    r"(?P<fault>[prkldxf]?)(?P<who>[A-Ha-h])('(?P<thread>\d|\(\d+\)))?((=(?P<value>\d+))|(\.(?P<nodes>[1-9]+))|(?P<times>\d*))"
)


def parse(text: str) -> list[ScheduleEvent]:
    """Read the short form. Raises ValueError, which names the place."""
    place, events = 0, list[ScheduleEvent]()
    while place < len(text):
        found = WORD.match(text, place)
        if found is None or not found.group():
            raise ValueError(f"unknown event {text[place : place + 8]!r} at character {place + 1}")
        place = found.end()
        if found["clock"]:
            events.append(ScheduleEvent(CLOCK, number=int(found["clock"])))
            continue
        if found["restart"]:
            events.append(ScheduleEvent(RESTART, node=int(found["restarted"] or 0)))
            continue
        background = found["who"].islower()
        client = ord(found["who"]) - ord("a" if background else "A")
        event = ScheduleEvent(
            EventKind(found["fault"]), client, int((found["thread"] or f"{background:d}").strip("()")), own=not background
        )
        if found["value"]:
            events.append(event._replace(kind=CHOICE, number=int(found["value"])))
        elif found["nodes"]:
            events += [event._replace(node=int(node)) for node in found["nodes"]]
        else:
            events += [event] * min(MOST_TIMES, int(found["times"] or 1))
    return events


class Budget(NamedTuple):
    """The faults that are left."""

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
        """Return the faults that a search has injected when these are left."""
        return Budget(*(mine - its for mine, its in zip(self, left, strict=True)))


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
