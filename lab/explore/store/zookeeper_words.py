"""A request to ZooKeeper as the words of a command, and as bytes: ``Delete a00001 /L/…-0000000000``.

The second word is the session. Paths and data are plain text.

The messages are kazoo's. Events of watches come before the replies that follow them, and are kept. Source: zookeeper.jute, and
kazoo's ``protocol/connection.py``.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable
from typing import Any

from kazoo.protocol.serialization import (
    Close,
    Connect,
    Create,
    Create2,
    Delete,
    Exists,
    GetChildren,
    GetChildren2,
    GetData,
    Ping,
    ReplyHeader,
    SetData,
    Sync,
    Transaction,
    Watch,
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


ANSWERS_WITHIN_S = 20.0
PING_XID, WATCH_XID = -2, -1
HEAD = struct.Struct("!i")
XID_AND_TYPE = struct.Struct("!ii")
NO_SESSION, NO_PASSWORD = 0, bytes(16)


class ZooKeeperWire:
    """A connection with a session of its own."""

    def __init__(self, host: str, port: int, timeout_ms: int) -> None:
        """Begin a session. Raises OSError."""
        self._socket = socket.create_connection((host, port), timeout=ANSWERS_WITHIN_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        self._xid = 0
        self.events: list[tuple[int, str]] = []  # of watches: what happened, and the path
        self._send(Connect(0, 0, timeout_ms, NO_SESSION, NO_PASSWORD, False).serialize())
        self.session: int = Connect.deserialize(self._frame(), 0)[0].session_id

    def ask(self, request: Any) -> tuple[int, int, Any]:
        """Send a request of kazoo, and return the transaction's number, the number of an error or 0, and the answer."""
        self._xid += 1
        self._send(XID_AND_TYPE.pack(self._xid, request.type) + request.serialize())
        header, frame, place = self._reply()
        answer = request.deserialize(frame, place) if not header.err and hasattr(request, "deserialize") else None
        return header.zxid, header.err, answer

    def flush(self) -> None:
        """Read the events that the server has sent until now: it answers a heartbeat after them."""
        self._send(XID_AND_TYPE.pack(PING_XID, Ping.type))
        self._reply()

    def close(self) -> int:
        """End the session, and return the transaction's number: its ephemeral nodes are deleted."""
        self._xid += 1
        self._send(XID_AND_TYPE.pack(self._xid, Close.type))
        zxid: int = self._reply()[0].zxid
        self.drop()
        return zxid

    def drop(self) -> None:
        """Close the connection, and leave its session to the server."""
        self._file.close()
        self._socket.close()

    def _reply(self) -> tuple[Any, bytes, int]:
        while True:
            frame = self._frame()
            header, place = ReplyHeader.deserialize(frame, 0)
            if header.xid != WATCH_XID:
                return header, frame, place
            event, _ = Watch.deserialize(frame, place)
            self.events.append((event.type, event.path))

    def _send(self, message: bytes | bytearray) -> None:
        self._socket.sendall(HEAD.pack(len(message)) + bytes(message))

    def _frame(self) -> bytes:
        head = self._file.read(HEAD.size)
        if len(head) < HEAD.size:
            raise ConnectionResetError("ZooKeeper has closed the connection")
        return self._file.read(HEAD.unpack(head)[0])
