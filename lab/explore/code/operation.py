"""What a thread of a replica waits for. Between two operations it runs by itself, and nobody can come between."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any, NamedTuple

from lab.explore.store.resp import Words

LOCK, COUNTER = "lock", "counter"  # the two servers: a fault of the lock's store never touches the counter


class CommandSent(NamedTuple):
    """A command was sent; the thread waits until the server has executed it and its reply has come."""

    # LOCK or COUNTER
    server: str
    # the command as it was sent, its name first; a transaction is one command
    words: Words
    # the file and line of the stage that sent it; empty and 0 where another file did
    file: str = ""
    line: int = 0
    # of a pipeline: what was sent with it, and is executed after it
    behind: tuple[Words, ...] = ()
    # whether others were sent with it, and have been executed
    follows: bool = False
    # the number of its connection, by which the server knows who watches keys or is subscribed
    connection: int = 0
    # of several servers, which one, counted from 1; 0 where there is only one
    node: int = 0
    # the version of the protocol
    version: int = 2
    # when the server gives up, of a command that waits there; None where it waits for ever, or does not wait
    until_ms: int | None = None
    # when the client gives up; None for never
    patience_ms: int | None = None


class FanOut(NamedTuple):
    """A command was sent to each of several servers. The thread waits until all of them have answered, in any order."""

    commands: tuple[CommandSent, ...]


class Until(NamedTuple):
    """The thread waits for a moment; for another thread of its replica as well, and then for ever if there is no moment."""

    # on the clock of the search; None where only another thread can end the wait
    at_ms: int | None


class Nap(NamedTuple):
    """The thread sleeps shortly between two tries. The sleep ends when the lock's store changes, and after its time."""

    at_ms: int


class Listen(NamedTuple):
    """The thread waits for a message on a subscribed connection."""

    at_ms: int | None
    connection: int


class Choice(NamedTuple):
    """The thread draws a random number. Each value is explored."""

    values: tuple[Any, ...]


Operation = CommandSent | FanOut | Until | Nap | Listen | Choice


class NoReply(Enum):
    """In place of a reply."""

    LOST = auto()  # and its connection with it
    GAVE_UP = auto()  # the client has waited for as long as it is ready to

    def __repr__(self) -> str:
        return self.name


LOST, GAVE_UP = NoReply


class Granted(NamedTuple):
    """The work began."""

    key: str
    fence: int


class AboutToWrite(NamedTuple):
    """The last look at the lock is over, and the write comes next."""


class WriteDone(NamedTuple):
    """The work wrote. ``lost`` is the number of increments that the write destroyed."""

    part: str
    lost: int


class Releasing(NamedTuple):
    """The work is over, well or with an error. What the request sends from here on is its release."""


WRONG_ANSWER = "WrongAnswer"  # the request is answered with another number than its work has written


class Ended(NamedTuple):
    """The request is over: ``ok``, or the name of the error."""

    how: str
    # the last line of the stage that the error passed, as file:line; and its text
    where: str = ""
    why: str = ""


Mark = Granted | AboutToWrite | WriteDone | Releasing | Ended
