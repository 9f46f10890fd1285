"""A state of the search, what happens in one event, and the move from a state to the next."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from lab.explore.code.operation import CommandSent, FanOut, Mark
from lab.explore.search.event import NOBODY, STEP, Budget, EventKind, ScheduleEvent
from lab.explore.search.ghosts import Ghosts
from lab.explore.search.harm import Finding

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


class Waiting(NamedTuple):
    """A thread could go on while its client was paused: its nap is over, or a command that waited in the server has its reply."""

    client: int
    thread: int
    # the reply; None after a nap
    result: Any


class Change(NamedTuple):
    """The lock's store has executed a command of a replica."""

    client: int
    # the thread that sent it, and whether it serves a request
    thread: int
    own: bool
    # the states of the store
    before: int
    after: int
    # when the command was sent; of a command that waited in the server, when it was executed
    sent_ms: int


class Fault(NamedTuple):
    """A fault was taken from the budget."""

    # the field of Budget
    name: str
    # the request that it has hit; of a replica that is paused or killed, its first
    actor: int = NOBODY
    # whether its command has changed nothing
    in_vain: bool = False


class Marked(NamedTuple):
    """Something happened in a request of a replica."""

    client: int
    request: int
    mark: Mark


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
    # the threads of paused replicas that go on when these are resumed
    waiting: tuple[Waiting, ...] = ()
    subscribed: tuple[Subscribed, ...] = ()
    inboxes: tuple[Inbox, ...] = ()
    watched: tuple[Watch, ...] = ()
    # the commands that several servers are executing
    flights: tuple[Flight, ...] = ()
    # what the event that is under way has done so far, in order. The rules judge it at its end: between events, there is nothing
    happened: tuple[Change | Fault | Marked, ...] = ()


class Move(NamedTuple):
    """An event that is possible in a state, and what it does."""

    event: ScheduleEvent
    before: State
    # after the event
    state: State
    # the command that it is about, and what its client was answered; None without one
    command: CommandSent | None = None
    reply: Any = None
    # of CLOCK: how often waiters have asked in vain meanwhile
    asked_in_vain: int = 0
    # what it breaks, once it is judged
    found: tuple[Finding, ...] = ()
    # for how many moves it stands in a folded search, itself included
    ways: int = 1
    # whether nobody can notice its moment, and a search follows only it and what can be done to it
    alone: bool = False


def put(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    """Return a tuple with another value at one place."""
    return (*values[:place], value, *values[place + 1 :])


def without(records: tuple[R, ...], *which: Any) -> tuple[R, ...]:
    """Return those records that do not begin so: ``without(flights, client)`` leaves out all of a client."""
    return tuple([one for one in records if one[: len(which)] != which])


def messages(state: State, client: int, connection: int) -> tuple[Any, ...]:
    """Return what a subscribed connection has not read."""
    return next((one.messages for one in state.inboxes if one[:2] == (client, connection)), ())


def flight_of(state: State, client: int, thread: int) -> Flight | None:
    """Return the command of a thread that servers are executing; None before the first of them has."""
    return next((one for one in state.flights if one[:2] == (client, thread)), None)


def unanswered(state: State, client: int, thread: int, operation: FanOut) -> list[CommandSent]:
    """Return the commands that have no answer yet."""
    flight = flight_of(state, client, thread)
    return [one for place, one in enumerate(operation.commands) if flight is None or flight.answers[place] is None]
