"""A command that is sent to one server, and its faults: the reply is lost, the command is lost, or it is sent twice.

The commands of a pipeline travel together. Each is an event of its own, because another client can come between two of them. So
where the reply to one is lost, or the client is killed, those behind it have already arrived.

WATCH: a connection watches keys, and its next transaction is executed only if nobody has touched them since. Which connection
watches is not in the keys, so it is a part of the state. Whether a command touches a key is asked of the real server, which has a
second connection watch it. A key that expires, and a store that loses its data, count as touched. A connection that is closed
watches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.explore.code.operation import LOCK, LOST, CommandSent
from lab.explore.search.event import FAILURE, LOST_COMMAND, LOST_REPLY, RESEND, STEP
from lab.explore.search.state import Move, State, Subscribed, Watch
from lab.explore.search.world import World, delivered, is_done
from lab.explore.store.commands import (
    EVENTS,
    SUBSCRIBING,
    UNWATCH,
    WATCH,
    is_transaction,
)
from lab.explore.store.real_redis import Contents
from lab.explore.store.resp import Reply


def dids(world: World, state: State, client: int, thread: int, command: CommandSent) -> Iterator[Move]:
    """Yield what can happen to such a command: it is executed, or a fault hits it."""
    name = command.words[0]
    event = world.event(state, client, thread, kind=STEP, node=command.node)
    if name in SUBSCRIBING:
        yield world.resume(Move(event, _subscribed(state, client, command), command=command), client, thread, None)
        return
    if name in (WATCH, UNWATCH):
        after = _watching(state, client, command)
        yield world.resume(Move(event, after, command=command, reply=OK), client, thread, OK.raw)
        return
    after, reply = _executed(world, state, client, command)
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
    left = _disconnected(world, arrived, client, command)
    changes = (world.change(state, left, client, thread, state.now_ms),)
    if state.left.lost_replies:
        spent = state.left.without("lost_replies")
        did = Move(event, left._replace(left=spent), changes, command=command, reply=LOST)
        yield _faulted(world, did, client, thread, actor, "lost_replies", in_vain=arrived.lock == state.lock)
        # a pipeline that has arrived is executed; and without a change it makes no difference whether it has
        if arrived.lock != state.lock and not command.follows:
            unsent = _disconnected(world, state._replace(left=spent), client, command)
            did = Move(event._replace(kind=LOST_COMMAND), unsent, command=command, reply=LOST)
            yield _faulted(world, did, client, thread, actor, "lost_replies", in_vain=True)
    # a pipeline is sent again as a whole; a client that watches keys raises an error instead
    watches = any((one.client, one.connection) == (client, command.connection) for one in state.watched)
    if state.left.resends and not command.follows and not command.behind and not watches:
        if not world.lock.sends_again(command.words):  # its client leaves it to the lock what to do after a lost reply
            once = left._replace(left=state.left.without("resends"))
            did = Move(event._replace(kind=RESEND), once, changes, command=command, reply=LOST)
            yield _faulted(world, did, client, thread, actor, "resends", in_vain=after.lock == state.lock)
            return
        twice, reply = _executed(world, after, client, command)
        again = twice._replace(left=state.left.without("resends"))
        first, second = (world.change(*about, client, thread, state.now_ms) for about in ((state, after), (after, twice)))
        did = Move(event._replace(kind=RESEND), again, (first, second), command=command, reply=reply)
        yield _faulted(world, did, client, thread, actor, "resends", in_vain=twice.lock == after.lock, result=reply.raw)


def _disconnected(world: World, state: State, client: int, command: CommandSent) -> State:
    """Return the state after the connection of a command has broken: it watches nothing, and the store keeps nothing for it."""
    lock = world.lock.disconnected(state.lock, client, command.words)
    return unwatched(state._replace(lock=lock), client, command.connection)


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


OK, NIL = Reply(b"+OK\r\n", b"OK"), {2: Reply(b"*-1\r\n", None), 3: Reply(b"_\r\n", None)}


def _watching(state: State, client: int, command: CommandSent) -> State:
    """Return the state after WATCH or UNWATCH."""
    if command.words[0] == UNWATCH:
        return unwatched(state, client, command.connection)
    known = {one.key for one in _of(state, client, command)}
    new = [Watch(client, command.connection, key) for key in dict.fromkeys(command.words[1:]) if key not in known]
    return state._replace(watched=tuple(sorted((*state.watched, *new))))


def unwatched(state: State, client: int, connection: int | None = None) -> State:
    """Return the state after a connection watches nothing any more: its transaction is over, or it was closed."""
    if not state.watched:
        return state
    left = tuple([one for one in state.watched if one.client != client or connection not in (None, one.connection)])
    return state if left == state.watched else state._replace(watched=left)


def _executed(world: World, state: State, client: int, command: CommandSent) -> tuple[State, Reply]:
    """Return the state after a command, and its reply: nil for a transaction if a key that it depends on was touched."""
    if not (state.watched and command.server == LOCK):
        return world.execute(state, command)
    mine = _of(state, client, command)
    if not (mine and is_transaction(command.words)):
        return _touching(world, state, command)
    if any(one.touched for one in mine):
        return unwatched(state, client, command.connection), NIL[command.version]
    return _touching(world, unwatched(state, client, command.connection), command)


def _touching(world: World, state: State, command: CommandSent) -> tuple[State, Reply]:
    def touches(one: Watch) -> bool:
        return one.touched or world.lock.touches(state.lock, command.words, one.key, state.now_ms)

    after, reply = world.execute(state, command)
    return after._replace(watched=tuple([one._replace(touched=touches(one)) for one in state.watched])), reply


def keys_ended(state: State, before: Contents, after: Contents) -> State:
    """Return the state after keys have expired, or were lost."""
    if not state.watched:
        return state
    gone = {key.name for key in before} - {key.name for key in after}
    return state._replace(watched=tuple([one._replace(touched=one.touched or one.key in gone) for one in state.watched]))


def _of(state: State, client: int, command: CommandSent) -> list[Watch]:
    return [one for one in state.watched if (one.client, one.connection) == (client, command.connection)]
