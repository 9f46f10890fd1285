"""One write that a network delays: it is on its way to a server, and arrives late, after its sender may have given it up."""

from __future__ import annotations

import contextlib
import socket
import threading

WITHIN_S = 2.0


class DelayedWrite:
    """The next bytes with a marker. A proxy takes them from their sender, and keeps them until ``deliver``."""

    def __init__(self, marker: bytes) -> None:
        self._marker = marker
        self._sender: socket.socket | None = None
        self._is_over = False
        self._mutex = threading.Lock()
        self._due = threading.Event()
        self._arrived = threading.Event()

    def takes(self, sender: socket.socket, data: bytes) -> bool:
        """Return whether these bytes are the ones to keep: the first with the marker."""
        if self._marker not in data:
            return False
        with self._mutex:
            if self._sender is not None or self._is_over:
                return False
            self._sender = sender
            return True

    @property
    def is_taken(self) -> bool:
        """Return whether the bytes have been sent, and are on their way."""
        return self._sender is not None

    def pass_on(self, to: socket.socket, data: bytes) -> None:
        """Wait until the bytes are due, and send them. Raises OSError."""
        self._due.wait()
        to.sendall(data)
        self._arrived.set()

    def break_off(self) -> None:
        """End the sender's connection: it learns that it will get no answer. The bytes are still on their way."""
        with self._mutex:
            sender = self._sender
        if sender is not None:
            with contextlib.suppress(OSError):
                sender.shutdown(socket.SHUT_RDWR)

    def deliver(self) -> int:
        """Let the bytes arrive. Return how many writes did: 1, or 0 if none was taken."""
        with self._mutex:
            taken, self._is_over = self._sender is not None, True
        self._due.set()
        return int(taken and self._arrived.wait(WITHIN_S))
