"""Tell for which request a thread or a task works, and keep its context: the commands that it has sent to the lock's store.

``here`` returns the context. The context follows its request into threads that the request starts, and into calls that it gives
to a pool of threads. Tasks of asyncio, ``asyncio.to_thread`` and coroutines that run in the event loop of another thread need no
help: Python copies the context variables for them. All of them share the one context of the request.

A thread or a task works for a request in the phase in which it was started. Commands that a renewing thread sends while its
request works or releases belong to no request, and to the phase ``renew``: they are journaled as renewals. Only a thread that
does the work itself is in the phases of its request.
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
from app.request.answer import AGREED, GRANTED, NOTHING, OPEN, REFUSED, UNKNOWN, Meaning, agreed, with_name

START = threading.Thread.start
SUBMIT = ThreadPoolExecutor.submit


@dataclass(slots=True)
class Sent:
    """The commands to the lock's store in one phase of a request, and the store's answers."""

    commands: int = 0
    # how many of the commands count as commands with a key of the lock (Failpoints.are_of_the_lock)
    of_the_lock: int = 0
    # the place, among the commands counted in ``of_the_lock``, of the last one to which the store said yes: 1 or more; 0 if none
    agreed_last: int = 0
    # when the last command was sent, in nanoseconds; 0 before the first
    at_ns: int = 0
    # by key: when the current try to set the key or its TTL began, and which servers were asked in this try
    tries: dict[str, tuple[int, frozenset[int]]] = field(default_factory=dict)
    # the name of the last command, and the store's answer; ``of_key`` has both for the last command with the key of the grant
    last: tuple[str, object] = ("", "")
    of_key: tuple[str, object] | None = None
    # the meanings of all answers in this phase
    meanings: frozenset[Meaning] = frozenset()
    # the session or lease to which the created key or node belongs; empty if it belongs to none, None if the store has neither
    session: str | None = None
    # the last script and its answer; None if no script ran, or if the store said yes to a later command
    script: tuple[str, object] | None = None

    def leased_ns(self, key: str) -> int:
        """Return when the lease of a key began, in nanoseconds; 0 if it began with the last command, or if this is not known.

        It began when the last command that can have set the key or its TTL was sent; with several servers, the first of that try.
        """
        began_ns, _ = self.tries.get(with_name(self.tries, key), (0, None))
        return began_ns if began_ns < self.at_ns else 0

    @property
    def unheard(self) -> bool:
        """Return whether all answers were refusals, and the last command got no answer."""
        answer = self.last[1]
        is_answered = answer != "" and not str(answer).startswith("error: ")
        return self.commands > 0 and not is_answered and self.meanings <= {REFUSED, OPEN, UNKNOWN}

    @property
    def told_no(self) -> bool:
        """Return whether the store refused, and no answer in this phase can have been a yes."""
        return REFUSED in self.meanings and self.meanings <= {REFUSED, NOTHING}


class RequestContext:
    """The phase of a request, and its commands in this phase. A thread outside all requests has a context as well."""

    # the faults of this process, None if none is prepared; and its journal
    failpoints: ClassVar[Failpoints | None] = None
    journal: ClassVar[Journal | None] = None

    def __init__(self, request: str = "") -> None:
        """Take the request; empty for commands that a thread sends outside all requests."""
        self.request = request
        self.phase: str = RENEW
        # whether the request has its answer: work that continues after that reaches no failpoint
        self.is_over = False
        self.sent = Sent()
        self.key = ""  # the key of the grant
        # of nested locks: the key of the outer lock, when it was granted, and when its release began; 0 before that
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
        """Start the release after the work has failed, without failpoints. Return the phase in which the work failed."""
        failed_in = self.phase
        if failed_in not in (ACQUIRE, RELEASE, RENEW):
            self.phase, self.sent = RELEASE, Sent()
        return failed_in

    def granted(self, key: str) -> None:
        """Note the key of a grant. If commands of the acquire had this key, it is a key of the lock at the store."""
        self.key = key
        GRANTED.add(key)
        if self.failpoints is not None and key in self.sent.tries:
            self.failpoints.lock_keys.add(key)

    def sending(
        self, command: str = "", commands: int = 1, error: type[Exception] = CommandFailed, keys: Sequence[str] = ()
    ) -> None:
        """Note that a command is about to be sent to the lock's store; of several at once, ``command`` is the last.

        error: the client's error, for a fault that lets the command fail. keys: the keys of the command, if they are known.
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
        subject: str = "",
        prolongs: bool = False,
    ) -> None:
        """Note the answer of the lock's store to a command with these keys. Journal a renewal.

        answer: the answer, or an error if none came: the store may have carried the command out. script: the script of the
        command, if it runs one. server: the port of the server that answered, if there are several. subject: the key or the
        session that a renewal prolongs, if it is not in ``keys``. prolongs: whether the command can prolong a lease.
        """
        if isinstance(answer, BaseException):
            answer, meaning = f"error: {type(answer).__name__}", UNKNOWN
        sent = self.sent
        sent.last = command, answer
        if self.key and (self.key in keys or (sent.of_key is None and with_name(keys, self.key))):
            sent.of_key = sent.last  # other commands of a release say nothing about the lock
        failpoints, is_good = self.failpoints, agreed(answer, meaning)
        is_yes = failpoints.is_yes(script, answer) if script and failpoints is not None else is_good
        sent.meanings |= {AGREED if is_yes else meaning}
        if self.phase is ACQUIRE and meaning in (AGREED, OPEN):
            self._try(keys, server)
        if script:
            sent.script = script, answer
        elif meaning is AGREED:  # this command grants the lock; the script before it did not
            sent.script = None
        if failpoints is not None:
            self._reach(failpoints, keys, is_yes)
        self.renewed(command, answer, [subject] if subject else keys, prolonged=is_good and prolongs, server=server)

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
        """Note that a server was asked for these keys. A second question to the same server begins a new try."""
        tries, sent_ns = self.sent.tries, self.sent.at_ns
        for key in keys:
            began_ns, servers = tries.get(key, (sent_ns, frozenset()))
            tries[key] = (sent_ns, frozenset({server})) if server in servers else (began_ns, servers | {server})

    def renewed(
        self,
        command: str,
        answer: object,
        subjects: Sequence[str] = (),
        *,
        prolonged: bool = False,
        server: int = 0,
        sent_ns: int = 0,
    ) -> None:
        """Journal a command outside any request, once for each key or session that it renews: any of them may be the lock's.

        prolonged: whether it can have prolonged a lease. server: the port of the server, if it was sent to one of several.
        sent_ns: when it was sent, if another thread has the answer.
        """
        if self.phase is not RENEW or self.journal is None:
            return
        current = CURRENT.get()
        begun_by = current.context.request if current is not None and current.begun_in else ""
        for key in subjects or ("",):
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
        """Note to which session or lease the key or node belongs that is created now; empty if to none."""
        if session or self.sent.session is None:
            self.sent.session = session


class CurrentRequest(NamedTuple):
    """The request for which a thread or a task works."""

    context: RequestContext
    # the phase in which the thread was started; empty for the thread that serves the request, and for a thread that does its work
    begun_in: str = ""
    # whether the thread is within the work
    working: bool = False


CURRENT: ContextVar[CurrentRequest | None] = ContextVar("current", default=None)
# whether the commands of this thread or task belong to a lock; False while a resource uses the lock's store
COUNTING: ContextVar[bool] = ContextVar("counting", default=True)


@contextmanager
def _having(variable: ContextVar[Any], value: object) -> Iterator[None]:
    before = variable.get()
    variable.set(value)
    try:
        yield
    finally:
        variable.set(before)


# while the block runs, no command of this thread or task belongs to a lock
not_counted = partial(_having, COUNTING, False)
# while the block runs, threads are started for no request: a store's client keeps them for the whole process
for_nobody = partial(_having, CURRENT, None)


def follow() -> None:
    """Replace methods of threads and pools: the context of a request then follows it into them. Python has no hook for this."""
    threading.Thread.start = _start  # type: ignore[method-assign, assignment]
    ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign, assignment]


@contextmanager
def working(context: RequestContext) -> Iterator[None]:
    """While the block runs, this thread or task does the work of a request, even if it was started for another request."""
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
    """Return the request and phase for a thread that this thread starts now; None if this thread works for no request."""
    if (current := CURRENT.get()) is None or current.context.is_over:
        return None
    return CurrentRequest(current.context, current.begun_in or current.context.phase)


def _at(current: CurrentRequest, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function for this request. Afterwards, a thread of a pool works for no request again."""
    with _having(CURRENT, current):
        return call(*args, **kwargs)


class _Alone(threading.local, RequestContext):
    """The context of each thread for commands outside all requests."""


_alone = _Alone()


def here() -> RequestContext:
    """Return the context of the commands that this thread or task sends now: the context of its request, or its own."""
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
