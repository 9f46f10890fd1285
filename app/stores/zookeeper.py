"""ZooKeeper, by kazoo: one session a replica, and the calls of the client that a lock needs.

kazoo's ready-made Lock is not used. kazoo makes a broken connection again by itself, in the same session if the session still
exists. A command that was under way then raises ``Unanswered``: it may have been carried out, and the caller must check.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException, NoNodeError
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import KazooState, ZnodeStat

from app.settings import Endpoint, Settings
from app.stores.zookeeper_client import UNANSWERED, count_all  # noqa: F401 - lock_store calls count_all

CLIENT_OPTIONS: dict[str, Any] = {
    "answer_timeout_s": 5.0,
    "connect_timeout_s": 5.0,
    "reconnect_delay_s": 0.05,
    "reconnect_longest_delay_s": 0.25,
    "command_retries": 0,
    "session": "one a replica, shared by its threads; its timeout is the lock's TTL",
}


class ZooKeeper:
    """The servers, and the sessions of this process: one for each timeout, begun at its first use."""

    Error = (KazooException, KazooTimeoutError)

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._sessions: dict[int, KazooSession] = {}
        self._beginning = threading.Lock()

    def session(self, timeout_ms: int) -> KazooSession:
        """Return the session with this timeout. Raises Error when no server answers."""
        with self._beginning:
            if timeout_ms not in self._sessions:
                self._sessions[timeout_ms] = KazooSession(self.endpoint, timeout_ms)
            return self._sessions[timeout_ms]

    def plain(self, timeout_ms: int) -> KazooClient:
        """Return kazoo's client of the session with this timeout, for a library or one of kazoo's recipes."""
        return self.session(timeout_ms).client

    def close(self) -> None:
        """End all sessions; their ephemeral nodes are deleted."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()


class KazooSession:
    """One session. After it has expired, kazoo begins a new one by itself, without the old one's ephemeral nodes."""

    Unanswered = UNANSWERED

    def __init__(self, endpoint: Endpoint, timeout_ms: int) -> None:
        retry = {
            "max_tries": -1,
            "delay": CLIENT_OPTIONS["reconnect_delay_s"],
            "max_delay": CLIENT_OPTIONS["reconnect_longest_delay_s"],
        }
        hosts = ",".join(map(str, endpoint.addresses))
        self.client = KazooClient(hosts=hosts, timeout=timeout_ms / 1000, connection_retry=retry)
        self.client.start(timeout=CLIENT_OPTIONS["connect_timeout_s"])

    @property
    def connected(self) -> bool:
        """Return whether the client is CONNECTED: not SUSPENDED (two thirds of the timeout without an answer), and not LOST."""
        return bool(self.client.state == KazooState.CONNECTED)

    def close(self) -> None:
        self.client.stop()
        self.client.close()

    def create_ephemeral_sequential(self, path: str) -> tuple[str, ZnodeStat]:
        """Create a node of this session whose name ends with the next number. Return its path and its record."""
        flags = {"ephemeral": True, "sequence": True, "makepath": True}
        return self._answer(self.client.create_async(path, include_data=True, **flags))

    def get_children(self, path: str) -> list[str]:
        """Return the names of the nodes below a path; an empty list if the path does not exist."""
        return self._answer(self.client.get_children_async(path), absent=[])

    def exists(self, path: str, watch: Callable[[Any], object] | None = None) -> ZnodeStat | None:
        """Return the node's record, None if it does not exist. ``watch`` is called once: at a change, or a broken connection."""
        return self._answer(self.client.exists_async(path, watch=watch))

    def delete(self, path: str) -> bool:
        """Delete a node, and return whether it existed."""
        return bool(self._answer(self.client.delete_async(path), absent=False))

    def _answer(self, sent: Any, absent: Any = None) -> Any:
        """Return the answer of a sent command; ``absent`` if there is no such node."""
        try:
            return sent.get(timeout=CLIENT_OPTIONS["answer_timeout_s"])
        except NoNodeError:
            return absent


def connect(settings: Settings, _: bool) -> ZooKeeper:
    """Make the client for a lock."""
    return ZooKeeper(settings.zookeeper_url)
