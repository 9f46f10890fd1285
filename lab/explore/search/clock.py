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
from lab.explore.search.state import RUNS, Move, State, without
from lab.explore.search.world import World
from lab.explore.store.commands import SUBSCRIBING

MOST_TRIES = 1000  # of one waiter in one event


def dids(world: World, state: State, horizon_ms: int) -> Iterator[Move]:
    """Yield what the clock does: it moves to the next deadline, at most to the horizon."""
    if world.all_over(state) or state.now_ms >= horizon_ms:
        return
    until_ms = min(_deadlines(world, state), default=horizon_ms + 1)
    if world.wakes_at_any_moment and (until_ms > horizon_ms or world.is_free(state)) and world.napping(state):
        return  # somebody wakes first
    if until_ms > horizon_ms:
        if not world.waiting(state):
            return
        until_ms = horizon_ms  # how long somebody has waited until then counts
    begins = Move(ScheduleEvent(CLOCK, NOBODY), state)
    tries = 0
    while True:
        naps = () if world.wakes_at_any_moment else (one.at_ms for *_, one in world.threads(begins.state) if isinstance(one, Nap))
        then_ms = min((until_ms, *naps))
        did = at(world, begins, then_ms)
        if then_ms == until_ms:
            break
        asked = _asked(world, did)
        if asked is None:
            break
        begins, number = asked
        tries += number
        if tries > MOST_TRIES:
            break
    yield did._replace(event=ScheduleEvent(CLOCK, NOBODY, number=did.state.now_ms), asked_in_vain=tries)


def at(world: World, did: Move, then_ms: int) -> Move:
    """Return what has happened when the clock reads so much: keys expire, commands that wait in the server give up."""
    state = did.state
    lock = world.lock.later(state.lock, then_ms - state.now_ms)
    after = state._replace(lock=lock, now_ms=then_ms)
    if lock != state.lock:
        after = one_server.keys_ended(after, world.lock.contents[state.lock], world.lock.contents[lock])
    did = did._replace(state=after)
    for client, thread, operation in world.blocked(state):
        if operation.until_ms is not None and operation.until_ms <= then_ms:
            given_up = world.lock.given_up(did.state.lock, operation.words, did.state.now_ms, operation.version, operation.node)
            blocked = without(did.state.blocked, client, thread)
            did = did._replace(state=did.state._replace(lock=given_up.state, blocked=blocked))
            did = world.replied(did, client, thread, given_up.reply.raw)
        elif operation.patience_ms is not None and operation.patience_ms <= then_ms and state.modes[client] == RUNS:
            after = did.state._replace(blocked=without(did.state.blocked, client, thread))
            did = world.resume(did._replace(state=after), client, thread, GAVE_UP)
    return world.settled(did, state)


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


def _asked(world: World, did: Move) -> tuple[Move, int] | None:
    """Return the state after all who were awake have asked in vain, and how often; None where anything else has happened."""
    if did.marks or did.changes:
        return None
    before, tries = did.state, 0
    while able := next(world.able(did.state), None):
        client, thread, operation = able
        if not isinstance(operation, CommandSent) or operation.words[0] in SUBSCRIBING or operation.node:
            return None
        done = next(one_server.dids(world, did.state._replace(left=NONE), client, thread, operation))
        same = done.state._replace(nodes=before.nodes) == before._replace(left=done.state.left)
        if done.marks or not same or tries > MOST_TRIES:
            return None
        did = did._replace(state=done.state._replace(left=before.left))
        tries += 1
    return did, tries
