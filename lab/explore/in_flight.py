"""What a client has sent in a pipeline, and nobody reads the replies any more: the server executes it all the same.

The commands of a pipeline travel together. Each is an event of its own, because another client can come between two of them. So
where the reply to one is lost, or the client is killed, those behind it have already arrived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.explore import rules
from lab.explore.operation import LOCK, Command
from lab.explore.parking import after_change
from lab.explore.rules import Finding
from lab.explore.state import State

if TYPE_CHECKING:
    from lab.explore.world import World


def of_client(world: World, state: State, client: int) -> list[Command]:
    """Return the commands that are on their way: others that were sent with them have been executed."""
    pending = world.node(state, client).pending
    return [one for one in pending if isinstance(one, Command) and one.follows and one.server == LOCK]


def with_those_behind(world: World, state: State, command: Command) -> State:
    """Return the state after the server has executed what was sent behind a command."""
    for words in command.behind:
        state, _ = world.execute(state, command.server, words)
    return state


def arrived(world: World, state: State, client: int) -> tuple[State, tuple[Finding, ...]]:
    """Return the state after the server has executed all that is on its way from a client, and what that breaks."""
    found: list[Finding] = []
    for command in of_client(world, state, client):
        after = with_those_behind(world, world.execute(state, command.server, command.words)[0], command)
        contents = world.lock.contents[state.lock], world.lock.contents[after.lock]
        step = rules.Executed(client, False, *contents, contents[1], (), state.now_ms, state.now_ms, False, False)
        ghosts, broken = rules.executed(state.ghosts, step, world.known)
        found += broken
        parked = after_change(len(state.parked), after.lock != state.lock, state.parked)
        state = after._replace(ghosts=ghosts, parked=parked)
    return state, tuple(found)
