"""ZooKeeper, by kazoo: a session a replica, and of the client's calls those that a lock needs.

kazoo's ready-made Lock is not used. A connection that breaks is made again by kazoo itself, within the same session if that
still stands; what was under way then raises ``Unanswered``: it may have been done, and whoever asked must look.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic_ns
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, KazooException, NoNodeError, SessionExpiredError
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
    """The servers, and this process's sessions there: one for each timeout that is asked for, begun when it first is."""

    Error = (KazooException, KazooTimeoutError)

    def __init__(self, endpoint: Endpoint, journal: Journal) -> None:
        self.endpoint = endpoint
        self.journal = journal
        self._sessions: dict[int, Session] = {}
        self._beginning = threading.Lock()

    def session(self, timeout_ms: int) -> Session:
        """The session with this timeout. Raises Error when no server answers."""
        with self._beginning:
            if timeout_ms not in self._sessions:
                self._sessions[timeout_ms] = Session(self.endpoint, timeout_ms, self.journal)
            return self._sessions[timeout_ms]

    def close(self) -> None:
        """End all sessions; what is ephemeral in them goes."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()


class Session:
    """One session. When it has expired kazoo begins another by itself, in which nothing of the first is left."""

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
        """A node of this session's, with the next number of its parent behind its name: its path, and what is known of it."""
        made: tuple[str, ZnodeStat] = self._ask(
            "create",
            lambda: self._client.create_async(path, ephemeral=True, sequence=True, makepath=True, include_data=True),
        )
        return made

    def get_children(self, path: str) -> list[str]:
        """The names below it; none where it is not there."""
        names: list[str] = self._ask("getChildren", lambda: self._client.get_children_async(path), absent=[])
        return names

    def exists(self, path: str, watch: Callable[[Any], object] | None = None) -> ZnodeStat | None:
        """What is known of it, None if it is not there. watch: called once, when that changes or the connection breaks."""
        stat: ZnodeStat | None = self._ask("exists", lambda: self._client.exists_async(path, watch=watch))
        return stat

    def delete(self, path: str) -> bool:
        """Whether it was there to be deleted."""
        return bool(self._ask("delete", lambda: self._client.delete_async(path), absent=False))

    def _ask(self, command: str, send: Callable[[], Any], absent: Any = None) -> Any:
        """Send it, and wait for the answer, ``absent`` if there is no such node; reaches the failpoints if a journal is kept."""
        if not self.journal.on:
            return self._answer(send, absent)
        request_context.sending()
        answer = self._answer(send, absent)
        try:
            request_context.sent(command, answer)
        except ReplyLost as lost:  # kazoo sends nothing twice: whoever asked is told that nobody knows
            raise ConnectionLoss from lost
        return answer

    def _answer(self, send: Callable[[], Any], absent: Any) -> Any:
        try:
            return send().get(timeout=CLIENT_OPTIONS["answer_timeout_s"])
        except NoNodeError:
            return absent

    def _tell_of_heartbeats(self) -> None:
        """Journal the session's heartbeats. kazoo tells nobody of them, so this looks inside."""
        connection = self._client._connection  # noqa: SLF001 - see above
        send = connection._send_ping  # noqa: SLF001

        def send_and_tell(connect_timeout: float) -> None:
            send(connect_timeout)
            self.journal.say(Renewed(request="", key="session", renewed_ns=monotonic_ns(), answer="sent"))

        connection._send_ping = send_and_tell  # noqa: SLF001


def connect(settings: Settings, journal: Journal) -> ZooKeeper:
    """What a lock is handed."""
    return ZooKeeper(settings.zookeeper_url, journal)
