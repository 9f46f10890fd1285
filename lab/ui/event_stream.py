"""Server-sent events for all listeners of the live page. Each event is encoded once; a slow
listener gets only the last few.
"""

from __future__ import annotations

import queue
import threading
from contextlib import suppress

import msgspec

BEHIND = 100  # messages: a slower browser is disconnected; it connects again and gets the current state
LISTENERS = 250  # more than there may be voters (predictions.py)


class TooManyListeners(Exception):  # noqa: N818 - an event
    """The stream has its largest number of listeners."""


class EventStream:
    """A stream of events. Safe to use from many threads."""

    def __init__(self) -> None:
        self._listeners: list[queue.Queue[bytes | None]] = []
        self._mutex = threading.Lock()

    def publish(self, **news: object) -> None:
        """Send an event to all current listeners."""
        message = encoded(news)
        with self._mutex:
            for one in list(self._listeners):
                try:
                    one.put_nowait(message)
                except queue.Full:
                    self._listeners.remove(one)
                    _cut(one)

    def listen(self) -> queue.Queue[bytes | None]:
        """Return a queue of the messages from now on; None ends it. Raises TooManyListeners."""
        mine: queue.Queue[bytes | None] = queue.Queue(BEHIND)
        with self._mutex:
            if len(self._listeners) >= LISTENERS:
                raise TooManyListeners(f"{LISTENERS} browsers listen already, which is the most")
            self._listeners.append(mine)
        return mine

    def leave(self, mine: queue.Queue[bytes | None]) -> None:
        """Remove a listener."""
        with self._mutex, suppress(ValueError):  # it is not there any more
            self._listeners.remove(mine)

    def end(self) -> None:
        """Disconnect all listeners."""
        with self._mutex:
            for one in self._listeners:
                _cut(one)
            self._listeners.clear()


def encoded(news: object) -> bytes:
    """Return one event as it is sent."""
    return b"data: " + msgspec.json.encode(news) + b"\n\n"


def _cut(events: queue.Queue[bytes | None]) -> None:
    with suppress(queue.Empty):
        while True:
            events.get_nowait()
    events.put_nowait(None)
