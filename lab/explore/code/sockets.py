"""The seam: a connection to an address of the explorer leads to it, whichever library makes it, with threads or with asyncio.

Addresses of the explorer are in a part of the loopback network in which nothing listens. A replica that connects anywhere else
is refused by name: the explorer would not see what it sends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import selectors
import socket
import weakref
from collections.abc import Callable
from typing import Any, cast

from lab.explore.code.operation import COUNTER, LOCK
from lab.explore.code.replica import Replica, Thread, current, running
from lab.explore.code.wire import Wire

PORT = 6379
LOCK_HOST, COUNTER_HOST, NODE_HOST = "127.77.0.1", "127.77.0.2", "127.77.1.{}"

_wires: weakref.WeakKeyDictionary[Any, Wire] = weakref.WeakKeyDictionary()


def is_ours(host: object) -> bool:
    """Return whether a host is an address of the explorer."""
    return isinstance(host, str) and host.startswith("127.77.")


def wire_to(address: Any) -> Wire:
    """Return the server's end of a new connection. Raises NotExplored for an address that is not the explorer's."""
    host = address[0] if isinstance(address, tuple) else address
    if isinstance(host, bytes):
        host = host.decode()
    if not is_ours(host):
        where = f"{host}:{address[1]}" if isinstance(address, tuple) else str(host)
        raise current().refuse(
            f"it connects to {where}, which is not the lock's store: the explorer does not see what is sent there. "
            "The address of the store is in store.get_connection_kwargs()"
        )
    if host == LOCK_HOST:
        return Wire(LOCK, 0)
    if host == COUNTER_HOST:
        return Wire(COUNTER, 0)
    return Wire(LOCK, int(host.rpartition(".")[2]))


class Socket(socket.socket):
    """A socket whose other end is the explorer."""

    __slots__ = ()

    def send(self, data: Any, *_: Any) -> int:
        _wires[self].feed(bytes(data))
        return len(data)

    def sendall(self, data: Any, *_: Any) -> None:
        _wires[self].feed(bytes(data))

    def sendmsg(self, buffers: Any, *_: Any) -> int:
        return self.send(b"".join(map(bytes, buffers)))

    def recv(self, size: int, *_: Any) -> bytes:
        wire = _wires[self]
        if not wire.fill(wire.timeout_s):
            if wire.timeout_s == 0:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            raise TimeoutError("timed out")
        data = bytes(wire.out[:size])
        del wire.out[:size]
        return data

    def recv_into(self, buffer: Any, nbytes: int = 0, *_: Any) -> int:
        data = self.recv(nbytes or len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def settimeout(self, timeout_s: float | None) -> None:
        _wires[self].timeout_s = timeout_s

    def gettimeout(self) -> float | None:
        return _wires[self].timeout_s

    def setblocking(self, flag: bool) -> None:
        self.settimeout(None if flag else 0)

    def setsockopt(self, *_: Any) -> None:
        """Do nothing: no network is used."""

    def getsockopt(self, *_: Any) -> Any:
        return 0

    def getpeername(self) -> tuple[str, int]:
        return (LOCK_HOST, PORT)

    def getsockname(self) -> tuple[str, int]:
        return (LOCK_HOST, 1)

    def shutdown(self, _: int) -> None:
        self.close()

    def close(self) -> None:
        if self in _wires:
            _wires[self].close()


def _connect(real: Callable[..., Any], made: Any, address: Any) -> Any:
    """``socket.connect`` and ``connect_ex``."""
    if running() is None:
        return real(made, address)
    wire, timeout_s = wire_to(address), made.gettimeout()
    os.close(made.detach())  # no file of the system is needed
    made.__class__ = Socket
    wire.timeout_s = timeout_s
    _wires[made] = wire
    return 0


def _unconnected() -> Socket:
    """Return the socket of a connection of an event loop, for those who ask it for its addresses or set its options."""
    made = socket.socket()
    os.close(made.detach())
    made.__class__ = Socket
    return cast(Socket, made)


def _getaddrinfo(real: Callable[..., Any], host: Any, port: Any, *args: Any, **options: Any) -> Any:
    if running() is None or not is_ours(host):
        return real(host, port, *args, **options)
    return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, int(port)))]


def _select(real: Callable[..., Any], reads: Any, writes: Any, errors: Any, timeout: float | None = None) -> Any:
    """``select.select``: for one connection that is read, and for any that are written."""
    ours = [one for one in (*reads, *writes) if isinstance(one, Socket)]
    if running() is None or not ours:
        return real(reads, writes, errors, timeout)
    if writes:
        return [], list(writes), []
    full = [one for one in reads if _wires[one].out]
    if not full and len(reads) > 1:
        raise current().refuse("it waits for several connections at once by select, which has no model")
    return (full or [one for one in reads if _wires[one].fill(timeout)]), [], []


class _Poll:
    """``select.poll``, for one connection."""

    def __init__(self) -> None:
        self._registered: dict[Any, int] = {}

    def register(self, what: Any, events: int = select.POLLIN) -> None:
        self._registered[what] = events

    def unregister(self, what: Any) -> None:
        self._registered.pop(what, None)

    def poll(self, timeout_ms: float | None = None) -> list[tuple[Any, int]]:
        writes = [one for one, events in self._registered.items() if events & select.POLLOUT]
        timeout_s = None if timeout_ms is None or timeout_ms < 0 else timeout_ms / 1000
        ready, written, _ = select.select(list(self._registered), writes, [], timeout_s)
        return [(one, select.POLLIN) for one in ready] + [(one, select.POLLOUT) for one in written]


class Transport(asyncio.Transport):
    """A connection of an event loop whose other end is the explorer."""

    def __init__(self, loop: ReplicaLoop, wire: Wire, protocol: Any) -> None:
        super().__init__({"peername": (LOCK_HOST, PORT), "sockname": (LOCK_HOST, 1), "socket": _unconnected()})
        self._loop, self.wire, self._protocol = loop, wire, protocol
        here = current()
        self._replica: Replica = here
        self._thread: Thread = here.connection_of_loop(self._came, own=here.thread.own)
        self._is_closing = False

    def write(self, data: Any) -> None:
        if not self._is_closing:
            self.wire.feed(bytes(data))
            self._go_on()

    def _go_on(self) -> None:
        """Answer what is answered at once, and let the connection wait for its next command or message."""
        wire = self.wire
        while wire.unread and isinstance(wire.unread[0], bytes):
            wire.out += wire.unread.popleft()  # type: ignore[arg-type] # as the line above says
        if wire.out:
            data = bytes(wire.out)
            wire.out.clear()
            self._loop.call_soon(self._protocol.data_received, data)
        if self._thread.pending is None and not wire.is_broken:
            if wire.unread:
                self._thread.pending = wire.next_command(None)
            elif wire.is_listening:
                self._thread.pending = wire.listen()

    def _came(self, reply: Any) -> None:
        self.wire.take(reply)
        if self.wire.is_broken:
            self._is_closing = True
            self._loop.call_soon(self._protocol.connection_lost, ConnectionResetError(104, "Connection reset by peer"))
        else:
            self._go_on()

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self.wire.close()
            self._thread.pending = None
            self._loop.call_soon(self._protocol.connection_lost, None)

    abort = close

    def is_closing(self) -> bool:
        return self._is_closing

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: nothing is buffered."""

    def can_write_eof(self) -> bool:
        return False

    def write_eof(self) -> None:
        """Do nothing: the server would answer what it has got, and here it has done so."""

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def get_protocol(self) -> Any:
        return self._protocol

    def pause_reading(self) -> None:
        """Do nothing: what comes is small."""

    def resume_reading(self) -> None:
        """Do nothing, as above."""

    def is_reading(self) -> bool:
        return not self._is_closing


class _Selector(selectors.BaseSelector):
    """What an event loop waits with: until something is ready to run in it, or for some time."""

    def __init__(self, loop: ReplicaLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None or timeout > 0:
            current().wait_for(self._loop.has_work, timeout)
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> Any:
        raise current().refuse("its event loop waits for a file, which has no model")

    def unregister(self, fileobj: Any) -> Any:
        return None

    def get_map(self) -> dict[Any, Any]:
        return {}


class ReplicaLoop(asyncio.BaseEventLoop):
    """The event loop of a replica: its time is that of the search, and its connections lead to the explorer."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _Selector(self)
        self._clock_resolution = 0.1  # a nap may end before its time: what it was to wake is due then

    def has_work(self) -> bool:
        """Return whether something is ready to run."""
        return bool(self._ready)  # type: ignore[attr-defined] # of BaseEventLoop

    def time(self) -> float:
        return current().now_ms / 1000

    def _process_events(self, _: Any) -> None:
        """Do nothing: connections call the loop themselves."""

    def _write_to_self(self) -> None:
        """Do nothing: the loop sees what another thread has made ready."""

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        if options.get("sock") is not None or options.get("ssl"):
            raise current().refuse("its event loop takes a socket of its own, or TLS, which has no model")
        protocol = protocol_factory()
        transport = Transport(self, wire_to((host, port)), protocol)
        protocol.connection_made(transport)
        return transport, protocol

    async def create_unix_connection(self, *_: Any, **__: Any) -> Any:
        raise current().refuse("it connects to a socket of the file system, which is not the lock's store")


def install() -> None:
    """Replace the seam's functions of Python's library. Outside a replica each does what it always did."""
    if socket.socket.connect is not socket.SocketType.connect:
        return
    for name in ("connect", "connect_ex"):
        real = getattr(socket.socket, name)
        setattr(socket.socket, name, lambda made, address, real=real: _connect(real, made, address))
    addresses, selects, polls, loops = socket.getaddrinfo, select.select, select.poll, asyncio.new_event_loop
    socket.getaddrinfo = lambda *args, **options: _getaddrinfo(addresses, *args, **options)
    select.select = lambda *args: _select(selects, *args)
    setattr(select, "poll", lambda: polls() if running() is None else _Poll())  # noqa: B010 - a type stands there
    asyncio.new_event_loop = asyncio.events.new_event_loop = lambda: loops() if running() is None else ReplicaLoop()
    with contextlib.suppress(AttributeError):
        asyncio.runners.events.new_event_loop = asyncio.events.new_event_loop  # type: ignore[attr-defined]
