"""Read and write Redis' protocol: commands and replies as tuples that can be keys of a table.

``app/foreign/wire/resp.py`` parses the bytes.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import redis

from app.foreign.wire.resp import command, message, pack

Words = tuple[bytes, ...]


class Failure(NamedTuple):
    """A reply that is an error."""

    message: str


class Reply(NamedTuple):
    """A reply: its bytes, and its value."""

    raw: bytes
    # bytes, int, None, Failure, or a tuple of these; a map is a tuple of its keys and values in turn
    value: Any


def commands(data: bytes) -> tuple[list[Words], bytes]:
    """Return the complete commands in some bytes, and the remaining bytes. Raises NotRedis."""
    complete: list[Words] = []
    place = 0
    while place < len(data) and (parsed := command(data, place)) is not None:
        if parsed[0]:  # a server does not answer an empty line
            complete.append(tuple(parsed[0]))
        place = parsed[1]
    return complete, data[place:]


def whole(raw: bytes) -> Any:
    """Return the value of a complete reply; None for nil, and if the reply is not complete."""
    parsed = message(raw)
    return value_of(parsed[0]) if parsed is not None else None


def value_of(parsed: Any) -> Any:
    """Return a parsed reply as a value that can be a key of a table."""
    match parsed:
        case list():
            return tuple(map(value_of, parsed))
        case str():
            return parsed.encode()
        case float():
            return b"%g" % parsed
        case bool():
            return int(parsed)
        case redis.ResponseError():
            return Failure(str(parsed))
    return parsed


def encoded(value: Any, push: bool = False) -> bytes:
    """Return the bytes of a reply in version 2 of the protocol. push: as a message of version 3."""
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, bytes):
        return b"$%d\r\n%b\r\n" % (len(value), value)
    return b"%b%d\r\n%b" % (b">" if push else b"*", len(value), b"".join(map(encoded, value)))


class RespClient:
    """One connection to a real server, which sends many commands together."""

    def __init__(self, host: str, port: int, version: int = 2) -> None:
        self._socket = socket.create_connection((host, port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unread, self._place = b"", 0
        if version != 2:
            self.send([("HELLO", version)])

    def send(self, sent: Sequence[Iterable[Any]]) -> list[Reply]:
        """Send commands, and return their replies."""
        self._socket.sendall(b"".join(map(pack, sent)))
        return [self.read() for _ in sent]

    def read(self) -> Reply:
        """Return the next reply or message."""
        while True:
            parsed = message(self._unread, self._place)
            if parsed is not None:
                raw, self._place = self._unread[self._place : parsed[1]], parsed[1]
                return Reply(raw, value_of(parsed[0]))
            data = self._socket.recv(1 << 20)
            if not data:
                raise ConnectionError("the explorer's Redis has closed the connection")
            self._unread, self._place = self._unread[self._place :] + data, 0

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()
