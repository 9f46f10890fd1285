"""A wire to a server. It can be held: what the server sends over some of its connections from then on never arrives. Or cut."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

CHUNK = 65536


class TcpProxy:
    """Listens on a port of 127.0.0.1 and passes on to another, until it is closed.

    marker: what a client says on the connections that are held with ``hold``; all others go on.
    """

    def __init__(self, to_port: int, marker: bytes = b"") -> None:
        self._to_port = to_port
        self._marker = marker
        self._held = threading.Event()
        self._whole = threading.Event()
        self._whole.set()
        self._sockets: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()

    def hold(self) -> None:
        """Pass on nothing more of what the server says to those who said the marker; they are not told."""
        self._held.set()

    @property
    def address(self) -> str:
        """``host:port``, where it listens."""
        return f"127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Pass on nothing, either way, until it is mended; then what waited goes first, as a network would send it again."""
        self._whole.clear()

    def mend(self) -> None:
        """Pass on again."""
        self._whole.set()

    def close(self) -> None:
        """End it, and all its connections."""
        self.mend()
        for one in (self._server, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                near, _ = self._server.accept()
                self._connect(near)

    def _connect(self, near: socket.socket) -> None:
        self._sockets.append(near)
        try:
            far = socket.create_connection(("127.0.0.1", self._to_port))
        except OSError:
            near.close()
            return
        self._sockets.append(far)
        marked = threading.Event()
        threading.Thread(target=self._ask, args=(near, far, marked), name="proxy", daemon=True).start()
        threading.Thread(target=self._answer, args=(far, near, marked), name="proxy", daemon=True).start()

    def _ask(self, near: socket.socket, far: socket.socket, marked: threading.Event) -> None:
        with _ending(near, far):
            while data := near.recv(CHUNK):
                if self._marker in data:
                    marked.set()
                self._whole.wait()
                far.sendall(data)

    def _answer(self, far: socket.socket, near: socket.socket, marked: threading.Event) -> None:
        with _ending(near, far):
            while data := far.recv(CHUNK):
                self._whole.wait()
                if not (marked.is_set() and self._held.is_set()):
                    near.sendall(data)


@contextlib.contextmanager
def _ending(*pair: socket.socket) -> Iterator[None]:
    """When one side is over, so is the other."""
    try:
        with contextlib.suppress(OSError):
            yield
    finally:
        for one in pair:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
