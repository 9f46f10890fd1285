"""A state of the search, and the moves that lead from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lab.explore.budget import Budget
from lab.explore.event import STEP, Event, Kind
from lab.explore.ghosts import Ghosts, put
from lab.explore.operation import Command, Reply
from lab.explore.rules import Finding
from lab.explore.server_table import Message
from lab.explore.watching import Watch

RUNS, PAUSED, DEAD = range(3)
SUBSCRIBE, UNSUBSCRIBE, MESSAGE = b"SUBSCRIBE", b"UNSUBSCRIBE", b"message"


class Flight(NamedTuple):
    """A command that was sent to several servers. Some of them have executed it, and not all."""

    client: int
    thread: int
    # when the first of them executed it
    since_ms: int
    # the answer of each, as a tuple of one; None before it has executed the command
    answers: tuple[tuple[Reply] | None, ...]
    # LOST_REPLY: no answer arrives; RESEND: all is sent again when the last has executed it; otherwise STEP
    fault: Kind = STEP


class State(NamedTuple):
    """Everything that decides what can happen next."""

    # where each client is in its tree
    nodes: tuple[int, ...]
    # RUNS, PAUSED or DEAD
    modes: tuple[int, ...]
    # of each client: AWAKE, PARKED or TRYING (``parking``)
    parked: tuple[int, ...]
    # the lock's store and the counter, in their tables
    lock: int
    counter: int
    # the channels to which each client is subscribed, and the messages that it has not read
    channels: tuple[tuple[bytes, ...], ...]
    inboxes: tuple[tuple[Reply, ...], ...]
    now_ms: int
    left: Budget
    ghosts: Ghosts
    # the keys that threads watch
    watched: tuple[Watch, ...] = ()
    # the commands that several servers are executing
    flights: tuple[Flight, ...] = ()
    # of several servers: the clients in whose present try another client has changed the lock's store
    disturbed: tuple[int, ...] = ()

    def of_client(self, client: int) -> tuple[Any, ...]:
        """Return what the state holds of a client, but for its place in its tree and for what names it."""
        ghosts = self.ghosts
        return (
            self.modes[client],
            self.parked[client],
            self.channels[client],
            self.inboxes[client],
            ghosts.holds[client],
            ghosts.releases_own[client],
            ghosts.writes[client],
        )


class Move(NamedTuple):
    """An event that is possible in a state."""

    event: Event
    state: State
    found: tuple[Finding, ...]
    # the command that it executed, and what the client was answered
    command: Command | None = None
    reply: Reply = None
    # for how many moves it stands in a folded search, itself included
    ways: int = 1
    # where its state is one that differs in names: which client each client of that state is; None where it is the same
    names: tuple[int, ...] | None = None
    # whether nobody can notice its moment, and a search goes on with it and with what can be done to it alone
    alone: bool = False


def subscribed(state: State, client: int, command: Command) -> State:
    """Return the state after a client has subscribed, or ended a subscription: the confirmation is its first message."""
    add = command.words[0].upper() == SUBSCRIBE
    channels, inbox = state.channels[client], state.inboxes[client]
    for channel in command.words[1:]:
        channels = tuple(sorted({*channels, channel} if add else {*channels} - {channel}))
        inbox = (*inbox, (b"subscribe" if add else b"unsubscribe", channel, len(channels)))
    return state._replace(channels=put(state.channels, client, channels), inboxes=put(state.inboxes, client, inbox))


def published(state: State, messages: Sequence[Message]) -> State:
    """Return the state after messages were published: each subscribed client that lives will read them."""
    inboxes = tuple(
        inbox + tuple((MESSAGE, one.channel, one.text) for one in messages if one.channel in channels and mode != DEAD)
        for inbox, channels, mode in zip(state.inboxes, state.channels, state.modes, strict=True)
    )
    return state._replace(inboxes=inboxes)
