"""The connections to etcd, as a lock gets them: here commands are counted, and faults are injected.

All that goes through the session of requests passes ``CountedAdapter``, whichever client sends it.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from app.answer import Meaning
from app.failpoints import ReplyDropped, ReplyLost
from app.journal import Journal
from app.request_context import request_context
from app.stores import renewals

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


class CountedAdapter(HTTPAdapter):
    """The connections: here commands are counted, and faults are injected, whichever client sends them through the session."""

    def __init__(self, journal: Journal, renews: dict[int, str], **options: Any) -> None:
        """Take the journal, and what the renewal of each known lease renews; a lease that gets a key is added here."""
        super().__init__(**options)
        self.journal = journal
        self.renews = renews

    def send(self, request: requests.PreparedRequest, stream: bool = False, *args: Any, **options: Any) -> requests.Response:
        name = _name(urlsplit(request.url or "").path)
        if not name:
            return super().send(request, stream, *args, **options)
        for lease, key in _attached(name, request):
            self.renews.setdefault(lease, key)

        def send() -> requests.Response:
            return super(CountedAdapter, self).send(request, stream, *args, **options)

        response = self._send(name, request, stream, send)
        try:
            self._answered(name, request, response, stream)
        except ReplyDropped as dropped:  # etcd3gw leaves this error as it is
            response.close()
            raise requests.RequestException(str(dropped)) from dropped
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
            renewals.record(self.journal, name, request_context.answer, self._key(request))
            raise
        return response

    def _answered(self, name: str, request: requests.PreparedRequest, response: requests.Response, stream: bool) -> None:
        answer, means = ("sent", Meaning.NOTHING) if stream else _reading(name, response)
        request_context.answered(name, answer, means)
        prolonged = name in ("LeaseKeepAlive", "Put", "Txn") and means is Meaning.AGREED
        renewals.record(self.journal, name, answer, self._key(request), prolonged=prolonged)

    def _key(self, request: requests.PreparedRequest) -> str:
        """Return what a command is about: a key, or for a lease what hangs on it."""
        body = _body(request)
        if "ID" not in body:
            return _decoded(body.get("key", ""))
        lease = int(body["ID"])
        return self.renews.get(lease, f"lease {lease:x}")


def _name(path: str) -> str:
    """Return the name of the command behind a path of the gateway; empty for a path that is not a command."""
    return next((name for end, name in COMMANDS.items() if path.endswith(end)), "")


def _body(request: requests.PreparedRequest) -> dict[str, Any]:
    """Return the content of a command."""
    content: dict[str, Any] = json.loads(request.body) if isinstance(request.body, (str, bytes)) else {}
    return content


def _attached(name: str, request: requests.PreparedRequest) -> list[tuple[int, str]]:
    """Return the leases to which a command attaches keys, each with its key."""
    if name not in ("Put", "Txn"):
        return []
    body = _body(request)
    steps = [step.get("request_put", {}) for branch in ("success", "failure") for step in body.get(branch, ())]
    puts = [put for put in (body, *steps) if put.get("lease")]
    return [(int(put["lease"]), _decoded(put["key"])) for put in puts]


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


def _decoded(name: str) -> str:
    return b64decode(name).decode(errors="replace")
