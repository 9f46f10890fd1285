"""Test the proxy before a server: one write arrives late, and some clients of a split server are kept."""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from lab.servers.tcp_proxy import DelayedWrite, TcpProxy

WITHIN_S = 5.0


class Server:
    """A server that answers each line with the same line, and keeps the lines that it received."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.more = threading.Condition()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            while data := client.recv(100):
                with self.more:
                    self.received.append(data)
                    self.more.notify_all()
                client.sendall(data)

    def wait_for(self, data: bytes) -> None:
        with self.more:
            assert self.more.wait_for(lambda: data in self.received, WITHIN_S)

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def proxy(server) -> Iterator[TcpProxy]:
    made = TcpProxy(server.port)
    yield made
    made.close()


@pytest.fixture
def client(proxy) -> Iterator[Callable[[], socket.socket]]:
    """Yield a function that makes clients of the proxy."""
    with contextlib.ExitStack() as open_clients:
        yield lambda: open_clients.enter_context(socket.create_connection(("127.0.0.1", proxy.port), timeout=WITHIN_S))


def ask(one: socket.socket, data: bytes) -> bytes:
    one.sendall(data)
    return one.recv(100)


def wait_until_taken(delayed: DelayedWrite) -> None:
    until_s = time.monotonic() + WITHIN_S
    while delayed._sender is None:
        assert time.monotonic() < until_s
        time.sleep(0.002)


def test_delayed_write_arrives_late(server, proxy, client):
    """The proxy delays only the write, which arrives although the connection of its sender has ended."""
    sender, other = client(), client()
    delayed = proxy.delay_write(b"SET")
    assert ask(sender, b"GET k") == b"GET k"

    sender.sendall(b"SET k 1")
    assert ask(other, b"GET k again") == b"GET k again"
    wait_until_taken(delayed)
    delayed.break_off()
    assert sender.recv(100) == b""
    assert ask(other, b"SET k 2") == b"SET k 2"
    assert b"SET k 1" not in server.received

    assert delayed.deliver() == 1
    server.wait_for(b"SET k 1")


def test_delayed_write_that_is_never_sent(proxy, client):
    """If no write was sent, none arrives late, and later writes pass; a sender that waits gets its answer."""
    delayed, sender = proxy.delay_write(b"SET"), client()
    assert delayed.deliver() == 0
    assert ask(sender, b"SET k 1") == b"SET k 1"

    delayed = proxy.delay_write(b"SET")
    sender.sendall(b"SET k 2")
    wait_until_taken(delayed)
    assert delayed.deliver() == 1
    assert sender.recv(100) == b"SET k 2"


def test_only_some_clients_are_kept(proxy, client):
    """The kept clients go on; the others are disconnected, and new clients are refused."""
    kept, ended = client(), client()
    assert ask(kept, b"a") == b"a"
    assert ask(ended, b"b") == b"b"

    proxy.keep_only({kept.getsockname()[1]})

    assert ended.recv(100) == b""
    assert ask(kept, b"c") == b"c"
    with contextlib.suppress(ConnectionResetError):
        assert client().recv(100) == b""
