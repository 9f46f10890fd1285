"""Inject the faults of a replica when a request reaches a failpoint (``app/failpoints``).

The commands are counted below the client of the store: at its connection, whichever library uses it. So the text of a stage has
no trace of a failpoint, and one scenario injects its fault at the corresponding moment of every stage. Some clients send several
commands at once, in a pipeline. Then ``before_last`` is before all of them, if the expected last command is one of them. If no
fault is prepared, a failpoint costs one test of a variable.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from app import failpoints
from app.failpoints import AFTER, ANSWER, BEFORE, GATE, GRANTED, LEFT, PASSED, READ, RELEASE, SPENT, WRITE, Injection
from app.request.answer import NO_KEY, is_good, kind


class InjectedError(Exception):
    """The error of a fault whose action is ``raise`` or ``hang``."""


class CommandFailed(InjectedError):  # noqa: N818 - an event, at the command
    """A command fails before it is sent. The store's client raises an error of its own library in its place."""


class ReplyLost(Exception):  # noqa: N818 - an event, at the reply
    """The store carried the command out, and the client must behave as if the reply was lost: it sends the command again."""


class ReplyDropped(ReplyLost):
    """As ReplyLost, but the client raises an error of its own library, and sends nothing again."""


class Gate:
    """The gate of late writes: while one is written, no other request is between its read and its write.

    A holder that was stopped writes a number that it read long ago. If another request has just read, and writes after it, it
    restores most of the increments that the late write destroyed: which of the two writes comes first is luck. So the late write
    waits until no other request is between its read and its write, and until it is written, no request reads. Both orders are
    possible in a run without the gate; the gate chooses one. It is a lock on a file, which the requests inside share. It works
    for the threads of all replicas, and the kernel frees it if a process dies. Each container has its own file;
    ``lab/containers`` joins them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._inside: dict[str, int] = {}  # by request, its open file

    def enter(self, request: str) -> None:
        """Let a request read. It waits while a late write is under way."""
        self.leave(request)  # a stage may do the work more than once
        self._inside[request] = os.open(self.path, os.O_RDONLY | os.O_CREAT, 0o666)
        fcntl.flock(self._inside[request], fcntl.LOCK_SH)

    def wait_for_others(self, request: str) -> None:
        """Wait until only this request is inside, and keep all other requests out until it leaves."""
        if (file := self._inside.get(request)) is not None:
            fcntl.flock(file, fcntl.LOCK_EX)

    def leave(self, request: str) -> None:
        """Let a request leave the gate, if it is inside."""
        if (file := self._inside.pop(request, None)) is not None:
            os.close(file)


class Failpoints:
    """The faults that one replica has to inject, and the expected number of commands of each phase."""

    def __init__(self, folder: Path, replica: str) -> None:
        self.folder = folder
        self.replica = replica
        self.pending = {injection.name: injection for injection in failpoints.prepared(folder)}
        self.stops = [injection.name for injection in self.pending.values() if injection.writes_late]
        self.gate = Gate(folder / GATE) if self.stops else None
        self.late: dict[str, str] = {}  # by the request whose write is delayed: the fault
        self.awaited = [injection.name for injection in self.pending.values() if injection.awaits_grant]
        self.grants = 0
        self.lock_keys: set[str] = set()  # the keys of grants that were also keys of a command of the acquire
        self.usual_commands: dict[str, int] = {}  # phase → how many commands of the lock the last request sent in this phase
        self.entered_after: dict[str, set[str]] = {}  # script → the kinds of answer after which requests entered their work
        self._mutex = threading.Lock()

    def are_of_the_lock(self, keys: Sequence[str]) -> bool:
        """Return whether a command with these keys belongs to the lock; in doubt, it does.

        A lock may send other commands as well: it counts its tries, or notes its progress. If commands of the acquires had the
        keys of the grants, no other key belongs to the lock. Otherwise the lock has another name at the store, or several keys:
        then each command may belong to the lock.
        """
        return keys != NO_KEY and (not keys or not self.lock_keys or not self.lock_keys.isdisjoint(keys))

    def learn(self, script: str, answer: object) -> None:
        """Note that a request began its work after this answer of this script: so the answer means yes."""
        self.entered_after.setdefault(script, set()).add(kind(answer))

    def is_yes(self, script: str, answer: object) -> bool:
        """Return whether this answer of a script means yes: as learned from requests, or else whether it is a good answer."""
        kinds = self.entered_after.get(script)
        return is_good(answer) if kinds is None else kind(answer) in kinds

    def reach(self, phase: str, moment: str, request: str, keys: Sequence[str] = ()) -> None:
        """Inject every fault that is still pending at this failpoint. keys: the keys of the command, if it is at a command."""
        if phase == READ and moment == BEFORE:
            with self._mutex:
                self.grants += 1
            for name in self.awaited:
                if (self.folder / f"{name}{SPENT}").exists():
                    (self.folder / f"{name}{GRANTED}").touch()
        while (injection := self._take(f"{phase}.{moment}")) is not None:
            if failpoints.take(self.folder, injection.name, self.replica, request, keys):
                if injection.lab_first:
                    failpoints.wait_for(self.folder, injection.name, ANSWER)
                if injection.writes_late:
                    self.late[request] = injection.name
                ACTIONS[injection.action](injection)
                if injection.awaits_grant:
                    failpoints.wait_for(self.folder, injection.name, GRANTED)
        if self.gate is not None:
            self._pass(self.gate, phase, moment, request)

    def _pass(self, gate: Gate, phase: str, moment: str, request: str) -> None:
        """Move a request through the gate of late writes: it is inside from its read until its release begins."""
        late = self.late.get(request)
        if phase in (WRITE, RELEASE) and late is not None:
            (self.folder / f"{late}{PASSED}").touch()
        if phase == READ and moment == BEFORE:
            gate.enter(request)
        elif phase == READ and moment == AFTER and late is None:
            for name in self.stops:
                failpoints.meet(self.folder, name)
        elif phase == WRITE and moment == BEFORE and late is not None:
            gate.wait_for_others(request)
        elif phase == RELEASE:
            gate.leave(request)
            if late is not None:
                (self.folder / f"{late}{LEFT}").touch()

    def _take(self, failpoint: str) -> Injection | None:
        """Remove and return a pending injection, so that no other thread of this process can take it."""
        if not self.pending:
            return None
        with self._mutex:
            for injection in self.pending.values():
                if injection.failpoint == failpoint and self.grants >= injection.skip:
                    return self.pending.pop(injection.name)
        return None


def _raising(error: type[Exception]) -> Callable[[Injection], None]:
    """Return an action that raises this error."""

    def act(injection: Injection) -> None:
        raise error(f"{injection.name} was injected at {injection.failpoint}")

    return act


def _hang(injection: Injection) -> None:
    """Wait until the run is over; then fail, so that the request writes nothing."""
    time.sleep(injection.for_ms / 1000)
    ACTIONS["raise"](injection)


# the pids of the workers that hold locks for this process: they stop, continue and die with it
COMPANIONS: set[int] = set()


def _signal_companions(number: signal.Signals) -> None:
    for pid in list(COMPANIONS):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _stop(_: Injection) -> None:
    """Stop this process until it gets SIGCONT.

    The signal goes to this very thread. It stops the whole process all the same. A signal to the process may be delivered
    to any of its threads, and this thread would then run on for long enough to send its next command.
    """
    _signal_companions(signal.SIGSTOP)
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
    _signal_companions(signal.SIGCONT)


def _kill(_: Injection) -> None:
    _signal_companions(signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


ACTIONS: dict[str, Callable[[Injection], None]] = {
    "stop": _stop,
    "kill": _kill,
    "raise": _raising(InjectedError),
    "hang": _hang,
    "fail": _raising(CommandFailed),
    "wait": lambda injection: time.sleep(injection.for_ms / 1000),
    "lose_reply": _raising(ReplyLost),
    "drop_reply": _raising(ReplyDropped),
}
