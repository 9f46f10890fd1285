"""Moments of a request where a fault can strike, and the count of what the request sent.

A gate is a phase and a moment, ``release.before_last``. Phases follow from ``run(work)`` itself: ``acquire`` is before the
work, ``read``, ``think`` and ``write`` (and ``write_again``, where the work has two writes) are in it, ``release`` is after
it; what a thread sends outside any request is ``renew``. Commands are seen by the store that is handed to the lock. So a
stage's text has no trace of a gate, and one scenario strikes every stage at the corresponding moment. The moments of a phase:

- ``before`` its first command, and ``after`` its last: its beginning and its end;
- ``after_first``: after its first command that the store said yes to (a refused try is not a step);
- ``before_last``: before its last command. How many it has is learned from the requests before.

Gates are armed by files (``gates/<name>.json``, an ``Armed``), read when the replica starts. Each is spent once a run: who
renames the file strikes, so a replica that comes back, or another one, does not strike again. Unarmed, a gate is a test of
one variable.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns

PHASES = ("acquire", "read", "think", "write", "write_again", "renew", "release")
ACQUIRE, READ, THINK, WRITE, WRITE_AGAIN, RENEW, RELEASE = PHASES
BEFORE, AFTER_FIRST, BEFORE_LAST, AFTER = MOMENTS = ("before", "after_first", "before_last", "after")


class Struck(Exception):  # noqa: N818 - what happened, not an error of anybody's
    """A fault that raises was armed here."""


class ReplyLost(Exception):  # noqa: N818 - as above
    """The command was carried out, and its answer is to be lost."""


@dataclass(frozen=True, slots=True)
class Armed:
    """What is to happen at a gate, to the first request that comes by.

    action: ``stop`` or ``kill`` the process, ``raise``, ``wait`` for for_ms, ``lose_reply``. skip: how many grants of this
    replica pass unharmed before.
    """

    name: str
    gate: str
    action: str
    for_ms: int = 0
    skip: int = 0


class Gates:
    """The armed gates of one replica."""

    def __init__(self, folder: Path, replica: str) -> None:
        self.folder = folder
        self.replica = replica
        self.armed = {gate.name: gate for gate in map(_read, folder.glob("*.json"))}
        self.grants = 0

    def strike(self, phase: str, moment: str, request: str) -> None:
        """A request comes by: do what is armed here, if it is still to be done."""
        if phase == READ and moment == BEFORE:
            self.grants += 1
        for gate in [gate for gate in self.armed.values() if gate.gate == f"{phase}.{moment}"]:
            if self.grants >= gate.skip and self._spend(gate, request):
                ACTIONS[gate.action](gate)

    def _spend(self, gate: Armed, request: str) -> bool:
        """Take the file away, leaving word of who was struck and when; False if somebody else has."""
        del self.armed[gate.name]
        word = {"name": gate.name, "replica": self.replica, "pid": os.getpid(), "request": request, "at_ns": monotonic_ns()}
        note = self.folder / f".{gate.name}.{os.getpid()}"
        note.write_text(json.dumps(word), encoding="utf-8")
        try:
            (self.folder / f"{gate.name}.json").rename(self.folder / f"{gate.name}.spent")
        except FileNotFoundError:
            note.unlink()
            return False
        note.rename(self.folder / f"{gate.name}.struck")
        return True


def _read(path: Path) -> Armed:
    return Armed(**json.loads(path.read_text(encoding="utf-8")))


def _raise(gate: Armed) -> None:
    raise Struck(f"{gate.name} struck at {gate.gate}")


def _lose_reply(gate: Armed) -> None:
    raise ReplyLost(f"{gate.name} struck at {gate.gate}")


ACTIONS: dict[str, Callable[[Armed], None]] = {
    # to this very thread: it stops the whole process all the same, but a signal to the process is delivered to any of its
    # threads, and this one would run on for long enough to send its next command
    "stop": lambda gate: signal.pthread_kill(threading.get_ident(), signal.SIGSTOP),
    "kill": lambda gate: os.kill(os.getpid(), signal.SIGKILL),
    "raise": _raise,
    "wait": lambda gate: time.sleep(gate.for_ms / 1000),
    "lose_reply": _lose_reply,
}


class Passage(threading.local):
    """Where this thread is: which request, in which phase, how many commands it sent to the lock's store there.

    command, answer: the last of them, and what the store said to it. said_yes: whether it agreed to any of them.
    """

    request: str = ""
    phase: str = RENEW
    commands: int = 0
    answer: object = ""
    command: str = ""
    said_yes: bool = False

    def begin(self, request: str) -> None:
        """A request starts: it is going to ask for its lock."""
        self.request = request
        self.enter(ACQUIRE)

    def enter(self, phase: str) -> None:
        """The next phase of this request starts."""
        if gates is not None:
            if self.commands:
                usual[self.phase] = self.commands
            gates.strike(self.phase, AFTER, self.request)
        self.phase = phase
        self.commands = 0
        self.answer = ""
        self.command = ""
        self.said_yes = False
        if gates is not None:
            gates.strike(phase, BEFORE, self.request)

    def sending(self) -> None:
        """The lock's store is about to be sent a command."""
        if gates is not None and self.commands + 1 == usual.get(self.phase):
            gates.strike(self.phase, BEFORE_LAST, self.request)

    def sent(self, command: str, answer: object) -> None:
        """The lock's store was sent one more command, and answered."""
        self.commands += 1
        self.command = command
        self.answer = answer
        if not self.said_yes and _yes(answer):
            self.said_yes = True
            if gates is not None:
                gates.strike(self.phase, AFTER_FIRST, self.request)

    def end(self) -> None:
        """The request is over; what this thread sends from here on belongs to nobody."""
        self.enter(RENEW)
        self.request = ""


def _yes(answer: object) -> bool:
    """Whether the store agreed. A negative number is a no, with how long it will be one."""
    return bool(answer) and not (isinstance(answer, int) and answer < 0)


gates: Gates | None = None  # None while nothing is armed
usual: dict[str, int] = {}  # phase → how many commands it took the last time
passage = Passage()
