"""Define the operations for which a thread of a replica waits. Between two operations it runs without interruption."""

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
    # the file and line of the stage that sent it; empty and 0 if no line of the stage did
    file: str = ""
    line: int = 0
    # of a pipeline: the commands that were sent with it, and are executed after it
    behind: tuple[Words, ...] = ()
    # of a pipeline: whether earlier commands of it have been executed
    follows: bool = False
    # the number of its connection, by which the server knows the connections that watch keys or are subscribed
    connection: int = 0
    # the number of the server, counted from 1; 0 if the lock has only one
    node: int = 0
    # the version of the protocol
    version: int = 2
    # of a command that waits in the server: when the server gives up; None if it waits for ever, or does not wait
    until_ms: int | None = None
    # when the client gives up; None for never
    patience_ms: int | None = None


class FanOut(NamedTuple):
    """A command was sent to each of several servers. The thread waits until all of them have answered, in any order."""

    commands: tuple[CommandSent, ...]


class Until(NamedTuple):
    """The thread waits until a moment, or until another thread of its replica wakes it."""

    # on the clock of the search; None if only another thread can end the wait
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
    """A value in place of a reply."""

    LOST = auto()  # the reply was lost, and the connection is broken
    GAVE_UP = auto()  # the client has waited as long as its time-out allows


LOST, GAVE_UP = NoReply


class Granted(NamedTuple):
    """The work began."""

    key: str
    fence: int


class AboutToWrite(NamedTuple):
    """The work has checked the lock for the last time, and writes next."""


class WriteDone(NamedTuple):
    """The work wrote. ``lost`` is the number of increments that the write destroyed."""

    part: str
    lost: int


class Releasing(NamedTuple):
    """The work has ended, with or without an error. All commands that the request sends from now on are its release."""


WRONG_ANSWER = "WrongAnswer"  # the request was answered with a number that its work did not write


class Ended(NamedTuple):
    """The request is over: ``ok``, or the name of the error."""

    how: str
    # the last line of the stage that the error passed, as file:line; and its text
    where: str = ""
    why: str = ""


Mark = Granted | AboutToWrite | WriteDone | Releasing | Ended
