"""Forward the connections of one request at a time: a lane, with a thread of its own."""

from __future__ import annotations

import contextlib
import queue
import selectors
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
CONNECT_S = 2.0  # the same limit as the lab's own clients have


class WireLane:
    """A lane. Its thread forwards commands for the request whose call waits, or else as renewals of the last request."""

    def __init__(self, stores: Sequence[Callable[[], socket.socket]]) -> None:
        """Start the thread. stores: for each server, a function that connects to it: a sentinel may name a new one."""
        self.place: CurrentRequest | None = None  # the request for which the thread forwards
        self.has_carried = False
        # for the request that waits: the worker's answer, or an error
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._links: set[Link] = set()
        self._events = selectors.DefaultSelector()
        self._servers = [socket.create_server((LOOPBACK, 0)) for _ in stores]
        for server, store in zip(self._servers, stores, strict=True):
            self._events.register(server, selectors.EVENT_READ, partial(self._accept, server, store))
        self._is_retired = False
        self._closing, self._bell = socket.socketpair()
        self._events.register(self._closing, selectors.EVENT_READ, self._retires)
        with for_nobody():
            threading.Thread(target=self._carry, name="lane", daemon=True).start()

    @property
    def ports(self) -> list[int]:
        """Return the local ports that lead to the servers of the store, in their order."""
        return [server.getsockname()[1] for server in self._servers]

    def retire(self) -> None:
        """Close the lane once its client has closed its connections; until then, its commands are still forwarded and counted."""
        with contextlib.suppress(OSError):  # its thread has ended already
            self._bell.send(b".")

    def close(self) -> None:
        """Close all connections of the lane, and end its thread."""
        self._bell.close()

    def _carry(self) -> None:
        """Handle the events of the sockets until the lane ends."""
        goes_on = True
        while goes_on and (self._links or not self._is_retired):
            for key, _ in self._events.select():
                CURRENT.set(self.place)
                goes_on = goes_on and key.data()
        for key in self._events.get_map().values():
            key.fileobj.close()  # type: ignore[union-attr] # it is a socket
        self._events.close()
        self._bell.close()

    def _retires(self) -> bool:
        """Note that the lane is retired. Return False if it was closed instead."""
        self._is_retired = True
        return bool(self._closing.recv(1))

    def _carries_on(self, link: Link, side: socket.socket) -> bool:
        """Forward the bytes that have arrived at a connection. Return False if a failpoint ends the request, and so its lane."""
        if link not in self._links:
            return True
        self.has_carried = True
        try:
            link.carry(side)
        except (Closed, NotRedis) as error:
            link.fail(error)
            self._drop(link)
        except Exception as error:  # noqa: BLE001 - from a failpoint: the request that waits gets it
            if here().request:
                self.answers.put(error)
                return False
            self._drop(link)
        return True

    def _accept(self, server: socket.socket, store: Callable[[], socket.socket]) -> bool:
        near, _ = server.accept()
        try:
            link = Link(near, store())
        except Exception:  # noqa: BLE001 - any error of a client: without a server, the worker gets no connection either
            near.close()
            return True
        self._links.add(link)
        for side in (link.near, link.far):
            self._events.register(side, selectors.EVENT_READ, partial(self._carries_on, link, side))
        return True

    def _drop(self, link: Link) -> None:
        self._links.remove(link)
        for side in (link.near, link.far):
            self._events.unregister(side)
        link.close()


def renewal(place: CurrentRequest | None) -> CurrentRequest | None:
    """Return the request for commands of a lane while no call waits: as renewals, from a thread that this request started."""
    return None if place is None else CurrentRequest(place.context, begun_in=ACQUIRE)


def servers(store: Any) -> list[Callable[[], socket.socket]]:
    """Return for each server of a store, in their order, a function that connects to it without a client of the lab."""
    return [partial(_connected, server.connection_pool) for server in getattr(store, "nodes", None) or [store]]


def _connected(pool: Any) -> socket.socket:
    """Return a new connection to the server of a pool of redis-py. Raises OSError."""
    ask, options = getattr(pool, "get_master_address", None), pool.connection_kwargs
    connection = socket.create_connection(ask() if ask is not None else (options["host"], options["port"]), CONNECT_S)
    connection.settimeout(None)
    return connection
