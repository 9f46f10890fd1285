"""The place of a thread or a task: for which request it works, if for any. It follows what the thread begins.

The place of a request follows it into threads, and into what it hands to a pool of threads. Tasks of asyncio,
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
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from app.request_context import RequestContext

START = threading.Thread.start
SUBMIT = ThreadPoolExecutor.submit


class CurrentRequest(NamedTuple):
    """For which request a thread or a task works."""

    context: RequestContext
    # the phase in which it was begun; empty for the thread that serves the request, and for who does its work
    begun_in: str = ""
    # whether it is within the work
    working: bool = False


PLACE: ContextVar[CurrentRequest | None] = ContextVar("place", default=None)
COUNTING: ContextVar[bool] = ContextVar("counting", default=True)


def begun_by() -> str:
    """Return the request that began this thread or task; empty where none did."""
    place = PLACE.get()
    return place.context.name if place is not None and place.begun_in else ""


def follow() -> None:
    """Let contexts follow, from now on, in this whole process: neither has a hook for it."""
    threading.Thread.start = _start  # type: ignore[method-assign, assignment]
    ThreadPoolExecutor.submit = _submit  # type: ignore[method-assign, assignment]


@contextmanager
def for_nobody() -> Iterator[None]:
    """While the block runs, begin threads for no request: those that a store's client keeps for the whole process."""
    place = PLACE.get()
    PLACE.set(None)
    try:
        yield
    finally:
        PLACE.set(place)


@contextmanager
def working(context: RequestContext) -> Iterator[None]:
    """While the block runs, do the work of a request in this thread or task, whichever request it was begun for."""
    before = PLACE.get()
    PLACE.set(CurrentRequest(context, working=True))
    try:
        yield
    finally:
        PLACE.set(CurrentRequest(context) if before is None or before.context is context else before)


def _start(thread: threading.Thread) -> None:
    if (place := _handed_on()) is not None:
        thread.run = partial(_at, place, thread.run)  # type: ignore[method-assign]
    START(thread)


def _submit(pool: ThreadPoolExecutor, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
    place = _handed_on()
    with for_nobody():  # a thread that the pool starts now will serve other requests as well
        return SUBMIT(pool, call if place is None else partial(_at, place, call), *args, **kwargs)


def _handed_on() -> CurrentRequest | None:
    """Return the place of what this thread begins now; None where it works for no request."""
    if (place := PLACE.get()) is None or place.context.is_over:
        return None
    return CurrentRequest(place.context, place.begun_in or place.context.phase)


def _at(place: CurrentRequest, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call at this place. A thread of a pool goes back to no request."""
    PLACE.set(place)
    try:
        return call(*args, **kwargs)
    finally:
        PLACE.set(None)
