"""A transaction as one command: MULTI, its commands, EXEC. The server executes it as a whole, so nobody can come between.

In the tables and in the events it is one command, with the name TRANSACTION and each of its commands after its length. The
real server gets MULTI, the commands and EXEC.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Words = tuple[bytes, ...]
NAME, MULTI, EXEC = b"TRANSACTION", b"MULTI", b"EXEC"
WATCH, UNWATCH = b"WATCH", b"UNWATCH"


def as_one(commands: Sequence[Words]) -> Words:
    """Return the commands between MULTI and EXEC as one command."""
    return (NAME, *(part for words in commands for part in (str(len(words)).encode(), *words)))


def is_one(command: Words) -> bool:
    """Return whether a command is a transaction."""
    return command[0] == NAME


def commands_of(transaction: Words) -> Iterator[Words]:
    """Yield the commands of a transaction."""
    place = 1
    while place < len(transaction):
        after = place + 1 + int(transaction[place])
        yield transaction[place + 1 : after]
        place = after


def as_sent(command: Words) -> list[Words]:
    """Return what the server is sent for a command."""
    return [(MULTI,), *commands_of(command), (EXEC,)] if is_one(command) else [command]
