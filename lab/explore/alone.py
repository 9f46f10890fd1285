"""What one client does that runs alone: from this the explorer learns the lock's keys, and what each client sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab.explore.budget import Budget
from lab.explore.event import NOBODY
from lab.explore.operation import FanOut
from lab.explore.state import State

if TYPE_CHECKING:
    from lab.explore.world import World

UNTIL_MS = 1_000_000


def states(world: World, client: int) -> Iterator[State]:
    """Yield the states, for each random number that it may draw. Several servers execute a command one after the other."""
    ways = [world.start(Budget())]
    while ways:
        state = ways.pop()
        yield state
        moves = [move for move in world.moves(state, Budget(), UNTIL_MS) if move.event.client in (client, NOBODY)]
        moves = [move for move in moves if move.event.thread == 0]
        ways += [move.state for move in moves if move.event.node in (0, moves[0].event.node)]


def keys_of_grants(world: World) -> Iterator[bytes]:
    """Yield the keys that the grants of a client name."""
    for state in states(world, 0):
        for hold in state.ghosts.holds[:1]:
            yield from world.program.votes.keys(hold.key) if hold is not None and hold.key else ()


def commands_to_all(world: World, client: int) -> Iterator[tuple[bytes, ...]]:
    """Yield what a client sends to several servers at once."""
    for state in states(world, client):
        for operation in world.node(state, client).pending:
            yield from (command.words for command in operation.commands) if isinstance(operation, FanOut) else ()
