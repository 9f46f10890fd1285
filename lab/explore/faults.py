"""What can be done to the clients and to the lock's store: pauses, crashes, and restarts without data.

What can happen to a single command, such as a lost reply, is with the commands: in ``one_server`` and in ``fan_out``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab.explore import fan_out, in_flight, naps, rules, watching
from lab.explore.event import CRASH, PAUSE, RESTART, RESUME, Event
from lab.explore.ghosts import put
from lab.explore.parking import AWAKE
from lab.explore.state import DEAD, PAUSED, RUNS, Move, State

if TYPE_CHECKING:
    from lab.explore.world import World


def moves(world: World, state: State, node: int | None = None) -> Iterator[Move]:
    """Yield the faults that are possible. node: of several servers, restart this one only."""
    left = state.left
    for client, mode in enumerate(state.modes):
        if mode == PAUSED:
            yield Move(Event(RESUME, client), state._replace(modes=put(state.modes, client, RUNS)), ())
        elif mode == RUNS and not world.node(state, client).ended:
            # a pause in a pipeline is the same as one after it: the server goes on
            if left.pauses and not in_flight.of_client(world, state, client):
                ghosts = rules.paused(state.ghosts, client, world.node(state, client).writing)
                after = state._replace(modes=put(state.modes, client, PAUSED), left=left.without("pauses"), ghosts=ghosts)
                if world.program.asks is not None:
                    after = naps.paused(after, client, world.node(state, client))
                yield Move(Event(PAUSE, client), after, ())
            if left.crashes:
                after, found = in_flight.arrived(world, state, client)
                modes, ghosts = put(after.modes, client, DEAD), rules.crashed(after.ghosts, client)
                spent = watching.closed(after, client)._replace(modes=modes, left=left.without("crashes"), ghosts=ghosts)
                yield Move(Event(CRASH, client), fan_out.without_client(spent, client), found)
    if left.restarts and world.lock.contents[state.lock] and not world.all_over(state):
        yield from _restarts(world, state, node)


def _restarts(world: World, state: State, node: int | None) -> Iterator[Move]:
    """Yield a restart of the store; of several servers, of each that has a key, or of one."""
    votes, left, awake = world.program.votes, state.left.without("restarts"), (AWAKE,) * len(state.parked)
    if votes.servers == 1:
        ghosts = rules.restarted(state.ghosts, state.now_ms)
        after = state._replace(lock=world.lock.empty, left=left, ghosts=ghosts, parked=awake)
        yield Move(Event(RESTART), watching.expired(after, world.lock.contents[state.lock], ()), ())
        return
    for one in world.servers(state) if node is None else (node,):
        if one and world.lock.holds(state.lock, one):
            ghosts = rules.restarted(state.ghosts, state.now_ms, votes, one)
            after = state._replace(lock=world.lock.emptied(state.lock, one), left=left, ghosts=ghosts, parked=awake)
            yield Move(Event(RESTART, node=one), world.disturbed(after, server=one), ())
