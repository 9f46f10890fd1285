"""The seam to ZooKeeper: the lab's own client, on a client of kazoo whose requests are the explorer's commands.

What kazoo does for a caller runs unchanged: to make the nodes above a node, to remember who watches what. The place of its
connection is taken by threads of the replica: one sends the heartbeats, and one for each path that is watched waits for its
event. Where a session has ended, all that it watched is informed, and another begins, as kazoo does it.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import EXCEPTIONS, ConnectionLoss, SessionExpiredError
from kazoo.protocol.connection import EVENT_TYPE_MAP
from kazoo.protocol.serialization import Exists, GetChildren, GetChildren2
from kazoo.protocol.states import EventType, KazooState, KeeperState, WatchedEvent

from app.journal import Journal
from app.settings import Address, Endpoint
from app.stores import zookeeper
from lab.explore.code.operation import LOCK, LOST, CommandSent
from lab.explore.code.replica import current, running
from lab.explore.store.real_zookeeper import CONNECT, EVENT, EXPIRED, NO_NODE, PING, words_of

ENDPOINT = Endpoint(scheme="zookeeper", addresses=(Address("127.77.2.1", 2181),))
OF_CHILDREN = (GetChildren, GetChildren2)
HEARTBEATS = 3  # in the time of a session, as kazoo sends them


class Kazoo(KazooClient):  # type: ignore[misc] # kazoo has no types
    """kazoo's client in a replica."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._name = b""  # of the session
        self._awaited: set[tuple[bytes, str]] = set()  # the paths for whose events a thread waits, each with the session

    def start(self, timeout: float = 15) -> None:
        """Begin a session, and its heartbeats."""
        self._begin()
        threading.Thread(target=self._beat, daemon=True).start()

    def stop(self) -> None:
        """Do nothing: a replica ends as a whole."""

    def close(self) -> None:
        """Do nothing, as above."""

    def _begin(self) -> None:
        raw: Any = LOST
        while raw is LOST:  # kazoo tries again, and begins another session
            raw = current().command(CommandSent(LOCK, (CONNECT, b"%d" % current().number, b"%d" % self._session_timeout)))
        self._name = raw[1]
        self._state = KeeperState.CONNECTED
        self._live.set()
        self._make_state_change(KazooState.CONNECTED)

    def _beat(self) -> None:
        while True:
            time.sleep(self._session_timeout / 1000 / HEARTBEATS)
            name = self._name
            if not name:
                continue
            raw = current().command(CommandSent(LOCK, (PING, name)))
            if raw is not LOST and raw[0] == EXPIRED:
                self._lost(name)

    def _call(self, request: Any, async_object: Any) -> None:
        """Send a request, and set its answer."""
        here, name = current(), self._name
        if not name:
            async_object.set_exception(SessionExpiredError())
            return
        try:
            words = words_of(request, name)
        except KeyError as unknown:
            raise here.refuse(f"it sends {unknown.args[0]} to ZooKeeper, which has no model") from None
        raw = here.command(CommandSent(LOCK, words, *here.line()))
        if raw is LOST:
            async_object.set_exception(ConnectionLoss())
            return
        error, answer = raw
        if error == EXPIRED:
            self._lost(name)
            async_object.set_exception(SessionExpiredError())
            return
        absent = error == NO_NODE and isinstance(request, Exists)
        if not error or absent:
            self._watch(request, name)
        if error and not absent:
            async_object.set_exception(EXCEPTIONS[error]())
        else:
            async_object.set(_as_kazoo_has_it(request, answer))

    def _watch(self, request: Any, session: bytes) -> None:
        """Remember who watches, and let a thread wait for the event."""
        watcher = getattr(request, "watcher", None)
        if not watcher:
            return
        (self._child_watchers if isinstance(request, OF_CHILDREN) else self._data_watchers)[request.path].add(watcher)
        if (session, request.path) not in self._awaited:
            self._awaited.add((session, request.path))
            threading.Thread(target=self._await, args=(session, request.path), daemon=True).start()

    def _await(self, session: bytes, path: str) -> None:
        error, answer = current().command(CommandSent(LOCK, (EVENT, session, path.encode())))
        self._awaited.discard((session, path))
        if error == EXPIRED:
            self._lost(session)
            return
        informed = {*self._data_watchers.pop(path, ()), *self._child_watchers.pop(path, ())}
        event = WatchedEvent(EVENT_TYPE_MAP[answer[0]], self._state, path)
        for one in sorted(informed, key=id) if len(informed) > 1 else informed:
            one(event)

    def _lost(self, session: bytes) -> None:
        """Inform all that a session has ended, and begin another; nothing where that was done before."""
        if session != self._name:
            return
        self._name = b""
        self._state = KeeperState.EXPIRED_SESSION
        self._live.clear()
        self._make_state_change(KazooState.LOST)
        informed = [one for watchers in (self._data_watchers, self._child_watchers) for ones in watchers.values() for one in ones]
        self._data_watchers.clear()
        self._child_watchers.clear()
        for one in informed:
            one(WatchedEvent(EventType.NONE, self._state, None))
        self._begin()


def _as_kazoo_has_it(request: Any, answer: Any) -> Any:
    """Return an answer with its lists."""
    if isinstance(request, GetChildren):
        return list(answer)
    return (list(answer[0]), answer[1]) if isinstance(request, GetChildren2) else answer


zookeeper.KazooClient = lambda **options: KazooClient(**options) if running() is None else Kazoo(**options)  # type: ignore[attr-defined] # the seam


def client() -> zookeeper.ZooKeeper:
    """Return the client for a lock, in the replica that runs."""
    return zookeeper.ZooKeeper(ENDPOINT, Journal(None))
