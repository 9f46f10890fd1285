"""What can be done to the replicas and to the lock's store: pauses, crashes, and restarts without data.

What can happen to a single command, such as a lost reply, is with the commands: in ``one_server`` and in ``fan_out``.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.explore.search import one_server, rules_of_faults
from lab.explore.search.event import CRASH, PAUSE, RESTART, RESUME, ScheduleEvent
from lab.explore.search.state import DEAD, PAUSED, RUNS, Move, State, put, without
from lab.explore.search.world import World


def dids(world: World, state: State, node: int | None = None) -> Iterator[Move]:
    """Yield the faults that are possible. node: of several servers, restart this one only."""
    left = state.left
    for client, mode in enumerate(state.modes):
        if mode == PAUSED:
            yield _resumed(world, state, client)
        elif mode == RUNS and not all(world.node(state, client).ended):
            # a pause in a pipeline is the same as one after it: the server continues
            if left.pauses and not one_server.in_flight(world, state, client):
                ghosts, at_once = state.ghosts, world.program.task.at_once
                for number in range(at_once):
                    ghosts = rules_of_faults.paused(
                        ghosts, client * at_once + number, number in world.node(state, client).writing
                    )
                modes = put(state.modes, client, PAUSED)
                yield Move(ScheduleEvent(PAUSE, client), state._replace(modes=modes, left=left.without("pauses"), ghosts=ghosts))
            if left.crashes:
                yield _crashed(world, state, client)
    if left.restarts and world.lock.loses_data and world.lock.contents[state.lock] and not world.all_over(state):
        yield from _restarts(world, state, node)


def _resumed(world: World, state: State, client: int) -> Move:
    """Return what is done when a replica continues: it reads what it was answered meanwhile, and its naps may be over."""
    mine = [one for one in state.served if one.client == client]
    roused = [thread for its, thread in state.roused if its == client]
    after = state._replace(
        modes=put(state.modes, client, RUNS),
        served=without(state.served, client),
        roused=without(state.roused, client),
    )
    did = Move(ScheduleEvent(RESUME, client), after)
    for thread in roused:
        did = world.resume(did, client, thread, None)
    for one in mine:
        did = world.resume(did, client, one.thread, one.reply)
    return did


def _crashed(world: World, state: State, client: int) -> Move:
    did = one_server.arrived(
        world, Move(ScheduleEvent(CRASH, client), state._replace(left=state.left.without("crashes"))), client
    )
    after = one_server.unwatched(did.state, client)
    gone = after._replace(  # nothing of it makes a difference any more
        nodes=put(after.nodes, client, 0),
        modes=put(after.modes, client, DEAD),
        blocked=without(after.blocked, client),
        subscribed=without(after.subscribed, client),
        inboxes=without(after.inboxes, client),
        flights=without(after.flights, client),
        lock=world.lock.left_by(after.lock, client),
    )
    return did._replace(state=gone)


def _restarts(world: World, state: State, node: int | None) -> Iterator[Move]:
    """Yield a restart of the store; of several servers, of each that has a key, or of one."""
    left = state.left.without("restarts")
    if world.program.servers == 1:
        after = state._replace(lock=world.lock.empty, left=left)
        yield Move(ScheduleEvent(RESTART), one_server.keys_ended(after, world.lock.contents[state.lock], ()))
        return
    for one in world.servers(state) if node is None else (node,):
        if one and world.lock.holds(state.lock, one):
            yield Move(ScheduleEvent(RESTART, node=one), state._replace(lock=world.lock.emptied(state.lock, one), left=left))
