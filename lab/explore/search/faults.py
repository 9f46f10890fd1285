"""What can be done to the replicas and to the lock's store: pauses, crashes, and restarts without data.

What can happen to a single command, such as a lost reply, is with the commands: in ``one_server`` and in ``fan_out``.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.explore.search import one_server
from lab.explore.search.event import CRASH, PAUSE, RESTART, RESUME, ScheduleEvent
from lab.explore.search.move import Move
from lab.explore.search.state import DEAD, PAUSED, RUNS, State, put, without
from lab.explore.search.world import World


def possible(world: World, state: State, node: int | None = None) -> Iterator[Move]:
    """Yield the faults that are possible. node: of several servers, restart this one only."""
    left = state.left
    for client, mode in enumerate(state.modes):
        if mode == PAUSED:
            yield _resume(Move(world, state, ScheduleEvent(RESUME, client)), client)
        elif mode == RUNS and not all(world.node(state, client).ended):
            # a pause in a pipeline is the same as one after it: the server continues
            if left.pauses and not one_server.in_flight(world, state, client):
                paused = Move(world, state, ScheduleEvent(PAUSE, client)).spend("pauses")
                yield paused.set(modes=put(state.modes, client, PAUSED))
            if left.crashes:
                yield _crash(Move(world, state, ScheduleEvent(CRASH, client)).spend("crashes"), client)
    if left.restarts and state.lock != world.lock.empty and not world.all_over(state):
        yield from _restarts(world, state, node)


def _resume(did: Move, client: int) -> Move:
    """Let a replica continue: its naps may be over, and it reads what it was answered meanwhile."""
    before = did.state
    did.set(modes=put(before.modes, client, RUNS), served=without(before.served, client), roused=without(before.roused, client))
    over = [(thread, None) for its, thread in before.roused if its == client]
    for thread, result in (*over, *[(one.thread, one.reply) for one in before.served if one.client == client]):
        did.resume(client, thread, result)
    return did


def _crash(did: Move, client: int) -> Move:
    one_server.arrive(did, client)
    after = one_server.unwatched(did.state, client)
    did.state = after._replace(  # nothing of it makes a difference any more
        nodes=put(after.nodes, client, 0),
        modes=put(after.modes, client, DEAD),
        blocked=without(after.blocked, client),
        subscribed=without(after.subscribed, client),
        inboxes=without(after.inboxes, client),
        flights=without(after.flights, client),
    )
    return did


def _restarts(world: World, state: State, node: int | None) -> Iterator[Move]:
    """Yield a restart of the store; of several servers, of each that has a key, or of one."""
    if world.program.servers == 1:
        did = Move(world, state, ScheduleEvent(RESTART)).spend("restarts").set(lock=world.lock.empty)
        did.state = one_server.keys_ended(did.state, world.lock.contents[state.lock], ())
        yield did
        return
    for one in world.servers(state) if node is None else (node,):
        if one and world.lock.holds(state.lock, one):
            lock = world.lock.emptied(state.lock, one)
            yield Move(world, state, ScheduleEvent(RESTART, node=one)).spend("restarts").set(lock=lock)
