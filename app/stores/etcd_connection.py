"""The connections to etcd, as a lock gets them: here commands are counted, and faults are injected.

Every command that goes through the session of requests passes ``CountedAdapter``, whichever client sends it.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

from app.failpoints.injection import ReplyDropped, ReplyLost
from app.request.answer import Meaning
from app.request.context import here

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

    def send(self, request: requests.PreparedRequest, stream: bool = False, *args: Any, **options: Any) -> requests.Response:
        name = _name(urlsplit(request.url or "").path)
        if not name:
            return super().send(request, stream, *args, **options)
        for lease in _attached(name, request):
            here().hangs_on(_session(lease) if lease else "")

        ask = partial(self._ask, name, request, stream, partial(super().send, request, stream, *args, **options))
        try:
            return ask()
        except ReplyDropped as dropped:  # etcd3gw leaves this error as it is
            raise requests.RequestException(str(dropped)) from dropped
        except ReplyLost:  # behave as a client that sends a command again after a lost reply
            return ask()

    def _ask(
        self, name: str, request: requests.PreparedRequest, stream: bool, send: Callable[[], requests.Response]
    ) -> requests.Response:
        # etcd3gw leaves this error as it is; after a ConnectionError, another server would be asked
        here().sending(name, error=requests.RequestException)
        try:
            response = send()
            if not stream:
                _ = response.content  # an error while the answer is read is an error of the command
        except Exception as error:
            here().answered(name, error, subject=_key(request))
            raise
        answer, means = ("sent", Meaning.NOTHING) if stream else _reading(name, response)
        try:
            here().answered(name, answer, means, subject=_key(request), prolongs=name in ("LeaseKeepAlive", "Put", "Txn"))
        except ReplyLost:
            response.close()
            raise
        return response


def _key(request: requests.PreparedRequest) -> str:
    """Return the key of a command, or the name of its lease, which stands for all keys that belong to it."""
    body = _body(request)
    return _session(int(body["ID"])) if "ID" in body else b64decode(body.get("key", "")).decode(errors="replace")


def _session(lease: int) -> str:
    return f"session {lease:x}"


def _name(path: str) -> str:
    """Return the name of the command behind a path of the gateway; empty for a path that is not a command."""
    return next((name for end, name in COMMANDS.items() if path.endswith(end)), "")


def _body(request: requests.PreparedRequest) -> dict[str, Any]:
    """Return the content of a command."""
    return json.loads(request.body) if isinstance(request.body, (str, bytes)) else {}


def _attached(name: str, request: requests.PreparedRequest) -> list[int]:
    """Return the leases to which a command attaches the keys that it puts; 0 for a key without a lease."""
    body = _body(request)
    if name != "Txn":
        return [int(body.get("lease") or 0)] if name in ("Put", "Lock") else []
    steps = [step for branch in ("success", "failure") for step in body.get(branch, ())]
    return [int(step["request_put"].get("lease") or 0) for step in steps if "request_put" in step]


def _reading(name: str, response: requests.Response) -> tuple[object, Meaning]:
    """Return a short form of the answer, and its meaning for a lock."""
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
