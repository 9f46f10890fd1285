"""A request to etcd as the words of a command, and back: ``DeleteRange key=L/a00001-…``.

The gateway has JSON with base64 in it. In words, and so in events and pictures, a field is ``name=value``, and what is in
base64 is plain text. Source: etcd, "gRPC gateway", and rpc.proto.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

from lab.explore.store.resp import Words

PATHS = {
    b"Txn": "kv/txn",
    b"Range": "kv/range",
    b"Put": "kv/put",
    b"DeleteRange": "kv/deleterange",
    b"LeaseGrant": "lease/grant",
    b"LeaseKeepAlive": "lease/keepalive",
    b"LeaseRevoke": "lease/revoke",
    b"LeaseTimeToLive": "lease/timetolive",
    b"Watch": "watch",
}
IN_BASE64 = ("key", "range_end", "value")

Body = dict[str, Any]


def name_of(path: str) -> bytes:
    """Return the name of the command behind a path of the gateway; empty for one that has no model."""
    return next((name for name, end in PATHS.items() if path.endswith(f"/{end}")), b"")


def words_of(name: bytes, body: Body) -> Words:
    """Return a request as words."""
    return (name, *[f"{field}={_text(one)}".encode() for field, one in plain(body).items()])


def body_of(words: Words) -> Body:
    """Return the request that the words stand for, with plain text in place of base64."""
    fields = [word.decode().partition("=") for word in words[1:]]
    return {field: value if field in IN_BASE64 else _value(value) for field, _, value in fields}


def plain(body: Any) -> Any:
    """Return a request or an answer with plain text in place of base64."""
    return changed(body, lambda name, one: b64decode(one).decode(errors="replace") if name in IN_BASE64 else one)


def coded(body: Any) -> Any:
    """Return a request or an answer as the gateway has it."""
    return changed(body, lambda name, one: b64encode(one.encode()).decode() if name in IN_BASE64 else one)


def changed(part: Any, change: Callable[[str, Any], Any], name: str = "") -> Any:
    """Return a request or an answer with its values changed. change: of the name of a field and its value."""
    if isinstance(part, dict):
        return {field: changed(one, change, field) for field, one in part.items()}
    return [changed(one, change) for one in part] if isinstance(part, list) else change(name, part)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
