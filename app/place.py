"""The place of a thread or a task: for which request it works, if for any (``app/request_context.py``)."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from app.request_context import RequestContext


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
