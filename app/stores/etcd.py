"""etcd, by etcd3gw over its HTTP gateway: sessions, one transaction, a range, and a watch that needs no thread.

etcd3gw's ready-made Lock is not used: it asks once and does not wait. Its watch is not used either: it starts a thread for each
waiter, and closes all pooled connections at its end. Several servers are asked one after another until one answers. So a
command can be carried out twice; all commands here allow that.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests
from etcd3gw.client import Etcd3Client
from etcd3gw.exceptions import ConnectionFailedError, ConnectionTimeoutError, Etcd3Exception
from etcd3gw.lease import Lease
from requests.adapters import HTTPAdapter

from app.request.context import for_nobody
from app.settings import Endpoint, Settings
from app.stores.etcd_connection import GONE, CountedAdapter

CLIENT_OPTIONS: dict[str, Any] = {
    "answer_timeout_s": 5.0,
    "command_retries": 0,
    "connections": 64,
    "api_path": "/v3/",
    "session": "one a replica, shared by its threads; its lease has the lock's TTL",
}


@dataclass(frozen=True, slots=True)
class Queued:
    """One key of a queue."""

    key: str
    # the revision at which the key was created
    revision: int
    # the revision of the store when the queue was read
    seen: int


class LeaseSession:
    """A session as etcd's client for Go has it: one lease for the whole process, which a thread of the client keeps alive.

    Its keys are attached to the lease. So they are deleted when no keepalive comes for as long as the lease's TTL.
    """

    def __init__(self, store: Etcd, ttl_s: int) -> None:
        """Begin the session. Raises Error when no server answers."""
        self._store = store
        self._closed = threading.Event()
        self._period_s = ttl_s / 3
        self.lease = store.grant(ttl_s)  # its number
        self.ended = False
        with for_nobody():
            threading.Thread(target=self._keep_alive, name=f"etcd session {self.lease:x}", daemon=True).start()

    def create(self, key: str, queue: str) -> tuple[int, int] | None:
        """Create a key of this session in a queue, if it does not exist.

        Return its create revision and the first one in the queue; None if the session has ended.
        """
        revisions = self._store.create(key, queue, self.lease)
        self.ended = self.ended or revisions is None
        return revisions

    def close(self) -> None:
        """End the session, and delete its keys."""
        self._closed.set()
        self._store.revoke(self.lease)

    def _keep_alive(self) -> None:
        """Keep the lease alive: at once, and after every third of its TTL. An error means: try again after the next third."""
        while not self._closed.is_set() and not self.ended:
            with contextlib.suppress(*self._store.Error):
                self.ended = not self._store.keep_alive(self.lease)
            self._closed.wait(self._period_s)


class Etcd:
    """The client for a lock."""

    Error = (Etcd3Exception, requests.RequestException)

    def __init__(self, endpoint: Endpoint, counted: bool) -> None:
        self._http = requests.Session()
        self._http.trust_env = False  # no proxy from the environment is wanted, and looking for it costs a tenth of the speed
        options = {"pool_maxsize": CLIENT_OPTIONS["connections"], "max_retries": 0}
        self._http.mount("http://", CountedAdapter(**options) if counted else HTTPAdapter(**options))
        self._sessions: dict[int, LeaseSession] = {}  # by the lease's TTL in seconds
        self._beginning = threading.Lock()
        self.endpoint = endpoint
        timeout_s, path = CLIENT_OPTIONS["answer_timeout_s"], CLIENT_OPTIONS["api_path"]
        client_options = {"timeout": timeout_s, "api_path": path, "session": self._http}
        self._servers = [Etcd3Client(address.host, address.port, **client_options) for address in endpoint.addresses]

    def close(self) -> None:
        """End all sessions, and close the connections."""
        for session in self._sessions.values():
            with contextlib.suppress(*self.Error):
                session.close()
        self._http.close()

    def session(self, ttl_s: int) -> LeaseSession:
        """Return this process's session whose lease has this TTL. The first call begins it, as does the first after its end."""
        with self._beginning:
            session = self._sessions.get(ttl_s)
            if session is None or session.ended:
                session = self._sessions[ttl_s] = LeaseSession(self, ttl_s)
            return session

    def plain(self) -> Etcd3Client:
        """Return etcd3gw's client of the server that answered last, for a library. It does not change to another server."""
        return self._servers[0]

    def grant(self, ttl_s: int) -> int:
        """Create a lease, and return its number."""
        return self._answer(lambda server: server.lease(ttl_s)).id

    def keep_alive(self, lease: int) -> bool:
        """Prolong the lease to its full time. Return False if the lease has ended."""
        return bool(self._answer(lambda server: Lease(lease, server).refresh() > 0))

    def revoke(self, lease: int) -> bool:
        """End the lease, and delete the keys attached to it. Return False if the lease had ended before."""
        return bool(self._answer(_unless_gone(lambda server: Lease(lease, server).revoke())))

    def create(self, key: str, queue: str, lease: int) -> tuple[int, int] | None:
        """Create a key attached to a lease, if it does not exist, and read the first key of its queue, in one transaction.

        Return the create revisions of the key and of the first key in the queue; None if the lease has ended.
        """
        name = _coded(key)
        look = {"request_range": {"key": name}}
        first = _below(queue) | {"sort_order": "ASCEND", "sort_target": "CREATE", "limit": 1, "keys_only": True}
        transaction = {
            "compare": [{"key": name, "target": "CREATE", "result": "EQUAL", "create_revision": 0}],
            "success": [{"request_put": {"key": name, "lease": lease}}, {"request_range": first}],
            "failure": [look, {"request_range": first}],
        }
        answer = self._answer(_unless_gone(lambda server: server.transaction(transaction)))
        if not answer:
            return None
        own, first = (response.get("response_range", {}).get("kvs") for response in answer["responses"])
        revision = answer["header"]["revision"] if answer.get("succeeded") else own[0]["create_revision"]
        return int(revision), int(first[0]["create_revision"])

    def delete(self, key: str) -> bool:
        """Delete a key, and return whether it existed."""
        return bool(self._answer(lambda server: server.delete(key)))

    def last_two(self, prefix: str, up_to_revision: int) -> list[Queued]:
        """Return the last two keys with this prefix that were created by this revision, the younger first."""
        query = _below(prefix) | {
            "sort_order": "DESCEND",
            "sort_target": "CREATE",
            "limit": 2,
            "max_create_revision": up_to_revision,
            "keys_only": True,
        }
        answer = self._answer(lambda server: server.post(server.get_url("/kv/range"), json=query))
        revision = int(answer["header"]["revision"])
        return [Queued(b64decode(kv["key"]).decode(), int(kv["create_revision"]), revision) for kv in answer.get("kvs", [])]

    def wait_until_deleted(self, key: str, since_revision: int, timeout_s: float) -> bool:
        """Return whether the key was deleted in that time. The watch begins at the revision of the last read, to miss nothing."""
        request = {"key": _coded(key), "start_revision": since_revision, "filters": ["NOPUT"]}
        return bool(self._answer(lambda server: self._heard(server, request, timeout_s)))

    def _heard(self, server: Etcd3Client, request: dict[str, Any], timeout_s: float) -> bool:
        """Return whether a watch reported an event in time. The waiting thread reads the stream itself."""
        url, until_s = server.get_url("/watch"), time.monotonic() + timeout_s
        try:
            body = {"create_request": request}
            patience_s = (CLIENT_OPTIONS["answer_timeout_s"], timeout_s)
            with self._http.post(url, json=body, stream=True, timeout=patience_s) as stream:
                rest = b""
                for chunk in stream.iter_content(chunk_size=None):  # with a size, the read would wait for that many bytes
                    *lines, rest = (rest + chunk).split(b"\n")
                    if any(_reports(line) for line in lines):
                        return True
                    if time.monotonic() > until_s:
                        return False
        except (requests.Timeout, requests.ConnectionError) as error:
            # requests raises ConnectionError for a read within a stream that timed out
            if time.monotonic() < until_s:
                raise ConnectionFailedError(str(error)) from error
        return False

    def _answer(self, send: Callable[[Etcd3Client], Any]) -> Any:
        """Ask each server, first the one that answered last time; return the first answer. Raises the error of the last one."""
        servers = list(self._servers)
        for server in servers:
            try:
                return send(server)
            except (ConnectionFailedError, ConnectionTimeoutError):
                if server is servers[-1]:
                    raise
                self._servers = [*(candidate for candidate in servers if candidate is not server), server]
        raise AssertionError("an endpoint has at least one address")


def _reports(line: bytes) -> bool:
    """Return whether a line of a watch reports an event or the end. The first line only reports the beginning."""
    event = json.loads(line or b"{}").get("result", {})
    return bool(event.get("events") or event.get("canceled"))


def _unless_gone(send: Callable[[Etcd3Client], Any]) -> Callable[[Etcd3Client], Any]:
    """Return a function that sends the same command, and returns False if its lease has ended."""

    def ask(server: Etcd3Client) -> Any:
        try:
            return send(server)
        except Etcd3Exception as error:
            if GONE in (error.detail_text or ""):
                return False
            raise

    return ask


def _below(prefix: str) -> dict[str, str]:
    """Return the range of all keys with this prefix."""
    return {"key": _coded(prefix), "range_end": _coded(prefix[:-1] + chr(ord(prefix[-1]) + 1))}


def _coded(text: str) -> str:
    """Encode a text in base64, as the gateway wants it."""
    return b64encode(text.encode()).decode()


def connect(settings: Settings, counted: bool) -> Etcd:
    """Make the client for a lock."""
    return Etcd(settings.etcd_url, counted)
