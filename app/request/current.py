"""The current request of a thread or a task: for which request it works, if for any. It follows what the thread begins.

``here`` returns the context of that request; a thread that works for no request has a context of its own.

The request follows into threads, and into what it hands to a pool of threads. Tasks of asyncio,
``asyncio.to_thread`` and what is sent to the event loop of another thread need no help: Python copies the context variables
for them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any, NamedTuple

from app.failpoints import ACQUIRE, RELEASE
from app.request.context import RequestContext

START = threading.Thread.start
SUBMIT = ThreadPoolExecutor.submit


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
def not_counted() -> Iterator[None]:
    """While the block runs, nothing that this thread or task sends belongs to a lock."""
    before = COUNTING.set(False)
    try:
        yield
    finally:
        COUNTING.reset(before)


def begun_by() -> str:
    """Return the request that began this thread or task; empty if none did."""
    current = CURRENT.get()
    return current.context.request if current is not None and current.begun_in else ""


def follow() -> None:
    """Let requests follow into threads and pools, from now on, in this whole process: neither has a hook for it."""
    threading.Thread.start = _start  # type: ignore[method-assign, assignment]
    ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign, assignment]


@contextmanager
def for_nobody() -> Iterator[None]:
    """While the block runs, begin threads for no request: those that a store's client keeps for the whole process."""
    current = CURRENT.get()
    CURRENT.set(None)
    try:
        yield
    finally:
        CURRENT.set(current)


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
    CURRENT.set(current)
    try:
        return call(*args, **kwargs)
    finally:
        CURRENT.set(None)


class _Alone(threading.local):
    """The context of a thread for commands outside all requests."""

    def __init__(self) -> None:
        self.context = RequestContext()


_alone = _Alone()


def here() -> RequestContext:
    """Return the context to which this thread or task sends at this moment: that of its request, or its own."""
    if (current := CURRENT.get()) is None:
        return _alone.context
    context, begun_in, working = current
    in_phase = context.phase is begun_in if begun_in else working or context.phase is ACQUIRE or context.phase is RELEASE
    return context if in_phase and not context.is_over else _alone.context


def begin(request: str) -> RequestContext:
    """Start a request in this thread, and return its context."""
    context = RequestContext(request)
    CURRENT.set(CurrentRequest(context))
    context.enter(ACQUIRE)
    return context


def end() -> None:
    """End the request of this thread."""
    if (current := CURRENT.get()) is not None:
        current.context.end()
        CURRENT.set(None)
