"""Time as an actor: the clock moves to the next deadline, and only when no replica that runs can do anything.

A waiter that polls asks again and again meanwhile. As long as it asks in vain, and neither the store nor anything else changes,
that is a part of the same event: the clock goes on, and the code has done all of its tries. It stops where a try does anything
else.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.explore.code.operation import GAVE_UP, CommandSent, Listen, Nap, Until
from lab.explore.search import one_server
from lab.explore.search.event import CLOCK, NOBODY, NONE, ScheduleEvent
from lab.explore.search.move import Move
from lab.explore.search.state import RUNS, State, without
from lab.explore.search.world import World
from lab.explore.store.commands import SUBSCRIBING

MOST_TRIES = 1000  # of one waiter in one event


def possible(world: World, state: State, horizon_ms: int) -> Iterator[Move]:
    """Yield what the clock does: it moves to the next deadline, at most to the horizon."""
    if world.all_over(state) or state.now_ms >= horizon_ms:
        return
    until_ms = min(_deadlines(world, state), default=horizon_ms + 1)
    if (
        world.wakes_at_any_moment
        and (until_ms > horizon_ms or world.about.known <= world.about.oracle.free(state.lock, state.now_ms))
        and world.napping(state)
    ):
        return  # somebody wakes first
    if until_ms > horizon_ms:
        if not world.waiting(state):
            return
        until_ms = horizon_ms  # how long somebody has waited until then counts
    did = Move(world, state, ScheduleEvent(CLOCK, NOBODY))
    while True:
        naps = () if world.wakes_at_any_moment else (one.at_ms for *_, one in world.threads(did.state) if isinstance(one, Nap))
        _pass(did, min((until_ms, *naps)))
        if did.state.now_ms == until_ms or (asked := _asked(did)) is None:
            break
        nodes, tries = asked
        did.asked_in_vain += tries
        if did.asked_in_vain > MOST_TRIES:
            break
        did.set(nodes=nodes)
    did.event = did.event._replace(number=did.state.now_ms)
    yield did


def _pass(did: Move, then_ms: int) -> None:
    """Let the clock read so much: keys expire, commands that wait in the server give up."""
    world, before = did.world, did.state
    lock = world.lock.later(before.lock, then_ms - before.now_ms)
    did.set(lock=lock, now_ms=then_ms)
    if lock != before.lock:
        did.state = one_server.keys_ended(did.state, world.lock.contents[before.lock], world.lock.contents[lock])
    for client, thread, operation in world.blocked(before):
        blocked = without(did.state.blocked, client, thread)
        if operation.until_ms is not None and operation.until_ms <= then_ms:
            given_up = world.lock.answer(did.state.lock, operation.words, then_ms, operation.version, operation.node)
            did.set(blocked=blocked).replied(client, thread, given_up.reply.raw)
        elif operation.patience_ms is not None and operation.patience_ms <= then_ms and before.modes[client] == RUNS:
            did.set(blocked=blocked).resume(client, thread, GAVE_UP)
    did.settle(before)


def _deadlines(world: World, state: State) -> Iterator[int]:
    """Yield the moments for which anything but a nap waits."""
    expires_in_ms = world.lock.expires_in_ms(state.lock)
    if expires_in_ms is not None:
        yield state.now_ms + expires_in_ms
    for *_, waits in world.threads(state):
        match waits:
            case Until(at_ms) | Listen(at_ms, _) if at_ms is not None and at_ms > state.now_ms:
                yield at_ms
    for *_, operation in world.blocked(state):
        yield from (one for one in (operation.until_ms, operation.patience_ms) if one is not None and one > state.now_ms)


def _asked(did: Move) -> tuple[tuple[int, ...], int] | None:
    """Return where replicas are after all who are awake have asked in vain, and how often; None where anything else happens."""
    if did.marks or did.changes:
        return None
    world, tries, state = did.world, 0, did.state._replace(left=NONE)
    while able := next(world.able(state), None):
        client, thread, operation = able
        if not isinstance(operation, CommandSent) or operation.words[0] in SUBSCRIBING or operation.node:
            return None
        done = next(one_server.possible(world, state, client, thread, operation))
        if done.marks or done.state._replace(nodes=state.nodes) != state or tries > MOST_TRIES:
            return None
        state = done.state
        tries += 1
    return state.nodes, tries
