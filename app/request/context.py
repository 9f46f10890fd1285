"""For which request a thread or a task works, and what that request has sent to the lock's store: its context.

``here`` returns the context. It follows its request into threads that the request starts, and into what it hands to a pool of
threads. Tasks of asyncio, ``asyncio.to_thread`` and what is sent to the event loop of another thread need no help: Python copies
the context variables for them. All of them share the one context of the request.

A thread or a task works for a request in the phase in which it was begun. What a renewing thread sends while its request works,
or releases, belongs to no request, and to the phase ``renew``: it is journaled as a renewal. Only what does the work itself
follows it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from time import monotonic_ns
from typing import Any, ClassVar, NamedTuple

from app.failpoints import ACQUIRE, AFTER, AFTER_FIRST, AFTER_SECOND, BEFORE, BEFORE_LAST, READ, RELEASE, RENEW
from app.failpoints.injection import CommandFailed, Failpoints
from app.journal import Journal, Renewed
from app.request.answer import AGREED, GRANTED, NOTHING, OPEN, REFUSED, UNKNOWN, Meaning, agreed, named

START = threading.Thread.start
SUBMIT = ThreadPoolExecutor.submit


@dataclass(slots=True)
class Sent:
    """What was sent to the lock's store in one phase of a request, and what it answered."""

    commands: int = 0
    # those of them that are about the lock's keys, as far as that is known (Failpoints.are_of_the_lock)
    of_the_lock: int = 0
    # how many of those had been sent when the store said yes to one of them for the last time
    agreed_last: int = 0
    # when the last command was sent; 0 without any
    at_ns: int = 0
    # by key: when the present try for it began, by a command that can have set it or its TTL, and which servers it has asked
    tries: dict[str, tuple[int, frozenset[int]]] = field(default_factory=dict)
    # the name of the last command, and the store's answer to it; and those of the last one about the key of the grant
    last: tuple[str, object] = ("", "")
    of_key: tuple[str, object] | None = None
    # what the answers meant, as far as is known
    meanings: frozenset[Meaning] = frozenset()
    # the session or the lease to which the created lock belongs; empty if to none, None if the store has no such
    session: str | None = None
    # the last script, with its answer; None without one, or if a later command agreed
    script: tuple[str, object] | None = None

    def leased_ns(self, key: str) -> int:
        """Return when the command was sent from which the lease of this key counts; 0 if it was the last one, or is not known.

        It is the last one that can have set the key, or its TTL; of several servers, the first one of the last try.
        """
        began_ns, _ = self.tries.get(named(self.tries, key), (0, None))
        return began_ns if began_ns < self.at_ns else 0

    @property
    def unheard(self) -> bool:
        """Return whether nothing but refusals was answered, and the last command not at all."""
        answer = self.last[1]
        is_answered = answer != "" and not str(answer).startswith("error: ")
        return self.commands > 0 and not is_answered and self.meanings <= {REFUSED, OPEN, UNKNOWN}

    @property
    def told_no(self) -> bool:
        """Return whether the store refused, and nothing that it answered in this phase can have been a yes."""
        return REFUSED in self.meanings and self.meanings <= {REFUSED, NOTHING}


class RequestContext:
    """The phase of a request, and what the request has sent in it. A thread outside all requests has a context as well."""

    # of the whole process: the faults, None while none is prepared; and its journal
    failpoints: ClassVar[Failpoints | None] = None
    journal: ClassVar[Journal | None] = None

    def __init__(self, request: str = "") -> None:
        """Take the request; empty for commands that a thread sends outside all requests."""
        self.request = request
        self.phase: str = RENEW
        # whether the request has its answer: work that continues after that reaches no failpoint
        self.is_over = False
        self.sent = Sent()
        self.key = ""  # of the grant
        # of nested locks: what the outer lock locked, when it was granted, and when its release began; 0 before that
        self.outer_key = ""
        self.outer_got_ns = self.outer_releasing_ns = 0

    def enter(self, phase: str) -> None:
        """Start the next phase of this request."""
        if self.is_over:
            return
        if (failpoints := self.failpoints) is not None:
            if self.sent.of_the_lock:
                failpoints.usual_commands[self.phase] = self.sent.agreed_last or self.sent.of_the_lock
            if phase is READ and self.sent.script:
                failpoints.learn(*self.sent.script)
            failpoints.reach(self.phase, AFTER, self.request)
        self.phase, self.sent = phase, Sent()
        if failpoints is not None and phase is not RENEW:
            failpoints.reach(phase, BEFORE, self.request)

    def fail_work(self) -> str:
        """Let the release begin after work that failed: no failpoint is there. Return the phase in which the work failed."""
        failed_in = self.phase
        if failed_in not in (ACQUIRE, RELEASE, RENEW):
            self.phase, self.sent = RELEASE, Sent()
        return failed_in

    def granted(self, key: str) -> None:
        """Note the key of a grant: it shows which of the keys that the acquire was about are those of the lock."""
        self.key = key
        GRANTED.add(key)
        if self.failpoints is not None and key in self.sent.tries:
            self.failpoints.lock_keys.add(key)

    def sending(
        self, command: str = "", commands: int = 1, error: type[Exception] = CommandFailed, keys: Sequence[str] = ()
    ) -> None:
        """Note that a command is about to be sent to the lock's store; of several at once, ``command`` is the last.

        error: what the client raises if a fault lets the command fail. keys: what the command is about, where that is known.
        """
        sent = self.sent
        if (failpoints := self.failpoints) is not None and failpoints.are_of_the_lock(keys):
            usual = failpoints.usual_commands.get(self.phase, 0)
            is_last = sent.of_the_lock < usual <= sent.of_the_lock + commands
            try:
                if self.phase is RENEW or is_last:
                    failpoints.reach(self.phase, BEFORE_LAST if is_last else BEFORE, self.request, keys)
            except CommandFailed as failed:
                sent.last, sent.of_key = (command, f"error: {failed}"), None  # the one before it may have been answered
                raise error(str(failed)) from failed
            sent.of_the_lock += commands
        sent.commands += commands
        sent.last = command, ""
        sent.at_ns = monotonic_ns()

    def answered(
        self,
        command: str,
        answer: object,
        meaning: Meaning = OPEN,
        keys: Sequence[str] = (),
        *,
        script: str = "",
        server: int = 0,
        about: str = "",
        prolongs: bool = False,
    ) -> None:
        """Note the answer of the lock's store to a command, and the keys that it is about. Journal a renewal.

        answer: an error if none came: the store may have carried the command out. ``script`` names a script: only the lock knows
        its answers. server: its port, of one of several servers. about: of a renewal, the key or the session that the command
        names in another way. prolongs: whether the command can prolong a lease.
        """
        if isinstance(answer, BaseException):
            answer, meaning = f"error: {type(answer).__name__}", UNKNOWN
        sent = self.sent
        sent.last = command, answer
        if self.key and (self.key in keys or (sent.of_key is None and named(keys, self.key))):
            sent.of_key = sent.last  # other commands of a release say nothing about the lock
        failpoints, is_good = self.failpoints, agreed(answer, meaning)
        is_yes = failpoints.is_yes(script, answer) if script and failpoints is not None else is_good
        sent.meanings |= {AGREED if is_yes else meaning}
        if self.phase is ACQUIRE and meaning in (AGREED, OPEN):
            self._try(keys, server)
        if script:
            sent.script = script, answer
        elif meaning is AGREED:  # this command grants the lock, and not the script before it
            sent.script = None
        if failpoints is not None:
            self._reach(failpoints, keys, is_yes)
        self.renewed(command, answer, [about] if about else keys, prolonged=is_good and prolongs, server=server)

    def _reach(self, failpoints: Failpoints, keys: Sequence[str], is_yes: bool) -> None:
        """Reach the failpoints after a command."""
        sent = self.sent
        if is_yes and failpoints.are_of_the_lock(keys):
            is_first, sent.agreed_last = not sent.agreed_last, sent.of_the_lock or 1
            if is_first:
                failpoints.reach(self.phase, AFTER_FIRST, self.request, keys)
        if sent.commands == 2:
            failpoints.reach(self.phase, AFTER_SECOND, self.request, keys)

    def _try(self, keys: Sequence[str], server: int) -> None:
        """Note that a server was asked for these keys: a try asks each server once."""
        tries, sent_ns = self.sent.tries, self.sent.at_ns
        for key in keys:
            began_ns, asked = tries.get(key, (sent_ns, frozenset()))
            tries[key] = (sent_ns, frozenset({server})) if server in asked else (began_ns, asked | {server})

    def renewed(
        self,
        command: str,
        answer: object,
        about: Sequence[str] = (),
        *,
        prolonged: bool = False,
        server: int = 0,
        sent_ns: int = 0,
    ) -> None:
        """Journal a command outside any request, once for each key or session that it is about: any of them may be the lock's.

        prolonged: whether it can have prolonged a lease. server: the port of the one server that it was sent to. sent_ns:
        when it was sent, if another thread has the answer.
        """
        if self.phase is not RENEW or self.journal is None:
            return
        current = CURRENT.get()
        begun_by = current.context.request if current is not None and current.begun_in else ""
        for key in about or ("",):
            self.journal.record(
                Renewed(
                    request="",
                    key=key,
                    command=command,
                    answer=str(answer),
                    prolonged=prolonged,
                    begun_by=begun_by,
                    sent_ns=sent_ns or self.sent.at_ns,
                    server=server,
                    renewed_ns=monotonic_ns(),
                )
            )

    def hangs_on(self, session: str) -> None:
        """Note on which session or lease something hangs that is created now; empty if on none."""
        if session or self.sent.session is None:
            self.sent.session = session


class CurrentRequest(NamedTuple):
    """For which request a thread or a task works."""

    context: RequestContext
    # the phase in which it was begun; empty for the thread that serves the request, and for who does its work
    begun_in: str = ""
    # whether it is within the work
    working: bool = False


CURRENT: ContextVar[CurrentRequest | None] = ContextVar("current", default=None)
# whether what this thread or task sends belongs to a lock; False while a resource uses the lock's store
COUNTING: ContextVar[bool] = ContextVar("counting", default=True)


@contextmanager
def _having(variable: ContextVar[Any], value: object) -> Iterator[None]:
    before = variable.get()
    variable.set(value)
    try:
        yield
    finally:
        variable.set(before)


# while the block runs, nothing that this thread or task sends belongs to a lock
not_counted = partial(_having, COUNTING, False)
# while the block runs, begin threads for no request: those that a store's client keeps for the whole process
for_nobody = partial(_having, CURRENT, None)


def follow() -> None:
    """Let requests follow into threads and pools, from now on, in this whole process: neither has a hook for it."""
    threading.Thread.start = _start  # type: ignore[method-assign, assignment]
    ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign, assignment]


@contextmanager
def working(context: RequestContext) -> Iterator[None]:
    """While the block runs, do the work of a request in this thread or task, whichever request it was begun for."""
    before = CURRENT.get()
    CURRENT.set(CurrentRequest(context, working=True))
    try:
        yield
    finally:
        CURRENT.set(CurrentRequest(context) if before is None or before.context is context else before)


def _start(thread: threading.Thread) -> None:
    if (current := _handed_on()) is not None:
        thread.run = partial(_at, current, thread.run)  # type: ignore[method-assign]
    START(thread)


def _submit(pool: ThreadPoolExecutor, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
    current = _handed_on()
    with for_nobody():  # a thread that the pool starts now will serve other requests as well
        return SUBMIT(pool, call if current is None else partial(_at, current, call), *args, **kwargs)


def _handed_on() -> CurrentRequest | None:
    """Return the request for which this thread works now; threads that it starts get the same one. None if there is none."""
    if (current := CURRENT.get()) is None or current.context.is_over:
        return None
    return CurrentRequest(current.context, current.begun_in or current.context.phase)


def _at(current: CurrentRequest, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call for this request. A thread of a pool goes back to no request."""
    with _having(CURRENT, current):
        return call(*args, **kwargs)


class _Alone(threading.local, RequestContext):
    """The context of each thread for commands outside all requests."""


_alone = _Alone()


def here() -> RequestContext:
    """Return the context to which this thread or task sends at this moment: that of its request, or its own."""
    if (current := CURRENT.get()) is None:
        return _alone
    context, begun_in, working = current
    in_phase = context.phase is begun_in if begun_in else working or context.phase is ACQUIRE or context.phase is RELEASE
    return context if in_phase and not context.is_over else _alone


def begin(request: str) -> RequestContext:
    """Start a request in this thread, and return its context."""
    context = RequestContext(request)
    CURRENT.set(CurrentRequest(context))
    context.enter(ACQUIRE)
    return context


def end() -> None:
    """End the request of this thread: its later commands belong to no request."""
    if (current := CURRENT.get()) is not None:
        current.context.enter(RENEW)
        current.context.is_over = True
        CURRENT.set(None)
