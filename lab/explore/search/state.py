"""A state of the search."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from lab.explore.search.event import STEP, Budget, EventKind
from lab.explore.search.ghosts import Ghosts

T = TypeVar("T")
R = TypeVar("R", bound=tuple[Any, ...])
RUNS, PAUSED, DEAD = range(3)


class Subscribed(NamedTuple):
    """A connection is subscribed to a channel, or to all whose names match a pattern."""

    client: int
    connection: int
    channel: bytes
    is_pattern: bool = False


class Inbox(NamedTuple):
    """The messages that came on a subscribed connection, and that its client has not read."""

    client: int
    connection: int
    messages: tuple[tuple[Any, ...], ...]


class Watch(NamedTuple):
    """A connection watches a key."""

    client: int
    connection: int
    key: bytes
    touched: bool = False


class Flight(NamedTuple):
    """A command that was sent to several servers. Some of them have executed it, and not all."""

    client: int
    thread: int
    # when the first of them executed it
    since_ms: int
    # the answer of each, as a tuple of one; None before it has executed the command
    answers: tuple[tuple[Any] | None, ...]
    # LOST_REPLY: no answer arrives; RESEND: all is sent again when the last has executed it; otherwise STEP
    fault: EventKind = STEP


class Served(NamedTuple):
    """A command that waited in the server was executed while its client was paused: the reply waits for the client."""

    client: int
    thread: int
    reply: Any


class State(NamedTuple):
    """Everything that decides what can happen next."""

    # where each replica is in its tree
    nodes: tuple[int, ...]
    # RUNS, PAUSED or DEAD
    modes: tuple[int, ...]
    # the lock's store and the counter, in their tables
    lock: int
    counter: int
    now_ms: int
    left: Budget
    ghosts: Ghosts
    # the threads whose commands wait in the server, in the order in which they came
    blocked: tuple[tuple[int, int], ...] = ()
    served: tuple[Served, ...] = ()
    subscribed: tuple[Subscribed, ...] = ()
    inboxes: tuple[Inbox, ...] = ()
    watched: tuple[Watch, ...] = ()
    # the commands that several servers are executing
    flights: tuple[Flight, ...] = ()
    # the threads of paused replicas whose sleep has ended meanwhile, because the lock's store has changed
    roused: tuple[tuple[int, int], ...] = ()


class Change(NamedTuple):
    """A command of a replica was executed at the lock's store."""

    client: int
    # the thread that sent it, and whether it serves a request
    thread: int
    own: bool
    # the states of the store
    before: int
    after: int
    # when the command was sent; of a command that waited in the server, when it was executed
    sent_ms: int


def put(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    """Return a tuple with another value at one place."""
    return (*values[:place], value, *values[place + 1 :])


def without(records: tuple[R, ...], *which: Any) -> tuple[R, ...]:
    """Return those records that do not begin so: ``without(flights, client)`` leaves out all of a client."""
    return tuple([one for one in records if one[: len(which)] != which])
