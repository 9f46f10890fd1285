"""A command that is sent to one server, and its faults: the reply is lost, the command is lost, or it is sent twice.

The commands of a pipeline travel together. Each is an event of its own, because another client can come between two of them. So
where the reply to one is lost, or the client is killed, those behind it have already arrived.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.explore.code.operation import LOCK, LOST, CommandSent
from lab.explore.search import watching
from lab.explore.search.event import FAILURE, LOST_COMMAND, LOST_REPLY, RESEND, STEP
from lab.explore.search.state import Move, State, Subscribed
from lab.explore.search.world import World, delivered, is_done
from lab.explore.store.commands import (
    EVENTS,
    SUBSCRIBING,
    UNWATCH,
    WATCH,
)


def dids(world: World, state: State, client: int, thread: int, command: CommandSent) -> Iterator[Move]:
    """Yield what can happen to such a command: it is executed, or a fault hits it."""
    name = command.words[0]
    event = world.event(state, client, thread, kind=STEP, node=command.node)
    if name in SUBSCRIBING:
        yield world.resume(Move(event, _subscribed(state, client, command), command=command), client, thread, None)
        return
    if name in (WATCH, UNWATCH):
        after = watching.begun_or_ended(state, client, command)
        yield world.resume(Move(event, after, command=command, reply=watching.OK), client, thread, watching.OK.raw)
        return
    after, reply = watching.executed(world, state, client, command)
    if not is_done(command.words, reply):
        yield Move(event, after._replace(blocked=(*state.blocked, (client, thread))), command=command)
        return
    changes = (world.change(state, after, client, thread, state.now_ms),) if command.server == LOCK else ()
    yield world.resume(Move(event, after, changes, command=command, reply=reply), client, thread, reply.raw)
    if command.server == LOCK and name not in EVENTS:
        yield from _faults(world, state, after, client, thread, command)
        return
    actor = actor_of(world, client, thread)
    # work that takes time fails at its write, when that is over; other work at its read: it makes no difference
    task, writes = world.program.task, world.node(state, client).writing
    if state.left.failures and (actor % task.at_once in writes) is (task.work_ms > 0):
        spent = state._replace(left=state.left.without("failures"))
        failed = Move(event._replace(kind=FAILURE), spent, command=command, reply=LOST)
        yield _faulted(world, failed, client, thread, actor, "failures")


def _faults(world: World, state: State, after: State, client: int, thread: int, command: CommandSent) -> Iterator[Move]:
    event = world.event(state, client, thread, kind=LOST_REPLY, node=command.node)
    actor = actor_of(world, client, thread)
    arrived = _behind(world, after, command)
    left = world.disconnected(arrived, client, command)
    changes = (world.change(state, left, client, thread, state.now_ms),)
    if state.left.lost_replies:
        spent = state.left.without("lost_replies")
        lost = world.disconnected(watching.closed(arrived._replace(left=spent), client, command.connection), client, command)
        did = Move(event, lost, changes, command=command, reply=LOST)
        yield _faulted(world, did, client, thread, actor, "lost_replies", in_vain=arrived.lock == state.lock)
        # a pipeline that has arrived is executed; and without a change it makes no difference whether it has
        if arrived.lock != state.lock and not command.follows:
            unsent = watching.closed(state._replace(left=spent), client, command.connection)
            unsent = world.disconnected(unsent, client, command)
            did = Move(event._replace(kind=LOST_COMMAND), unsent, command=command, reply=LOST)
            yield _faulted(world, did, client, thread, actor, "lost_replies", in_vain=True)
    # a pipeline is sent again as a whole; a client that watches keys raises an error instead
    watches = any((one.client, one.connection) == (client, command.connection) for one in state.watched)
    if state.left.resends and not command.follows and not command.behind and not watches:
        if not world.lock.sends_again(command.words):  # its client leaves it to the lock what to do after a lost reply
            once = watching.closed(left._replace(left=state.left.without("resends")), client, command.connection)
            did = Move(event._replace(kind=RESEND), once, changes, command=command, reply=LOST)
            yield _faulted(world, did, client, thread, actor, "resends", in_vain=after.lock == state.lock)
            return
        twice, reply = watching.executed(world, after, client, command)
        again = twice._replace(left=state.left.without("resends"))
        first, second = (world.change(*about, client, thread, state.now_ms) for about in ((state, after), (after, twice)))
        did = Move(event._replace(kind=RESEND), again, (first, second), command=command, reply=reply)
        yield _faulted(world, did, client, thread, actor, "resends", in_vain=twice.lock == after.lock, result=reply.raw)


def _faulted(
    world: World, did: Move, client: int, thread: int, actor: int, fault: str, in_vain: bool = False, result: object = LOST
) -> Move:
    """Return what was done with a fault. It is charged after the command has changed the store: so it is kept with the lock."""
    done = world.resume(did, client, thread, result)
    return done._replace(fault=(actor, fault, in_vain))


def actor_of(world: World, client: int, thread: int) -> int:
    """Return the request that a thread serves; of one in the background, the first of its replica."""
    requests = world.program.task.at_once
    return client * requests + (thread if thread < requests else 0)


def _behind(world: World, state: State, command: CommandSent) -> State:
    """Return the state after the server has executed what was sent behind a command."""
    for words in command.behind:
        state, _ = world.execute(state, command, words)
    return state


def in_flight(world: World, state: State, client: int) -> list[tuple[int, CommandSent]]:
    """Return the commands that are on their way: others that were sent with them have been executed."""
    pending = enumerate(world.node(state, client).pending)
    return [(thread, one) for thread, one in pending if isinstance(one, CommandSent) and one.follows and one.server == LOCK]


def arrived(world: World, did: Move, client: int) -> Move:
    """Return what was done, after the server has executed all that is on its way from a client."""
    for thread, command in in_flight(world, did.state, client):
        before = did.state
        after = _behind(world, world.execute(before, command)[0], command)
        change = world.change(before, after, client, thread, before.now_ms)
        did = did._replace(state=after, changes=(*did.changes, change))
    return did


def _subscribed(state: State, client: int, command: CommandSent) -> State:
    """Return the state after a client has subscribed, or ended a subscription: the confirmation is its first message."""
    name, adds = command.words[0], SUBSCRIBING[command.words[0]]
    is_pattern = name.startswith(b"P")
    mine = {one for one in state.subscribed if one[:2] == (client, command.connection)}
    channels = command.words[1:] or tuple(one.channel for one in sorted(mine) if one.is_pattern == is_pattern)
    subscribed = set(state.subscribed)
    for channel in channels:
        one = Subscribed(client, command.connection, channel, is_pattern)
        subscribed = subscribed | {one} if adds else subscribed - {one}
        number = sum(other[:2] == (client, command.connection) for other in subscribed)
        state = delivered(state, client, command.connection, (name.lower(), channel, number))
    return state._replace(subscribed=tuple(sorted(subscribed)))
