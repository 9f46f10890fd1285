"""A TCP proxy before a server. It can hold back the server's answers on some connections, or cut all of them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

CHUNK = 65536


class TcpProxy:
    """Listens on a port of 127.0.0.1 and forwards to another port, until it is closed.

    marker: the bytes by which the proxy recognises the connections that ``hold`` holds back.
    """

    def __init__(self, to_port: int, marker: bytes = b"") -> None:
        self._to_port = to_port
        self._marker = marker
        self._held = threading.Event()
        self._connected = threading.Event()
        self._connected.set()
        self._sockets: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, name="tcp proxy", daemon=True).start()

    def hold(self) -> None:
        """Forward no more answers on the connections that sent the marker. Their clients are not notified."""
        self._held.set()

    @property
    def address(self) -> str:
        """Return ``host:port``, where the proxy listens."""
        return f"127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Forward nothing, in either direction, until ``mend``. Waiting bytes go first then, as a
        network would send them again.
        """
        self._connected.clear()

    def mend(self) -> None:
        """Forward again."""
        self._connected.set()

    def close(self) -> None:
        """Close the proxy and all its connections."""
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
        threading.Thread(target=self._forward_requests, args=(near, far, marked), name="tcp proxy", daemon=True).start()
        threading.Thread(target=self._forward_answers, args=(far, near, marked), name="tcp proxy", daemon=True).start()

    def _forward_requests(self, near: socket.socket, far: socket.socket, marked: threading.Event) -> None:
        with _ending(near, far):
            while data := near.recv(CHUNK):
                if self._marker in data:
                    marked.set()
                self._connected.wait()
                far.sendall(data)

    def _forward_answers(self, far: socket.socket, near: socket.socket, marked: threading.Event) -> None:
        with _ending(near, far):
            while data := far.recv(CHUNK):
                self._connected.wait()
                if not (marked.is_set() and self._held.is_set()):
                    near.sendall(data)


@contextlib.contextmanager
def _ending(*pair: socket.socket) -> Iterator[None]:
    """Shut both sockets down when the block ends."""
    try:
        with contextlib.suppress(OSError):
            yield
    finally:
        for one in pair:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
