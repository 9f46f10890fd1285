"""etcd, by etcd3gw over its HTTP gateway: leases, one transaction, a range, and a watch that needs no thread.

etcd3gw's ready-made Lock is not used: it asks once and does not wait. Its watch is not used either: it starts a thread for each
waiter, and closes all pooled connections at its end. Several servers are asked one after the other until one answers. So a
command can be carried out twice; all commands here allow that.
"""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any

import requests
from etcd3gw.client import Etcd3Client
from etcd3gw.exceptions import ConnectionFailedError, ConnectionTimeoutError, Etcd3Exception
from etcd3gw.lease import Lease
from requests.adapters import HTTPAdapter

from app.endpoint import Endpoint
from app.failpoints import RENEW, ReplyLost, request_context
from app.journal import Journal, Renewed
from app.settings import Settings

CLIENT_OPTIONS: dict[str, Any] = {"answer_timeout_s": 5.0, "command_retries": 0, "connections": 64, "api_path": "/v3/"}
GONE = "requested lease not found"


@dataclass(frozen=True, slots=True)
class Queued:
    """One key of a queue."""

    key: str
    # the revision at which the key was created
    revision: int
    # the revision of the store at the time of the look
    seen: int


class Etcd:
    """The client for a lock: reaches the failpoints, and journals what is sent outside any request."""

    Error = (Etcd3Exception, requests.RequestException)

    def __init__(self, endpoint: Endpoint, journal: Journal) -> None:
        self.journal = journal
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy from the environment is wanted, and looking for it costs a tenth of the speed
        self._session.mount("http://", HTTPAdapter(pool_maxsize=CLIENT_OPTIONS["connections"], max_retries=0))
        self._servers = [self._client(address.host, address.port) for address in endpoint.addresses]

    def _client(self, host: str, port: int) -> Etcd3Client:
        timeout_s, path = CLIENT_OPTIONS["answer_timeout_s"], CLIENT_OPTIONS["api_path"]
        return Etcd3Client(host, port, timeout=timeout_s, api_path=path, session=self._session)

    def close(self) -> None:
        self._session.close()

    def grant(self, ttl_s: int) -> int:
        """Create a lease, and return its number. A lease without a key locks nothing: for the failpoints it is not yet a yes."""
        granted: Lease = self._ask("LeaseGrant", lambda server: server.lease(ttl_s), agreed=lambda granted: False)
        return granted.id

    def keep_alive(self, lease: int) -> bool:
        """Start the lease's time again. Return False if the lease has ended."""
        return bool(self._ask("LeaseKeepAlive", lambda server: Lease(lease, server).refresh() > 0, key=f"lease {lease:x}"))

    def revoke(self, lease: int) -> bool:
        """End the lease, and delete the keys attached to it. Return False if the lease had ended before."""

        def revoke(server: Etcd3Client) -> bool:
            try:
                return Lease(lease, server).revoke()
            except Etcd3Exception as error:
                if GONE in (error.detail_text or ""):
                    return False
                raise

        return bool(self._ask("LeaseRevoke", revoke))

    def create(self, key: str, lease: int) -> int:
        """Create a key attached to a lease, if it does not exist (create_revision == 0). Return its create revision."""
        name = _coded(key)
        transaction = {
            "compare": [{"key": name, "target": "CREATE", "result": "EQUAL", "create_revision": 0}],
            "success": [{"request_put": {"key": name, "lease": lease}}],
            "failure": [{"request_range": {"key": name}}],
        }
        answer = self._ask("Txn", lambda server: server.transaction(transaction))
        if answer.get("succeeded"):
            return int(answer["header"]["revision"])
        return int(answer["responses"][0]["response_range"]["kvs"][0]["create_revision"])

    def last_two(self, prefix: str, up_to_revision: int) -> list[Queued]:
        """Return the last two keys with this prefix that were created by this revision, the younger first."""
        query = {
            "key": _coded(prefix),
            "range_end": _coded(prefix[:-1] + chr(ord(prefix[-1]) + 1)),
            "sort_order": "DESCEND",
            "sort_target": "CREATE",
            "limit": 2,
            "max_create_revision": up_to_revision,
            "keys_only": True,
        }
        answer = self._ask("Range", lambda server: server.post(server.get_url("/kv/range"), json=query))
        seen = int(answer["header"]["revision"])
        return [Queued(b64decode(one["key"]).decode(), int(one["create_revision"]), seen) for one in answer.get("kvs", [])]

    def wait_until_deleted(self, key: str, since_revision: int, timeout_s: float) -> bool:
        """Return whether the key was deleted in that time. The watch begins at the revision of the look: it misses nothing."""
        request = {"key": _coded(key), "start_revision": since_revision, "filters": ["NOPUT"]}
        return bool(self._ask("Watch", lambda server: self._heard(server, request, timeout_s)))

    def _heard(self, server: Etcd3Client, request: dict[str, Any], timeout_s: float) -> bool:
        """Return whether a watch reported an event in time. The waiting thread reads the stream itself."""
        url, until_s = server.get_url("/watch"), time.monotonic() + timeout_s
        try:
            body = {"create_request": request}
            patience_s = (CLIENT_OPTIONS["answer_timeout_s"], timeout_s)
            with self._session.post(url, json=body, stream=True, timeout=patience_s) as stream:
                rest = b""
                for chunk in stream.iter_content(
                    chunk_size=None
                ):  # chunks as they come: with a size, the read would wait for so many bytes
                    *lines, rest = (rest + chunk).split(b"\n")
                    if any(_reports(line) for line in lines):
                        return True
                    if time.monotonic() > until_s:
                        return False
        except (requests.Timeout, requests.ConnectionError) as error:
            # requests calls a read that timed out within a stream a ConnectionError
            if time.monotonic() < until_s:
                raise ConnectionFailedError(str(error)) from error
        return False

    def _ask(
        self,
        command: str,
        send: Callable[[Etcd3Client], Any],
        key: str = "",
        agreed: Callable[[Any], object] = lambda answer: answer,
    ) -> Any:
        """Send a command. With a journal, reach the failpoints; send it again after a lost reply, as to another server."""
        if not self.journal.on:
            return self._answer(send)
        request_context.sending(ConnectionFailedError)
        answer = self._answer(send)
        try:
            request_context.sent(command, agreed(answer))
        except ReplyLost:
            request_context.sending_again()
            answer = self._answer(send)
            request_context.sent(command, agreed(answer))
        if request_context.phase is RENEW:
            at = {"sent_ns": request_context.sent_ns, "renewed_ns": monotonic_ns()}
            self.journal.record(Renewed(request="", key=key, command=command, answer=str(answer), **at))
        return answer

    def _answer(self, send: Callable[[Etcd3Client], Any]) -> Any:
        """Return the first answer, beginning with the server that answered last time. Raises what the last server raised."""
        servers = list(self._servers)
        for server in servers:
            try:
                return send(server)
            except (ConnectionFailedError, ConnectionTimeoutError):
                if server is servers[-1]:
                    raise
                self._servers = [*(other for other in servers if other is not server), server]
        raise AssertionError("an endpoint has at least one address")


def _reports(line: bytes) -> bool:
    """Return whether a line of a watch reports an event or the end. The first line only reports the beginning."""
    event = json.loads(line or b"{}").get("result", {})
    return bool(event.get("events") or event.get("canceled"))


def _coded(text: str) -> str:
    """Encode a text in base64, as the gateway wants it."""
    return b64encode(text.encode()).decode()


def connect(settings: Settings, journal: Journal) -> Etcd:
    """Make the client for a lock."""
    return Etcd(settings.etcd_url, journal)
