"""What a thread of a replica waits for. Between two operations it runs by itself, and nobody can come between."""

from __future__ import annotations

from typing import Any, NamedTuple

LOCK, COUNTER = "lock", "counter"  # the two servers: a fault of the lock's store never touches the counter


class Command(NamedTuple):
    """A command was sent; the thread waits until the server has executed it and its reply has come."""

    # LOCK or COUNTER
    server: str
    # the command as it is sent: its name first
    words: tuple[bytes, ...]
    # the file and line of the stage that sent it; empty and 0 where another file did
    file: str = ""
    line: int = 0
    # of a pipeline: what was sent with it, and is executed after it
    behind: tuple[tuple[bytes, ...], ...] = ()
    # whether others were sent with it, and have been executed
    follows: bool = False
    # whether its connection watches keys
    watches: bool = False
    # of several servers, which one, counted from 1; 0 where there is only one
    node: int = 0


class FanOut(NamedTuple):
    """A command was sent to each of several servers. The thread waits until all of them have answered, in any order."""

    commands: tuple[Command, ...]


class Until(NamedTuple):
    """The thread waits for a moment; for another thread of its replica as well, and then for ever if there is no moment."""

    # on the clock of the search; None where only another thread can end the wait
    at_ms: int | None


class Nap(NamedTuple):
    """The thread sleeps shortly between two tries. It need not wake before another client has changed the lock's store."""


class Listen(NamedTuple):
    """The thread waits for a message on a subscribed connection."""

    at_ms: int | None


class Choice(NamedTuple):
    """The thread draws a random number. Each value is explored."""

    values: tuple[int, ...]


Operation = Command | FanOut | Until | Nap | Listen | Choice
POPPING = {b"BLPOP": b"LPOP", b"BRPOP": b"RPOP"}  # a command that waits in the server → the command that it is when it need not


def waits_in_server(operation: Operation | None) -> bool:
    """Return whether a command waits in the server, until it can do what it is asked."""
    return isinstance(operation, Command) and operation.words[0].upper() in POPPING


class Failure(NamedTuple):
    """A reply that is an error: the client raises it."""

    # a name in redis.exceptions
    kind: str
    message: str


Reply = Any  # what the server sends, made of bytes, int, None, tuples of these, and Failure


class Grant(NamedTuple):
    """The work began."""

    key: str
    fence: int


class Writing(NamedTuple):
    """The last look at the lock is over, and the write comes next."""


class Wrote(NamedTuple):
    """The work wrote. ``lost`` is the number of increments that the write destroyed."""

    part: str
    lost: int


class Releasing(NamedTuple):
    """The work is over, well or with an error. What the request sends from here on is its release."""


class Ended(NamedTuple):
    """The request is over: ``ok``, or the name of the error."""

    how: str


Mark = Grant | Writing | Wrote | Releasing | Ended
