"""ZooKeeper, by kazoo: one session a replica, and the calls of the client that a lock needs.

kazoo's ready-made Lock is not used. kazoo makes a broken connection again by itself, in the same session if the session still
exists. A command that was under way then raises ``Unanswered``: it may have been carried out, and the caller must look.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import (
    ConnectionClosedError,
    ConnectionDropped,
    ConnectionLoss,
    KazooException,
    NoNodeError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.states import ZnodeStat

from app.endpoint import Endpoint
from app.failpoints import ReplyLost, request_context
from app.journal import Journal, Renewed
from app.settings import Settings

CLIENT_OPTIONS: dict[str, Any] = {
    "answer_timeout_s": 5.0,
    "connect_timeout_s": 5.0,
    "reconnect_delay_s": 0.05,
    "reconnect_longest_delay_s": 0.25,
    "command_retries": 0,
    "session": "one a replica, shared by its threads; its timeout is the lock's TTL",
}


class ZooKeeper:
    """The servers, and the sessions of this process: one for each timeout, begun when it is first asked for."""

    Error = (KazooException, KazooTimeoutError)

    def __init__(self, endpoint: Endpoint, journal: Journal) -> None:
        self.endpoint = endpoint
        self.journal = journal
        self._sessions: dict[int, Session] = {}
        self._beginning = threading.Lock()

    def session(self, timeout_ms: int) -> Session:
        """Return the session with this timeout. Raises Error when no server answers."""
        with self._beginning:
            if timeout_ms not in self._sessions:
                self._sessions[timeout_ms] = Session(self.endpoint, timeout_ms, self.journal)
            return self._sessions[timeout_ms]

    def close(self) -> None:
        """End all sessions; their ephemeral nodes are deleted."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()


class Session:
    """One session. After it has expired, kazoo begins another by itself; nothing of the first session is left in it."""

    Error = ZooKeeper.Error
    Unanswered = (ConnectionLoss, ConnectionClosedError, SessionExpiredError, KazooTimeoutError)

    def __init__(self, endpoint: Endpoint, timeout_ms: int, journal: Journal) -> None:
        retry = {
            "max_tries": -1,
            "delay": CLIENT_OPTIONS["reconnect_delay_s"],
            "max_delay": CLIENT_OPTIONS["reconnect_longest_delay_s"],
        }
        hosts = ",".join(map(str, endpoint.addresses))
        self.journal = journal
        self._client = KazooClient(hosts, timeout=timeout_ms / 1000, connection_retry=retry)
        if journal.on:
            self._tell_of_heartbeats()
        self._client.start(timeout=CLIENT_OPTIONS["connect_timeout_s"])

    def close(self) -> None:
        self._client.stop()
        self._client.close()

    def create_ephemeral_sequential(self, path: str) -> tuple[str, ZnodeStat]:
        """Create a node of this session whose name ends with the next number. Return its path and its record."""
        made: tuple[str, ZnodeStat] = self._ask(
            "create",
            lambda: self._client.create_async(path, ephemeral=True, sequence=True, makepath=True, include_data=True),
        )
        return made

    def get_children(self, path: str) -> list[str]:
        """Return the names of the nodes below a path; an empty list if the path does not exist."""
        names: list[str] = self._ask("getChildren", lambda: self._client.get_children_async(path), absent=[])
        return names

    def exists(self, path: str, watch: Callable[[Any], object] | None = None) -> ZnodeStat | None:
        """Return the node's record, None if it does not exist. ``watch`` is called once: at a change, or a broken connection."""
        stat: ZnodeStat | None = self._ask("exists", lambda: self._client.exists_async(path, watch=watch))
        return stat

    def delete(self, path: str) -> bool:
        """Delete a node, and return whether it existed."""
        return bool(self._ask("delete", lambda: self._client.delete_async(path), absent=False))

    def _ask(self, command: str, send: Callable[[], Any], absent: Any = None) -> Any:
        """Send a command and return the answer, ``absent`` if there is no such node. With a journal, reach the failpoints."""
        if not self.journal.on:
            return self._answer(send, absent)
        request_context.sending(ConnectionLoss)
        answer = self._answer(send, absent)
        try:
            request_context.sent(command, answer)
        except ReplyLost as lost:  # kazoo sends nothing twice: the caller learns that the outcome is unknown
            raise ConnectionLoss from lost
        return answer

    def _answer(self, send: Callable[[], Any], absent: Any) -> Any:
        try:
            return send().get(timeout=CLIENT_OPTIONS["answer_timeout_s"])
        except NoNodeError:
            return absent

    def _tell_of_heartbeats(self) -> None:
        """Journal the session's heartbeats. kazoo reports them nowhere, so this uses a private method."""
        connection = self._client._connection  # noqa: SLF001 - see above
        send = connection._send_ping  # noqa: SLF001

        def send_and_tell(connect_timeout: float) -> None:
            request_context.sending(ConnectionDropped)
            send(connect_timeout)
            at = {"sent_ns": request_context.sent_ns, "renewed_ns": monotonic_ns()}
            self.journal.record(Renewed(request="", key="session", command="ping", answer="sent", **at))

        connection._send_ping = send_and_tell  # noqa: SLF001


def connect(settings: Settings, journal: Journal) -> ZooKeeper:
    """Make the client for a lock."""
    return ZooKeeper(settings.zookeeper_url, journal)
