"""Replace sockets: a connection to an address of the explorer ends in a ``Wire``, for every library, with threads or asyncio.

Addresses of the explorer are in a part of the loopback network in which nothing listens. If a replica connects to any other
address, NotExplored names that address: the explorer would not see the commands that are sent there.
"""

from __future__ import annotations

import asyncio
import os
import select
import selectors
import socket
import weakref
from collections.abc import Callable
from typing import Any

from lab.explore.code.operation import COUNTER, LOCK
from lab.explore.code.replica import current
from lab.explore.code.stand_ins import replace
from lab.explore.code.wire import Wire

PORT = 6379
LOCK_HOST, COUNTER_HOST, NODE_HOST = "127.77.0.1", "127.77.0.2", "127.77.1.{}"

wires: weakref.WeakKeyDictionary[Any, Wire] = weakref.WeakKeyDictionary()  # by socket: the server's end
_by_number: weakref.WeakValueDictionary[int, Wire] = weakref.WeakValueDictionary()


def is_ours(host: object) -> bool:
    """Return whether a host is an address of the explorer."""
    return isinstance(host, str) and host.startswith("127.77.")


def wire_to(address: Any) -> Wire:
    """Return the server's end of a new connection. Raises NotExplored for an address that is not the explorer's."""
    host = address[0] if isinstance(address, tuple) else address
    if not is_ours(host):
        where = f"{host}:{address[1]}" if isinstance(address, tuple) else str(host)
        raise current().refuse(
            f"it connects to {where}, which is not the lock's store: the explorer does not see the commands sent there. "
            "The address of the store is in store.get_connection_kwargs()"
        )
    if host == LOCK_HOST:
        return Wire(LOCK, 0)
    if host == COUNTER_HOST:
        return Wire(COUNTER, 0)
    return Wire(LOCK, int(host.rpartition(".")[2]))


class Socket(socket.socket):
    """A socket that is connected to the explorer."""

    __slots__ = ()

    def send(self, data: Any, *_: Any) -> int:
        wires[self].feed(bytes(data))
        return len(data)

    def sendall(self, data: Any, *_: Any) -> None:
        wires[self].feed(bytes(data))

    def sendmsg(self, buffers: Any, *_: Any) -> int:
        return self.send(b"".join(map(bytes, buffers)))

    def recv(self, size: int, flags: int = 0) -> bytes:
        wire = wires[self]
        if not wire.fill(wire.timeout_s):
            if wire.timeout_s == 0:
                raise BlockingIOError(11, "Resource temporarily unavailable")
            raise TimeoutError("timed out")
        data = bytes(wire.out[:size])
        if not flags & socket.MSG_PEEK:
            del wire.out[:size]
        return data

    def recv_into(self, buffer: Any, nbytes: int = 0, *_: Any) -> int:
        data = self.recv(nbytes or len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def settimeout(self, timeout_s: float | None) -> None:
        wires[self].timeout_s = timeout_s

    def gettimeout(self) -> float | None:
        return wires[self].timeout_s

    def setblocking(self, flag: bool) -> None:
        self.settimeout(None if flag else 0)

    def setsockopt(self, *_: Any) -> None:
        """Do nothing: no network is used."""

    def getpeername(self) -> tuple[str, int]:
        return (LOCK_HOST, PORT)

    def shutdown(self, _: int) -> None:
        self.close()

    def close(self) -> None:
        if self in wires:
            wires[self].close()

    def fileno(self) -> int:
        return id(self)  # this is above the numbers of the system's files


def _connect(client: Any, address: Any) -> int:
    """Replace ``socket.connect`` and ``connect_ex``."""
    wire, timeout_s = wire_to(address), client.gettimeout()
    os.close(client.detach())  # no file of the system is needed
    client.__class__ = Socket
    wire.timeout_s = timeout_s
    wires[client] = wire
    _by_number[client.fileno()] = wire
    return 0


_real_getaddrinfo = socket.getaddrinfo


def _getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
    if not is_ours(host):
        return _real_getaddrinfo(host, port, *args, **options)
    return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, int(port)))]


def _select(*_: Any) -> Any:
    raise current().refuse("it waits for connections by select, which has no model")


class _Poll:
    """Replaces ``select.poll`` for reading one connection: by it hiredis checks for new replies."""

    def register(self, fd: Any, eventmask: int = select.POLLIN) -> None:
        if not isinstance(fd, Socket) or eventmask & select.POLLOUT:
            raise current().refuse("it waits by poll for something else than a reply, which has no model")
        self._wire = wires[fd]

    def poll(self, timeout_ms: float | None = None) -> list[tuple[int, int]]:
        timeout_s = None if timeout_ms is None or timeout_ms < 0 else timeout_ms / 1000
        return [(id(self), select.POLLIN)] if self._wire.fill(timeout_s) else []


class _Selector(selectors.BaseSelector):
    """The selector of an event loop: waits until a connection has data, a callback is ready to run, or the time is over."""

    def __init__(self) -> None:
        self.has_work: Callable[[], bool] = bool  # whether a callback is ready to run
        self._keys: dict[int, selectors.SelectorKey] = {}

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout > 0:
            current().wait_for(lambda: self.has_work() or bool(self._ready()), timeout)
        return self._ready()

    def _ready(self) -> list[tuple[selectors.SelectorKey, int]]:
        return [(key, selectors.EVENT_READ) for number, key in self._keys.items() if _by_number[number].has_come]

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        if fileobj not in _by_number or events != selectors.EVENT_READ:
            raise current().refuse("its event loop waits for a file, which has no model")
        _by_number[fileobj].serve_loop()
        self._keys[fileobj] = selectors.SelectorKey(fileobj, fileobj, events, data)
        return self._keys[fileobj]

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._keys.pop(fileobj)

    def get_map(self) -> dict[Any, selectors.SelectorKey]:
        return self._keys


class ReplicaLoop(asyncio.SelectorEventLoop):
    """The event loop of a replica: it has the time of the search, and its connections lead to the explorer."""

    def __init__(self) -> None:
        selector = _Selector()
        super().__init__(selector)
        selector.has_work = lambda: bool(self._ready)  # type: ignore[attr-defined] # of BaseEventLoop
        self._clock_resolution = 0.1  # a nap may end early: then the loop must run the callbacks that it waited for

    def time(self) -> float:
        return current().now_ms / 1000

    def __del__(self, *_: Any) -> None:
        """Do nothing: a replica may end in the middle, and its loop has no file of the system."""

    def _make_ssl_transport(self, *_: Any, **__: Any) -> Any:
        raise current().refuse("its event loop uses TLS, which has no model")

    def _make_self_pipe(self) -> None:
        """Do nothing: ``has_work`` sees the callbacks that another thread adds."""

    _close_self_pipe = _write_to_self = _make_self_pipe


def install() -> None:
    """Replace the functions of Python's library that connect and wait, once. Outside of replicas they work as before."""
    if socket.socket.connect is not socket.SocketType.connect:
        return
    for name in ("connect", "connect_ex"):
        replace(socket.socket, name, _connect)
    replace(socket, "getaddrinfo", _getaddrinfo)
    replace(select, "select", _select)
    replace(select, "poll", _Poll)
    for module in (asyncio, asyncio.events):
        replace(module, "new_event_loop", ReplicaLoop)
