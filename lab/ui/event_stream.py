"""News for whoever listens, as server-sent events: made once, sent to all, and never more than the last few for who is slow."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

BEHIND = 100  # messages: a browser that takes no more is left to connect again, and is told then how things stand
LISTENERS = 200


class TooManyListeners(Exception):  # noqa: N818 - says what happened
    """As many listen as can."""


class EventStream:
    """Safe to use from many threads."""

    def __init__(self) -> None:
        self._listeners: list[queue.Queue[bytes | None]] = []
        self._mutex = threading.Lock()

    @property
    def has_listeners(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def publish(self, **news: object) -> None:
        """To everybody who listens now."""
        message = encoded(news)
        with self._mutex:
            for one in list(self._listeners):
                try:
                    one.put_nowait(message)
                except queue.Full:
                    self._listeners.remove(one)
                    _cut(one)

    @contextmanager
    def listening(self) -> Iterator[queue.Queue[bytes | None]]:
        """The messages from now on; None is the end of them. Raises TooManyListeners."""
        mine: queue.Queue[bytes | None] = queue.Queue(BEHIND)
        with self._mutex:
            if len(self._listeners) >= LISTENERS:
                raise TooManyListeners(f"{LISTENERS} browsers listen already")
            self._listeners.append(mine)
        try:
            yield mine
        finally:
            with self._mutex:
                if mine in self._listeners:
                    self._listeners.remove(mine)

    def end(self) -> None:
        """No more news."""
        with self._mutex:
            for one in self._listeners:
                _cut(one)
            self._listeners.clear()


def encoded(news: object) -> bytes:
    """One event on the wire."""
    return b"data: " + msgspec.json.encode(news) + b"\n\n"


def _cut(one: queue.Queue[bytes | None]) -> None:
    while True:
        try:
            one.get_nowait()
        except queue.Empty:
            break
    one.put_nowait(None)
