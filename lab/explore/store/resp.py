"""Redis' protocol as the explorer has it: commands as they are sent, and replies as ``app/foreign/wire/resp.py`` reads them."""

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
    """A reply: as it came, and what it says."""

    raw: bytes
    # of bytes, int, None, Failure, and tuples of these; a map is a tuple of its keys and values in turn
    value: Any


def commands(data: bytes) -> tuple[list[Words], bytes]:
    """Return the commands that some bytes hold, and the bytes of a command that is not complete. Raises NotRedis."""
    found: list[Words] = []
    place = 0
    while place < len(data) and (one := command(data, place)) is not None:
        if one[0]:  # the store answers nothing to an empty line
            found.append(tuple(one[0]))
        place = one[1]
    return found, data[place:]


def whole(raw: bytes) -> Any:
    """Return what a reply says that has come as a whole."""
    found = message(raw)
    return value_of(found[0]) if found is not None else None


def value_of(said: Any) -> Any:
    """Return what was read as a value that can be a key of a table."""
    match said:
        case list():
            return tuple(map(value_of, said))
        case str():
            return said.encode()
        case float():
            return b"%g" % said
        case bool():
            return int(said)
        case redis.ResponseError():
            return Failure(str(said))
    return said


def encoded(value: Any, push: bool = False) -> bytes:
    """Return a value as a reply of the second version; push: as a message of the third."""
    if value is None:
        return b"$-1\r\n"
    if isinstance(value, int):
        return b":%d\r\n" % value
    if isinstance(value, bytes):
        return b"$%d\r\n%b\r\n" % (len(value), value)
    return b"%b%d\r\n%b" % (b">" if push else b"*", len(value), b"".join(map(encoded, value)))


class RespClient:
    """One connection to a real server, on which many commands travel together."""

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
            found = message(self._unread, self._place)
            if found is not None:
                raw, self._place = self._unread[self._place : found[1]], found[1]
                return Reply(raw, value_of(found[0]))
            data = self._socket.recv(1 << 20)
            if not data:
                raise ConnectionError("the explorer's Redis has closed the connection")
            self._unread, self._place = self._unread[self._place :] + data, 0

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()
