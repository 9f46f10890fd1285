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
from typing import Any
from urllib.parse import urlsplit

import requests
from etcd3gw.client import Etcd3Client
from etcd3gw.exceptions import ConnectionFailedError, ConnectionTimeoutError, Etcd3Exception
from etcd3gw.lease import Lease
from requests.adapters import HTTPAdapter

from app.endpoint import Endpoint
from app.failpoints import Meaning, ReplyLost, request_context
from app.journal import Journal
from app.settings import Settings
from app.stores import renewals

CLIENT_OPTIONS: dict[str, Any] = {"answer_timeout_s": 5.0, "command_retries": 0, "connections": 64, "api_path": "/v3/"}
GONE = "requested lease not found"
COMMANDS = {
    "/kv/txn": "Txn",
    "/kv/range": "Range",
    "/kv/put": "Put",
    "/kv/deleterange": "DeleteRange",
    "/kv/compaction": "Compact",
    "/lease/grant": "LeaseGrant",
    "/lease/keepalive": "LeaseKeepAlive",
    "/lease/revoke": "LeaseRevoke",
    "/lease/timetolive": "LeaseTimeToLive",
    "/lease/leases": "LeaseLeases",
    "/lock/lock": "Lock",
    "/lock/unlock": "Unlock",
    "/watch": "Watch",
}


@dataclass(frozen=True, slots=True)
class Queued:
    """One key of a queue."""

    key: str
    # the revision at which the key was created
    revision: int
    # the revision of the store at the time of the look
    seen: int


class CountedAdapter(HTTPAdapter):
    """The connections: here commands are counted, and faults are injected, whichever client sends them through the session."""

    def __init__(self, journal: Journal, **options: Any) -> None:
        super().__init__(**options)
        self.journal = journal

    def send(self, request: requests.PreparedRequest, stream: bool = False, *args: Any, **options: Any) -> requests.Response:
        name = _name(urlsplit(request.url or "").path)
        if not name:
            return super().send(request, stream, *args, **options)

        def send() -> requests.Response:
            return super(CountedAdapter, self).send(request, stream, *args, **options)

        response = self._send(name, request, stream, send)
        try:
            self._answered(name, request, response, stream)
        except ReplyLost:  # behave as a client that sends a command again after a lost reply
            response.close()
            response = self._send(name, request, stream, send)
            self._answered(name, request, response, stream)
        return response

    def _send(
        self, name: str, request: requests.PreparedRequest, stream: bool, send: Callable[[], requests.Response]
    ) -> requests.Response:
        # etcd3gw leaves this error as it is; after a ConnectionError, another server would be asked
        request_context.sending(name, error=requests.RequestException)
        try:
            response = send()
            if not stream:
                _ = response.content  # an error while the answer is read is an error of the command
        except Exception as error:
            request_context.unanswered(name, error)
            renewals.record(self.journal, name, request_context.answer, _key(request))
            raise
        return response

    def _answered(self, name: str, request: requests.PreparedRequest, response: requests.Response, stream: bool) -> None:
        answer, means = ("sent", Meaning.NOTHING) if stream else _reading(name, response)
        request_context.answered(name, answer, means)
        prolonged = name in ("LeaseKeepAlive", "Put", "Txn") and means is Meaning.AGREED
        renewals.record(self.journal, name, answer, _key(request), prolonged=prolonged)


class Etcd:
    """The client for a lock."""

    Error = (Etcd3Exception, requests.RequestException)

    def __init__(self, endpoint: Endpoint, journal: Journal) -> None:
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy from the environment is wanted, and looking for it costs a tenth of the speed
        options = {"pool_maxsize": CLIENT_OPTIONS["connections"], "max_retries": 0}
        self._session.mount("http://", CountedAdapter(journal, **options) if journal.on else HTTPAdapter(**options))
        self._servers = [self._client(address.host, address.port) for address in endpoint.addresses]

    def _client(self, host: str, port: int) -> Etcd3Client:
        timeout_s, path = CLIENT_OPTIONS["answer_timeout_s"], CLIENT_OPTIONS["api_path"]
        return Etcd3Client(host, port, timeout=timeout_s, api_path=path, session=self._session)

    def close(self) -> None:
        self._session.close()

    def plain(self) -> Etcd3Client:
        """Return etcd3gw's client of the server that answered last, for a library. It does not change to another server."""
        return self._servers[0]

    def grant(self, ttl_s: int) -> int:
        """Create a lease, and return its number."""
        granted: Lease = self._answer(lambda server: server.lease(ttl_s))
        return granted.id

    def keep_alive(self, lease: int) -> bool:
        """Start the lease's time again. Return False if the lease has ended."""
        return bool(self._answer(lambda server: Lease(lease, server).refresh() > 0))

    def revoke(self, lease: int) -> bool:
        """End the lease, and delete the keys attached to it. Return False if the lease had ended before."""

        def revoke(server: Etcd3Client) -> bool:
            try:
                return Lease(lease, server).revoke()
            except Etcd3Exception as error:
                if GONE in (error.detail_text or ""):
                    return False
                raise

        return bool(self._answer(revoke))

    def create(self, key: str, lease: int) -> int:
        """Create a key attached to a lease, if it does not exist (create_revision == 0). Return its create revision."""
        name = _coded(key)
        transaction = {
            "compare": [{"key": name, "target": "CREATE", "result": "EQUAL", "create_revision": 0}],
            "success": [{"request_put": {"key": name, "lease": lease}}],
            "failure": [{"request_range": {"key": name}}],
        }
        answer = self._answer(lambda server: server.transaction(transaction))
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
        answer = self._answer(lambda server: server.post(server.get_url("/kv/range"), json=query))
        seen = int(answer["header"]["revision"])
        return [Queued(b64decode(one["key"]).decode(), int(one["create_revision"]), seen) for one in answer.get("kvs", [])]

    def wait_until_deleted(self, key: str, since_revision: int, timeout_s: float) -> bool:
        """Return whether the key was deleted in that time. The watch begins at the revision of the look: it misses nothing."""
        request = {"key": _coded(key), "start_revision": since_revision, "filters": ["NOPUT"]}
        return bool(self._answer(lambda server: self._heard(server, request, timeout_s)))

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


def _name(path: str) -> str:
    """Return the name of the command behind a path of the gateway; empty for a path that is no command."""
    return next((name for end, name in COMMANDS.items() if path.endswith(end)), "")


def _key(request: requests.PreparedRequest) -> str:
    """Return what a command is about: a lease, or a key."""
    body = json.loads(request.body) if isinstance(request.body, (str, bytes)) else {}
    if "ID" in body:
        return f"lease {int(body['ID']):x}"
    return b64decode(body.get("key", "")).decode(errors="replace")


def _reading(name: str, response: requests.Response) -> tuple[object, Meaning]:
    """Return the answer in a word, and what it means for a lock."""
    if not response.ok:
        gone = GONE in response.text
        return (False, Meaning.REFUSED) if gone else (f"error: {response.status_code}", Meaning.NOTHING)
    if name in ("LeaseGrant", "Compact"):  # a lease without a key locks nothing
        return "OK", Meaning.NOTHING
    if name in ("Range", "LeaseTimeToLive", "LeaseLeases"):
        return "OK", Meaning.LOOKED
    body = response.json()
    match name:
        case "Txn":
            agreed = bool(body.get("succeeded"))
        case "LeaseKeepAlive":
            agreed = int(body["result"].get("TTL", 0)) > 0
        case "DeleteRange":
            return int(body.get("deleted", 0)), Meaning.OPEN
        case _:
            agreed = True
    return agreed, Meaning.AGREED if agreed else Meaning.REFUSED


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
