"""Split the bytes that have arrived so far into messages of the Redis protocol, versions 2 and 3.

Source: https://redis.io/docs/latest/develop/reference/protocol-spec/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import redis

END = b"\r\n"
COUNTED = b"*~>%|"  # a number of messages follows
SIZED = b"$=!"  # a number of bytes follows


def _error(text: bytes) -> redis.ResponseError:
    return redis.ResponseError(text.decode(errors="replace"))


SIMPLE: dict[bytes, Callable[[bytes], Any]] = {
    b"+": bytes.decode,
    b"-": _error,
    b":": int,
    b"_": lambda _: None,
    b"#": lambda word: word == b"t",
    b",": float,
    b"(": int,
}


class NotRedis(Exception):  # noqa: N818 - a fact about the bytes
    """The bytes that arrived are not the protocol of Redis."""


def pack(words: Iterable[Any]) -> bytes:
    """Return a command as the bytes to send."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n%b" % (len(parts), b"".join([b"$%d\r\n%b\r\n" % (len(part), part) for part in parts]))


def command(data: bytes, at: int = 0) -> tuple[list[bytes], int] | None:
    """Return the words of the command at an offset, and the offset after it; None if the command is not yet complete.

    Raises NotRedis.
    """
    if at == 0 and data[:1] == b"*":  # most often one command has arrived, and its words have no end of line in them
        lines = data.split(END)
        if len(lines) == 2 * int(lines[0][1:]) + 2 and not lines[-1]:
            words = lines[2::2]
            if all(len(word) == int(size[1:]) for size, word in zip(lines[1::2], words, strict=False)):
                return words, len(data)
    return message(data, at)


def message(data: bytes, at: int = 0) -> tuple[Any, int] | None:
    """Return the message at an offset, and the offset after it; None if the message is not yet complete.

    Texts of a given length are bytes, simple ones ``str``, errors ``redis.ResponseError``. Raises NotRedis.
    """
    end = data.find(END, at)
    if end < 0:
        return None
    kind, head, at = data[at : at + 1], data[at + 1 : end], end + 2
    try:
        if kind not in SIZED + COUNTED:
            return SIMPLE[kind](head), at
        size = int(head)
    except (ValueError, KeyError):
        raise NotRedis(f"{data[:60]!r} is not the protocol of Redis") from None
    if size < 0:
        return None, at
    if kind in SIZED:
        value, after = data[at : at + size], at + size + 2
        return None if len(data) < after else (_error(value) if kind == b"!" else value, after)
    parts = []
    for _ in range(size * 2 if kind in b"%|" else size):  # a size of these two counts pairs
        if (part := message(data, at)) is None:
            return None
        parts.append(part[0])
        at = part[1]
    return message(data, at) if kind == b"|" else (parts, at)  # attributes come before the message that they describe
