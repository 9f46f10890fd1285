"""A lane: the connections of one request at a time, and the thread that carries what goes over them."""

from __future__ import annotations

import contextlib
import queue
import select
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from app.failpoints import ACQUIRE
from app.foreign.wire.link import Closed, Link
from app.foreign.wire.resp import NotRedis
from app.request.context import CURRENT, CurrentRequest, for_nobody, here

LOOPBACK = "127.0.0.1"
CONNECT_S = 2.0  # as the lab's own clients


class WireLane:
    """One lane. Its thread carries commands for the request whose call waits; else for a renewal of the last request."""

    def __init__(self, stores: Sequence[Callable[[], socket.socket]]) -> None:
        """Take what makes a new connection to each server of the store: where a sentinel knows the server, it can change."""
        self.stores = stores
        self.place: CurrentRequest | None = None  # for whom the thread carries
        self.has_carried = False
        # for the request that waits: the worker's answer, or an error in its place
        self.answers: queue.SimpleQueue[list[str] | BaseException] = queue.SimpleQueue()
        self._servers = {one.fileno(): (one, store) for store in stores for one in [socket.create_server((LOOPBACK, 0))]}
        self._links: dict[int, Link] = {}
        self._events = select.epoll()
        for fd in self._servers:
            self._events.register(fd, select.EPOLLIN)
        self._is_retired = False
        self._closing, self._bell = socket.socketpair()
        self._events.register(self._closing.fileno(), select.EPOLLIN)
        with for_nobody():
            threading.Thread(target=self._carry, name="lane", daemon=True).start()

    @property
    def ports(self) -> list[int]:
        """Return where the worker finds the servers of the store, in their order."""
        return [one.getsockname()[1] for one, _ in self._servers.values()]

    def error(self) -> BaseException | None:
        """Return what a failpoint has raised in the lane's thread; None if none has."""
        with contextlib.suppress(queue.Empty):
            if isinstance(answer := self.answers.get_nowait(), BaseException):
                return answer
        return None

    def retire(self) -> None:
        """Close the lane once its client has closed its connections: what it still sends is seen until then."""
        with contextlib.suppress(OSError):  # its thread has ended already
            self._bell.send(b".")

    def close(self) -> None:
        """Close all connections of the lane, and end its thread."""
        self._bell.close()

    def _carry(self) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(self._close)
            while self._links or not self._is_retired:
                for fd, _ in self._events.poll():
                    if fd == self._closing.fileno():
                        if not self._closing.recv(1):
                            return
                        self._is_retired = True
                        continue
                    CURRENT.set(self.place)
                    if fd in self._servers:
                        self._accept(fd)
                    elif (link := self._links.get(fd)) is not None:
                        self.has_carried = True
                        if not self._carries_on(link, fd):
                            return

    def _carries_on(self, link: Link, fd: int) -> bool:
        """Carry what has arrived at a connection. Return False where a failpoint ends the request: its lane ends with it."""
        try:
            link.carry(fd)
        except (Closed, NotRedis) as error:
            link.fail(error)
            self._drop(link)
        except Exception as error:  # noqa: BLE001 - of a failpoint: the request that waits gets it
            if here().request:
                self.answers.put(error)
                return False
            self._drop(link)
        return True

    def _accept(self, fd: int) -> None:
        server, store = self._servers[fd]
        near, _ = server.accept()
        try:
            far = store()
        except Exception:  # noqa: BLE001 - whatever a client raises where no server is: then the worker has no server either
            near.close()
            return
        link = Link(near, far)
        for one in (near, far):
            self._links[one.fileno()] = link
            self._events.register(one.fileno(), select.EPOLLIN)

    def _drop(self, link: Link) -> None:
        for one in (link.near, link.far):
            self._links.pop(one.fileno(), None)
        link.close()

    def _close(self) -> None:
        for link in set(self._links.values()):
            link.close()
        for server, _ in self._servers.values():
            server.close()
        self._events.close()
        self._closing.close()
        self._bell.close()


def renewal(place: CurrentRequest | None) -> CurrentRequest | None:
    """Return the place of what a lane carries while no call of its request waits: a renewal, begun by that request."""
    return None if place is None else CurrentRequest(place.context, begun_in=ACQUIRE)


def servers(store: Any) -> list[Callable[[], socket.socket]]:
    """Return what makes a new connection to each server of a store, in their order: one that no client of the lab has made."""
    return [partial(_connected, one.connection_pool) for one in getattr(store, "nodes", None) or [store]]


def _connected(pool: Any) -> socket.socket:
    """Return a new connection to the server of a pool of redis-py. Raises OSError."""
    ask, options = getattr(pool, "get_master_address", None), pool.connection_kwargs
    made = socket.create_connection(ask() if ask is not None else (options["host"], options["port"]), CONNECT_S)
    made.settimeout(None)
    return made
