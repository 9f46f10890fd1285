"""A lane: the connections of one request at a time, and the thread that carries what goes over them."""

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
CONNECT_S = 2.0  # as the lab's own clients


class WireLane:
    """One lane. Its thread carries commands for the request whose call waits; else for a renewal of the last request."""

    def __init__(self, stores: Sequence[Callable[[], socket.socket]]) -> None:
        """Take what makes a new connection to each server of the store: where a sentinel knows the server, it can change."""
        self.place: CurrentRequest | None = None  # for whom the thread carries
        self.has_carried = False
        # for the request that waits: the worker's answer, or an error in its place
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
        """Return where the worker finds the servers of the store, in their order."""
        return [one.getsockname()[1] for one in self._servers]

    def retire(self) -> None:
        """Close the lane once its client has closed its connections: what it still sends is seen until then."""
        with contextlib.suppress(OSError):  # its thread has ended already
            self._bell.send(b".")

    def close(self) -> None:
        """Close all connections of the lane, and end its thread."""
        self._bell.close()

    def _carry(self) -> None:
        """Do what each event asks for, until the lane ends."""
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
        """Note that the lane is retired. Return False if it is closed."""
        self._is_retired = True
        return bool(self._closing.recv(1))

    def _carries_on(self, link: Link, side: socket.socket) -> bool:
        """Carry what has arrived at a connection. Return False if a failpoint ends the request: its lane ends with it."""
        if link not in self._links:
            return True
        self.has_carried = True
        try:
            link.carry(side)
        except (Closed, NotRedis) as error:
            link.fail(error)
            self._drop(link)
        except Exception as error:  # noqa: BLE001 - of a failpoint: the request that waits gets it
            if here().request:
                self.answers.put(error)
                return False
            self._drop(link)
        return True

    def _accept(self, server: socket.socket, store: Callable[[], socket.socket]) -> bool:
        near, _ = server.accept()
        try:
            link = Link(near, store())
        except Exception:  # noqa: BLE001 - whatever a client raises where no server is: then the worker has no server either
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
