"""A TCP proxy before a server. It can hold back answers, cut all connections or end most of them, and delay one write."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Collection, Iterator

from lab.servers.ports import free_port

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
        self.delayed = DelayedWrite(b"")  # the write that is kept, if one is
        self.delayed.deliver()
        self._sockets: list[socket.socket] = []
        # by the port of each client, the proxy's end of its connection
        self._clients: dict[int, socket.socket] = {}
        self._refuses = False
        self._server = socket.create_server(("127.0.0.1", free_port()))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, name="tcp proxy", daemon=True).start()

    def hold(self) -> None:
        """Forward no more answers on the connections that sent the marker. Their clients are not notified."""
        self._held.set()

    @property
    def address(self) -> str:
        """Return the address of the proxy as ``host:port``."""
        return f"127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Forward nothing, in either direction, until ``mend``. Waiting bytes go first then, as a
        network would send them again.
        """
        self._connected.clear()

    def mend(self) -> None:
        """Forward again."""
        self._connected.set()

    def keep_only(self, ports: Collection[int] = ()) -> None:
        """End the connections of all clients except the clients with these ports, and refuse new ones from now on."""
        self._refuses = True
        for port, near in list(self._clients.items()):
            if port not in ports:
                with contextlib.suppress(OSError):
                    near.shutdown(socket.SHUT_RDWR)

    def delay_write(self, marker: bytes) -> DelayedWrite:
        """Take the next bytes with this marker from their sender. They arrive when ``deliver`` of the result is called."""
        self.delayed = DelayedWrite(marker)
        return self.delayed

    def close(self) -> None:
        """Close the proxy and all its connections."""
        self.mend()
        self.delayed.deliver()
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
        self._clients[near.getpeername()[1]] = near
        if self._refuses:  # after the line above: a connection is ended by keep_only, or seen here
            near.close()
            return
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
                if (delayed := self.delayed).takes(near, data):
                    delayed.pass_on(far, data)
                else:
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
