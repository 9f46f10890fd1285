"""A request to ZooKeeper as the words of a command, and back: ``Delete a00001 /L/…-0000000000``.

The second word is the session. Paths and data are plain text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kazoo.protocol.serialization import (
    Create,
    Create2,
    Delete,
    Exists,
    GetChildren,
    GetChildren2,
    GetData,
    SetData,
    Sync,
    Transaction,
)
from kazoo.security import OPEN_ACL_UNSAFE

from lab.explore.store.resp import Words

WATCH = b"watch"
LOOKS = (Exists, GetData, GetChildren, GetChildren2)
KINDS = {
    kind.__name__.encode(): kind
    for kind in (Create, Create2, Delete, Exists, GetChildren, GetChildren2, GetData, SetData, Sync, Transaction)
}
WRITES = (b"Create", b"Create2", b"Delete", b"SetData", b"Transaction")


def words_of(request: Any, session: bytes) -> Words:
    """Return a request of kazoo as words. Raises KeyError for one that has no model."""
    name = type(request).__name__.encode()
    if name not in KINDS:
        raise KeyError(name.decode())
    return (name, session, *_parts(request))


def _parts(request: Any) -> list[bytes]:
    match request:
        case Create() | Create2():
            return [request.path.encode(), request.data, b"flags=%d" % request.flags]
        case Delete():
            return [request.path.encode(), b"version=%d" % request.version]
        case SetData():
            return [request.path.encode(), request.data, b"version=%d" % request.version]
        case Transaction():
            return [json.dumps([[part.decode() for part in words_of(one, b"")] for one in request.operations]).encode()]
        case _:
            return [request.path.encode(), *([WATCH] if getattr(request, "watcher", None) else [])]


def request_of(words: Words, there: Callable[[str], str]) -> Any:
    """Return the request that words stand for. there: returns the server's name of a path."""
    kind, parts = KINDS[words[0]], words[2:]
    if kind is Transaction:
        inner = [tuple(part.encode() for part in one) for one in json.loads(parts[0])]
        return Transaction([request_of(one, there) for one in inner])
    path = there(parts[0].decode())
    if kind in (Create, Create2):
        return kind(path, parts[1], OPEN_ACL_UNSAFE, _number(parts[2]))
    if kind is Delete:
        return Delete(path, _number(parts[1]))
    if kind is SetData:
        return SetData(path, parts[1], _number(parts[2]))
    return kind(path, WATCH in parts[1:]) if kind in LOOKS else kind(path)


def _number(word: bytes) -> int:
    return int(word.partition(b"=")[2])
