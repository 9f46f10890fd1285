"""Where a request is, and what it has sent to the lock's store in its present phase: its context.

A context follows its request: into threads that the request starts, into what it hands to a pool of threads, and into tasks of
asyncio (``app/request/current.py``). All of them share the one context of the request.

A thread or a task works for a request in the phase in which it was begun. What a renewing thread sends while its request works,
or releases, belongs to no request, and to the phase ``renew``. Only what does the work itself follows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from time import monotonic_ns
from types import MappingProxyType
from typing import ClassVar

from app.failpoints import ACQUIRE, AFTER, AFTER_FIRST, AFTER_SECOND, BEFORE, BEFORE_LAST, READ, RELEASE, RENEW
from app.failpoints.injection import CommandFailed, Failpoints
from app.request.answer import AGREED, NOTHING, OPEN, REFUSED, Meaning, agreed
from app.request.lock_keys import GRANTED, named

# when this thread or task sent its last command; others of the same request may have sent one since
SENT_NS: ContextVar[int] = ContextVar("sent_ns", default=0)


class RequestContext:
    """In which phase a request is, and what it has sent to the lock's store in that phase."""

    # of the whole process; None while no fault is prepared
    failpoints: ClassVar[Failpoints | None] = None
    phase: str = RENEW
    # whether the request has its answer: work that continues after that reaches no failpoint
    is_over: bool = False
    # how many commands were sent in this phase
    commands: int = 0
    # those of them that are about the lock's keys, as far as that is known (app/request/lock_keys.py)
    of_the_lock: int = 0
    # how many of those had been sent when the store said yes to one of them for the last time
    agreed_last: int = 0
    # the keys of the acquire and of the release; only noted while a fault is prepared
    touched: frozenset[str] = frozenset()
    # when the last of these commands was sent; 0 without any
    sent_ns: int = 0
    # by key: when the present try for it began, by a command that can have set it or its TTL, and which servers it has asked
    tries: Mapping[str, tuple[int, frozenset[int]]] = MappingProxyType({})
    # the name of the last of these commands
    command: str = ""
    # the store's answer to it
    answer: object = ""
    # the key of the grant, and the last command of this phase about it, with its answer
    key: str = ""
    about_key: tuple[str, object] | None = None
    # what the answers to these commands meant, as far as is known; None for a command without an answer
    meanings: frozenset[Meaning | None] = frozenset()
    # the session or the lease to which the created lock belongs; empty if to none, None if the store has no such
    session: str | None = None
    # the last script of this phase, empty without one or if a later command agreed, and what it answered
    script: str = ""
    script_answer: object = ""
    # of nested locks: what the outer lock locked, when it was granted, and when its release began; 0 before that
    outer_key: str = ""
    outer_got_ns: int = 0
    outer_releasing_ns: int = 0

    def __init__(self, request: str = "") -> None:
        """Take the request; empty for commands that a thread sends outside all requests."""
        self.request = request

    def enter(self, phase: str) -> None:
        """Start the next phase of this request."""
        if self.is_over:
            return
        if (failpoints := self.failpoints) is not None:
            if self.of_the_lock:
                failpoints.usual_commands[self.phase] = self.agreed_last or self.of_the_lock
            if phase is READ and self.script:
                failpoints.learn(self.script, self.script_answer)
            failpoints.reach(self.phase, AFTER, self.request)
        self.phase = phase
        self._forget()
        if failpoints is not None and phase is not RENEW:
            failpoints.reach(phase, BEFORE, self.request)

    def _forget(self) -> None:
        """Forget the commands of the phase before."""
        self.commands = self.of_the_lock = self.agreed_last = self.sent_ns = 0
        self.tries = {}
        self.answer = self.script_answer = self.command = self.script = ""
        self.meanings = frozenset()
        self.session = None
        self.about_key = None

    def fail_work(self) -> str:
        """Let the release begin after work that failed: no failpoint is there. Return the phase in which the work failed."""
        failed_in = self.phase
        if failed_in not in (ACQUIRE, RELEASE, RENEW):
            self.phase = RELEASE
            self._forget()
        return failed_in

    def granted(self, key: str) -> None:
        """Note the key of a grant: it shows which of the keys that the acquire was about are those of the lock."""
        self.key = key
        GRANTED.add(key)
        if self.failpoints is not None:
            self.failpoints.keys.learn(key, self.touched)

    def sending(
        self, command: str = "", commands: int = 1, error: type[Exception] = CommandFailed, keys: Sequence[str] = ()
    ) -> None:
        """Note that a command is about to be sent to the lock's store; of several at once, ``command`` is the last.

        error: what the client raises if a fault lets the command fail. keys: what the command is about, where that is known.
        """
        if (failpoints := self.failpoints) is not None:
            is_about_it = failpoints.keys.are_of_the_lock(keys, self.phase is RENEW)
            renewing = is_about_it and self.phase is RENEW
            last = is_about_it and self.of_the_lock < failpoints.usual_commands.get(self.phase, 0) <= self.of_the_lock + commands
            if renewing or last:
                try:
                    for moment in (*[BEFORE] * renewing, *[BEFORE_LAST] * last):
                        failpoints.reach(self.phase, moment, self.request, command, keys)
                except CommandFailed as failed:
                    self.command, self.answer = command, f"error: {failed}"  # the one before it may have been answered
                    raise error(str(failed)) from failed
            self.of_the_lock += commands * is_about_it
            if self.phase in (ACQUIRE, RELEASE):
                self.touched |= frozenset(keys)
        self.commands += commands
        self.command, self.answer = command, ""
        self.sent_ns = monotonic_ns()
        SENT_NS.set(self.sent_ns)

    def answered(
        self,
        command: str,
        answer: object,
        meaning: Meaning = OPEN,
        script: str = "",
        keys: Sequence[str] = (),
        granted_now: bool = False,
        server: int = 0,
    ) -> None:
        """Note that the lock's store has answered a command, and the keys that it is about.

        ``script`` names a script: only the lock knows its answers. granted_now: the command waited at the store, so what it
        granted was granted just now, and not when it was sent. server: its port, of one of several servers.
        """
        self.command, self.answer = command, answer
        if self.phase is RELEASE and self.key and keys:  # other commands of a release say nothing about the lock
            if self.key in keys or (self.about_key is None and named(keys, self.key)):
                self.about_key = command, answer
            elif self.about_key is not None:
                self.command, self.answer = self.about_key
        if granted_now:
            self.sent_ns = monotonic_ns()
        failpoints = self.failpoints
        is_yes = failpoints.is_yes(script, answer) if script and failpoints is not None else agreed(answer, meaning)
        self.meanings |= {AGREED if is_yes else meaning}
        if self.phase is ACQUIRE and meaning in (AGREED, OPEN):
            self._try(keys, server)
        if script:
            self.script, self.script_answer = script, answer
        elif meaning is AGREED:  # this command grants the lock, and not the script before it
            self.script = ""
        if failpoints is not None:
            self._reach(failpoints, command, keys, is_yes)

    def _reach(self, failpoints: Failpoints, command: str, keys: Sequence[str], is_yes: bool) -> None:
        """Reach the failpoints after a command."""
        if is_yes and failpoints.keys.are_of_the_lock(keys):
            is_first, self.agreed_last = not self.agreed_last, self.of_the_lock or 1
            if is_first:
                failpoints.reach(self.phase, AFTER_FIRST, self.request, command, keys)
        if self.commands == 2:
            failpoints.reach(self.phase, AFTER_SECOND, self.request, command, keys)

    def _try(self, keys: Sequence[str], server: int) -> None:
        """Note that a server was asked for these keys: a try asks each server once."""
        sent_ns = SENT_NS.get() or self.sent_ns
        for key in keys:
            began_ns, asked = self.tries.get(key, (sent_ns, frozenset()))
            present = (sent_ns, frozenset({server})) if server in asked else (began_ns, asked | {server})
            self.tries = {**self.tries, key: present}

    def leased_ns(self, key: str) -> int:
        """Return when the command was sent from which the lease of this key counts; 0 if it was the last one, or is not known.

        It is the last one that can have set the key, or its TTL; of several servers, the first one of the last try.
        """
        began_ns, _ = self.tries.get(named(self.tries, key), (0, None))
        return began_ns if began_ns < self.sent_ns else 0

    def unanswered(self, command: str, error: BaseException) -> None:
        """Note that no answer came to a command. The store may have carried it out."""
        self.command, self.answer = command, f"error: {type(error).__name__}"
        self.meanings |= {None}

    def hangs_on(self, session: str) -> None:
        """Note on which session or lease something hangs that is created now; empty if on none."""
        if session or self.session is None:
            self.session = session

    @property
    def unheard(self) -> bool:
        """Return whether nothing but refusals was answered, and the last command not at all."""
        is_answered = self.answer != "" and not str(self.answer).startswith("error: ")
        return self.commands > 0 and not is_answered and self.meanings <= {REFUSED, OPEN, None}

    @property
    def told_no(self) -> bool:
        """Return whether the store refused, and nothing that it answered in this phase can have been a yes."""
        return REFUSED in self.meanings and self.meanings <= {REFUSED, NOTHING}

    def end(self) -> None:
        """End the request: later commands of this thread belong to no request."""
        self.enter(RENEW)
        if self.failpoints is not None:
            self.failpoints.keys.learn("", self.touched)
        self.is_over = True
