"""Redis' protocol, versions 2 and 3: commands as they are sent, and replies as they come.

Source: redis.io, "Redis serialization protocol specification".
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

Words = tuple[bytes, ...]


class Failure(NamedTuple):
    """A reply that is an error."""

    message: str


class Reply(NamedTuple):
    """A reply: as it came, and what it says."""

    raw: bytes
    # of bytes, int, None, Failure, and tuples of these; a map is a tuple of its keys and values in turn
    value: Any


class Incomplete(Exception):  # noqa: N818 - states what is so
    """The bytes end before the message does."""


def pack(words: Iterable[Any]) -> bytes:
    """Return a command as it is sent."""
    parts = [one if isinstance(one, bytes) else str(one).encode() for one in words]
    return b"*%d\r\n%b" % (len(parts), b"".join([b"$%d\r\n%b\r\n" % (len(one), one) for one in parts]))


def commands(data: bytes) -> tuple[list[Words], bytes]:
    """Return the commands that some bytes hold, and the bytes of a command that is not complete. Raises ValueError."""
    found: list[Words] = []
    place = 0
    while place < len(data):
        if data[place : place + 1] != b"*":  # an inline command, as a person types it
            line, end, _ = data[place:].partition(b"\r\n")
            if not end:
                break
            found.append(tuple(line.split()))
            place += len(line) + 2
            continue
        try:
            words, place = _array_of_bulks(data, place)
        except Incomplete:
            break
        found.append(words)
    return [one for one in found if one], data[place:]


def _array_of_bulks(data: bytes, place: int) -> tuple[Words, int]:
    number, place = _line(data, place + 1)
    words = []
    for _ in range(int(number)):
        size, place = _line(data, place + 1)
        end = place + int(size)
        if len(data) < end + 2:
            raise Incomplete
        words.append(data[place:end])
        place = end + 2
    return tuple(words), place


def _line(data: bytes, place: int) -> tuple[bytes, int]:
    end = data.find(b"\r\n", place)
    if end < 0:
        raise Incomplete
    return data[place:end], end + 2


def parsed(data: bytes, place: int = 0) -> tuple[Any, int]:
    """Return what a reply says, and where it ends. Raises Incomplete."""
    line, after = _line(data, place)
    kind, text = line[:1], line[1:]
    if kind in LONG:
        return _long(data, kind, text, after)
    if kind not in SHORT:
        raise ValueError(f"{line[:20]!r} begins no reply of Redis")
    return SHORT[kind](text), after


LONG = (b"$", b"!", b"=", b"*", b"~", b">", b"%")
SHORT: dict[bytes, Callable[[bytes], Any]] = {
    **dict.fromkeys((b"+", b",", b"("), bytes),
    b":": int,
    b"-": lambda text: Failure(text.decode(errors="replace")),
    b"_": lambda text: None,
    b"#": lambda text: int(text == b"t"),
}


def _long(data: bytes, kind: bytes, text: bytes, after: int) -> tuple[Any, int]:
    """Return a text of known length, or several replies."""
    if text == b"-1":
        return None, after
    number = int(text)
    if kind in b"*~>%":
        values = []
        for _ in range(number * (2 if kind == b"%" else 1)):
            value, after = parsed(data, after)
            values.append(value)
        return tuple(values), after
    end = after + number
    if len(data) < end + 2:
        raise Incomplete
    content = data[after:end]
    return (Failure(content.decode(errors="replace")) if kind == b"!" else content[4:] if kind == b"=" else content), end + 2


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
            try:
                value, end = parsed(self._unread, self._place)
            except Incomplete:
                data = self._socket.recv(1 << 20)
                if not data:
                    raise ConnectionError("the explorer's Redis has closed the connection") from None
                self._unread, self._place = self._unread[self._place :] + data, 0
            else:
                raw, self._place = self._unread[self._place : end], end
                return Reply(raw, value)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()
