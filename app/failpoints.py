"""Failpoints: the moments of a request where a fault can be injected, and the count of what the request sent.

A failpoint is a phase and a moment, for example ``release.before_last``. The phases follow from ``run(work)`` of a stage's
``Lock``:

- ``acquire`` is before the work;
- ``read``, ``think`` and ``write`` are in the work, and ``write_again`` where the work has two writes;
- ``release`` is after the work;
- ``renew`` is everything that a thread sends outside a request.

The moments of a phase are:

- ``before`` its first command, and ``after`` its last: the beginning and the end of the phase. ``renew.before`` is before each
  renewal: the phase has no beginning;
- ``after_first``: after the first command to which the store said yes (a command to which the store said no does not count).
  Of a script only the lock knows which answer is a yes, so it is learned from the requests that entered their work before;
- ``after_second``: after the answer to the second command, whatever the answer is;
- ``before_last``: before the last command. The expected number is that of the latest request that sent a command in this phase.

The commands are counted below the client of the store: at its connection, whichever library uses it. So the text of a stage has
no trace of a failpoint, and one scenario injects its fault at the corresponding moment of every stage. Some clients send several
commands at once, in a pipeline. Then ``before_last`` is before all of them, if the expected last command is one of them.

Faults are prepared as files, one ``Injection`` each, which a replica reads when it starts (``app/fault_files.py``). A fault is
injected at most once in a run: a replica that is started again does not inject it a second time. Where no fault is prepared, a
failpoint costs one test of a variable.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns
from types import MappingProxyType
from typing import ClassVar

from app import fault_files
from app.answer import AGREED, NOTHING, OPEN, REFUSED, Meaning, agreed, is_good, kind

PHASES = ("acquire", "read", "think", "write", "write_again", "renew", "release")
ACQUIRE, READ, THINK, WRITE, WRITE_AGAIN, RENEW, RELEASE = PHASES
MOMENTS = ("before", "after_first", "after_second", "before_last", "after")
BEFORE, AFTER_FIRST, AFTER_SECOND, BEFORE_LAST, AFTER = MOMENTS

# by key, when a phase set it: of a phase that has set no key
NONE_SET: Mapping[str, int] = MappingProxyType({})


class InjectedError(Exception):
    """The error of a fault whose action is ``raise`` or ``hang``."""


class CommandFailed(InjectedError):  # noqa: N818 - names what happened to the command
    """A command fails before it is sent. The store's client raises an error of its own library in its place."""


class ReplyLost(Exception):  # noqa: N818 - names what happened to the reply
    """The store carried the command out, and the client must behave as if the reply was lost: it sends the command again."""


class ReplyDropped(ReplyLost):
    """As ReplyLost, but the client raises an error of its own library, and sends nothing again."""


@dataclass(frozen=True, slots=True)
class Injection:
    """What a replica does at a failpoint, to the first request that reaches it once ``skip`` grants have begun to read.

    The fields are those of the file.
    """

    name: str
    # the failpoint, ``phase.moment``; the key in the file is ``gate``
    gate: str
    # a key of ACTIONS
    action: str
    # how long the fault lasts
    for_ms: int = 0
    # how many grants of this replica must have begun to read. At a failpoint after the grant, the present grant counts: at
    # ``read.after``, 3 means the third grant, and 0 means the same as 1. At ``acquire.before``, 3 means the fourth.
    skip: int = 0
    # whether the request first waits until the lab has done its part of the fault; ``for_ms`` counts from then on
    lab_first: bool = False


class Failpoints:
    """The faults that one replica is to inject, and the number of commands that each phase is expected to have."""

    def __init__(self, folder: Path, replica: str) -> None:
        self.folder = folder
        self.replica = replica
        self.pending = {injection.name: injection for injection in map(_read, folder.glob("*.json"))}
        self.grants = 0
        self.usual_commands: dict[str, int] = {}  # phase → how many commands the last request sent in it
        self.entered_after: dict[str, set[str]] = {}  # script → the kinds of answer after which requests entered their work
        self._mutex = threading.Lock()

    def learn(self, script: str, answer: object) -> None:
        """Note that a request entered its work after this answer of this script: it meant yes."""
        self.entered_after.setdefault(script, set()).add(kind(answer))

    def is_yes(self, script: str, answer: object) -> bool:
        """Return whether this answer of a script means yes. Until a request has entered after the script: whether it looks so."""
        kinds = self.entered_after.get(script)
        return is_good(answer) if kinds is None else kind(answer) in kinds

    def reach(self, phase: str, moment: str, request: str) -> None:
        """Inject every fault that is still pending at this failpoint."""
        if phase == READ and moment == BEFORE:
            with self._mutex:
                self.grants += 1
        while (injection := self._take(f"{phase}.{moment}")) is not None:
            if fault_files.take(self.folder, injection.name, self.replica, request):
                if injection.lab_first:
                    fault_files.wait_for_answer(self.folder, injection.name)
                ACTIONS[injection.action](injection)

    def _take(self, failpoint: str) -> Injection | None:
        """Remove and return a pending injection, so that no other thread of this process can take it."""
        if not self.pending:
            return None
        with self._mutex:
            for injection in self.pending.values():
                if injection.gate == failpoint and self.grants >= injection.skip:
                    return self.pending.pop(injection.name)
        return None


def _read(path: Path) -> Injection:
    return Injection(**json.loads(path.read_text(encoding="utf-8")))


def _raise(injection: Injection) -> None:
    raise InjectedError(f"{injection.name} was injected at {injection.gate}")


def _hang(injection: Injection) -> None:
    """Do nothing for so long that the run is over; then fail, so that the request writes nothing."""
    time.sleep(injection.for_ms / 1000)
    _raise(injection)


def _fail(injection: Injection) -> None:
    raise CommandFailed(f"{injection.name} was injected at {injection.gate}")


def _lose_reply(injection: Injection) -> None:
    raise ReplyLost(f"{injection.name} was injected at {injection.gate}")


def _drop_reply(injection: Injection) -> None:
    raise ReplyDropped(f"{injection.name} was injected at {injection.gate}")


ACTIONS: dict[str, Callable[[Injection], None]] = {
    # The signal goes to this very thread. It stops the whole process all the same. A signal to the process may be delivered
    # to any of its threads, and this thread would then run on for long enough to send its next command.
    "stop": lambda injection: signal.pthread_kill(threading.get_ident(), signal.SIGSTOP),
    "kill": lambda injection: os.kill(os.getpid(), signal.SIGKILL),
    "raise": _raise,
    "hang": _hang,
    "fail": _fail,
    "wait": lambda injection: time.sleep(injection.for_ms / 1000),
    "lose_reply": _lose_reply,
    "drop_reply": _drop_reply,
}


class RequestContext(threading.local):
    """Where this thread is: in which request, in which phase, and what it has sent to the lock's store in that phase."""

    # of the whole process, not of this thread; None while no fault is prepared
    failpoints: ClassVar[Failpoints | None] = None
    # whether what this thread sends belongs to a lock; False while a resource uses the lock's store
    counting: bool = True
    # empty outside a request
    request: str = ""
    phase: str = RENEW
    # how many commands were sent in this phase
    commands: int = 0
    # when the last of these commands was sent; 0 without any
    sent_ns: int = 0
    # when the first command since the last refusal was sent that set something: the key can be held from then on; 0 without one
    agreed_from_ns: int = 0
    # by key: when the first of these commands that set this key was sent, as far as the store's client knows the key
    set_from_ns: Mapping[str, int] = NONE_SET
    # the name of the last of these commands
    command: str = ""
    # what the store answered to it
    answer: object = ""
    # whether the store agreed to any of these commands
    said_yes: bool = False
    # whether the store refused any of these commands
    refused: bool = False
    # whether any of these commands may have been a yes: the store agreed, or only the lock knows what the answer means
    may_have_agreed: bool = False
    # the last script of this phase, empty without one or where a later command agreed, and what it answered
    script: str = ""
    script_answer: object = ""
    # of nested locks: what the outer lock locked, when the last command of its acquire was sent, and when it was granted
    outer_key: str = ""
    outer_sent_ns: int = 0
    outer_got_ns: int = 0
    # when the release of the outer lock began; 0 before that
    outer_releasing_ns: int = 0

    def begin(self, request: str) -> None:
        """Start a request: it is about to ask for its lock."""
        self.request = request
        self.outer_key = ""
        self.outer_sent_ns = self.outer_got_ns = self.outer_releasing_ns = 0
        self.enter(ACQUIRE)

    def enter(self, phase: str) -> None:
        """Start the next phase of this request."""
        if (failpoints := self.failpoints) is not None:
            if self.commands:
                failpoints.usual_commands[self.phase] = self.commands
            if phase is READ and self.script:
                failpoints.learn(self.script, self.script_answer)
            failpoints.reach(self.phase, AFTER, self.request)
        self.phase = phase
        self.commands = self.sent_ns = self.agreed_from_ns = 0
        self.set_from_ns = NONE_SET
        self.answer = self.script_answer = self.command = self.script = ""
        self.said_yes = self.refused = self.may_have_agreed = False
        if failpoints is not None and phase is not RENEW:
            failpoints.reach(phase, BEFORE, self.request)

    def sending(self, command: str = "", commands: int = 1, error: type[Exception] = CommandFailed) -> None:
        """Note that a command is about to be sent to the lock's store; of several at once, ``command`` is the last.

        error: what the client raises if a fault lets the command fail.
        """
        if (failpoints := self.failpoints) is not None:
            renewing = self.phase is RENEW
            last = self.commands < failpoints.usual_commands.get(self.phase, 0) <= self.commands + commands
            if renewing or last:
                try:
                    for moment in (*[BEFORE] * renewing, *[BEFORE_LAST] * last):
                        failpoints.reach(self.phase, moment, self.request)
                except CommandFailed as failed:
                    raise error(str(failed)) from failed
        self.commands += commands
        self.command, self.answer = command, ""
        self.sent_ns = monotonic_ns()

    def answered(self, command: str, answer: object, meaning: Meaning = OPEN, script: str = "", key: str = "") -> None:
        """Note that the lock's store has answered a command, and the key that it is about.

        ``script`` names a script: only the lock knows its answers.
        """
        self.command, self.answer = command, answer
        if meaning is REFUSED:
            self.refused = True
            self.agreed_from_ns = 0
            self.set_from_ns = NONE_SET
        elif meaning is not NOTHING:
            self.may_have_agreed = True
        if script:
            self.script, self.script_answer = script, answer
        elif meaning is AGREED:  # this command grants the lock, and not the script before it
            self.script = ""
            self.agreed_from_ns = self.agreed_from_ns or self.sent_ns
            if key and self.phase is ACQUIRE and key not in self.set_from_ns:
                self.set_from_ns = {**self.set_from_ns, key: self.sent_ns}
        if not self.said_yes and self._is_yes(answer, meaning, script):
            self.said_yes = True
            if self.failpoints is not None:
                self.failpoints.reach(self.phase, AFTER_FIRST, self.request)
        if self.commands == 2 and self.failpoints is not None:
            self.failpoints.reach(self.phase, AFTER_SECOND, self.request)

    def unanswered(self, command: str, error: BaseException) -> None:
        """Note that no answer came to a command. The store may have carried it out."""
        self.command = command
        self.answer = f"error: {type(error).__name__}"
        self.may_have_agreed = True

    def _is_yes(self, answer: object, meaning: Meaning, script: str) -> bool:
        if script and self.failpoints is not None:
            return self.failpoints.is_yes(script, answer)
        return agreed(answer, meaning)

    @property
    def told_no(self) -> bool:
        """Return whether the store refused, and nothing that it answered in this phase can have been a yes."""
        return self.refused and not self.may_have_agreed

    @property
    def held_from_ns(self) -> int:
        """Return when the request can have begun to hold its key, if that was before its last command; 0 if it was not."""
        return self.agreed_from_ns if 0 < self.agreed_from_ns < self.sent_ns else 0

    def key_set_ns(self, key: str) -> int:
        """Return when the command that set this key was sent, if it was not the last one; 0 if it was, or is not known."""
        set_ns = self.set_from_ns.get(key, 0)
        return set_ns if set_ns < self.sent_ns else 0

    def got_outer(self, key: str) -> None:
        """Note that the outer of two nested locks was granted."""
        self.outer_key, self.outer_sent_ns, self.outer_got_ns = key, self.sent_ns, monotonic_ns()

    def releasing_outer(self) -> None:
        """Note that the release of the outer lock begins."""
        self.outer_releasing_ns = monotonic_ns()

    def end(self) -> None:
        """End the request: what this thread sends from here on belongs to no request."""
        self.enter(RENEW)
        self.request = ""


request_context = RequestContext()
