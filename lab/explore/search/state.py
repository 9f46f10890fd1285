"""Define a state of the search, the records of one event, and the move from a state to the next."""

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
    """A connection is subscribed to a channel, or to all channels that match a pattern."""

    client: int
    connection: int
    channel: bytes
    is_pattern: bool = False


class Inbox(NamedTuple):
    """The messages on a subscribed connection that its client has not read."""

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
    """A command in flight: it was sent to several servers, and only some of them have executed it."""

    client: int
    thread: int
    # when the first server executed it
    since_ms: int
    # by server: its answer in a tuple; None before it has executed the command
    answers: tuple[tuple[Any] | None, ...]
    # LOST_REPLY: no answer arrives; RESEND: the command is sent again after the last server has executed it; otherwise STEP
    fault: EventKind = STEP


class Waiting(NamedTuple):
    """A thread that goes on when its paused client is resumed: its nap is over, or its blocking command has its reply."""

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
    # the numbers of the store's states
    before: int
    after: int
    # when the command was sent; if it waited in the server: when it was executed
    sent_ms: int


class Fault(NamedTuple):
    """A fault was taken from the budget."""

    # the field of Budget
    name: str
    # the request that it hits; if a replica is paused or killed: the first request of the replica
    actor: int = NOBODY
    # whether the command that it hits changes nothing
    in_vain: bool = False


class Marked(NamedTuple):
    """A request of a replica has passed a mark."""

    client: int
    request: int
    mark: Mark


class State(NamedTuple):
    """A state: everything that decides which events are possible next, and to which states they lead."""

    # by replica: the number of its node in its tree
    nodes: tuple[int, ...]
    # by replica: RUNS, PAUSED or DEAD
    modes: tuple[int, ...]
    # the numbers of the states of the lock's store and of the counter's store, in their tables
    lock: int
    counter: int
    now_ms: int
    left: Budget
    ghosts: Ghosts
    # the replica and the thread of each command that waits in the server, in their order
    blocked: tuple[tuple[int, int], ...] = ()
    # the threads of paused replicas that go on when their replicas are resumed
    waiting: tuple[Waiting, ...] = ()
    subscribed: tuple[Subscribed, ...] = ()
    inboxes: tuple[Inbox, ...] = ()
    watched: tuple[Watch, ...] = ()
    # the commands in flight to several servers
    flights: tuple[Flight, ...] = ()
    # the records of the current event, in order. The rules judge them at its end; between events, the tuple is empty
    happened: tuple[Change | Fault | Marked, ...] = ()


class Move(NamedTuple):
    """An event that is possible in a state, and its result."""

    event: ScheduleEvent
    before: State
    # after the event
    state: State
    # the command that it executes, and the reply to the client; None without a command
    command: CommandSent | None = None
    reply: Any = None
    # of CLOCK: how many tries of waiters have failed meanwhile
    asked_in_vain: int = 0
    # the claims that it breaks; empty before it is judged
    findings: tuple[Finding, ...] = ()
    # how many moves it stands for, itself included, if interchangeable clients and servers are tried one by one
    weight: int = 1
    # whether no client can notice its moment: then a search tries only this command and its faults in this state
    alone: bool = False


def put(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    """Return a tuple with another value at one place."""
    return (*values[:place], value, *values[place + 1 :])


def without(records: tuple[R, ...], *first: Any) -> tuple[R, ...]:
    """Return the records without the ones that begin with these fields: ``without(flights, client)`` drops a client's flights."""
    return tuple([record for record in records if record[: len(first)] != first])


def messages(state: State, client: int, connection: int) -> tuple[Any, ...]:
    """Return the messages that the client of a subscribed connection has not read."""
    return next((inbox.messages for inbox in state.inboxes if inbox[:2] == (client, connection)), ())


def flight_of(state: State, client: int, thread: int) -> Flight | None:
    """Return the command of a thread that is in flight; None before the first server has executed it."""
    return next((flight for flight in state.flights if flight[:2] == (client, thread)), None)


def unanswered(state: State, client: int, thread: int, operation: FanOut) -> list[CommandSent]:
    """Return the commands of a thread that have no answer yet."""
    flight = flight_of(state, client, thread)
    return [command for place, command in enumerate(operation.commands) if flight is None or flight.answers[place] is None]
