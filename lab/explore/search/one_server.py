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
from lab.explore.search.move import Move, is_done
from lab.explore.search.state import State, Subscribed, Watch
from lab.explore.search.world import World
from lab.explore.store.commands import SUBSCRIBING, UNWATCH, WATCH, is_transaction
from lab.explore.store.real_redis import Contents
from lab.explore.store.resp import Reply


def possible(world: World, state: State, client: int, thread: int, command: CommandSent) -> Iterator[Move]:
    """Yield what can happen to such a command: it is executed, or a fault hits it."""
    name = command.words[0]
    done = Move(world, state, world.event(state, client, thread, node=command.node), command)
    if name in SUBSCRIBING:
        _subscribe(done, client, command)
        yield done.resume(client, thread, None)
        return
    if name in (WATCH, UNWATCH):
        done.state = _watching(state, client, command)
        yield done.answer(OK)
        return
    reply = _execute(done, client, command)
    if not is_done(command.words, reply):
        yield done.set(blocked=(*state.blocked, (client, thread)))
        return
    if command.server == LOCK:
        executed = done.again(STEP) if state.left.lost_replies or state.left.resends else None
        yield done.changed(state, client, thread, state.now_ms).answer(reply)
        if executed is not None:
            yield from _faults(executed, client, thread, command)
        return
    yield done.answer(reply)
    # work that takes time fails at its write, when that is over; other work at its read: it makes no difference
    task, request = world.task, world.actor_of(client, thread) % world.task.at_once
    if state.left.failures and (request in world.node(state, client).writing) is (task.work_ms > 0):
        yield Move(world, state, done.event._replace(kind=FAILURE), command).charge("failures").answer(LOST)


def _faults(executed: Move, client: int, thread: int, command: CommandSent) -> Iterator[Move]:
    """Yield the faults that can hit a command. executed: it was executed, and nothing else."""
    world, state, left = executed.world, executed.before, executed.before.left
    broken = executed.again(LOST_REPLY)  # its connection is
    _behind(broken, command)
    in_vain = broken.state.lock == state.lock
    broken.state = unwatched(broken.state, client, command.connection)
    broken.changed(state, client, thread, state.now_ms)
    if left.lost_replies:
        yield broken.again(LOST_REPLY).charge("lost_replies", in_vain).answer(LOST)
        # a pipeline that has arrived is executed; and without a change it makes no difference whether it has
        if not in_vain and not command.follows:
            unsent = Move(world, state, executed.event._replace(kind=LOST_COMMAND), command)
            unsent.state = unwatched(unsent.state, client, command.connection)
            yield unsent.charge("lost_replies", in_vain=True).answer(LOST)
    # a pipeline is sent again as a whole; a client that watches keys raises an error instead
    if not left.resends or command.follows or command.behind or _of(state, client, command):
        return
    twice, once = executed.again(RESEND).changed(state, client, thread, state.now_ms), executed.state
    reply = _execute(twice, client, command)
    yield twice.changed(once, client, thread, state.now_ms).charge("resends", twice.state.lock == once.lock).answer(reply)


def _behind(did: Move, command: CommandSent) -> None:
    """Let the server execute what was sent behind a command."""
    for words in command.behind:
        did.execute(command, words)


def in_flight(world: World, state: State, client: int) -> list[tuple[int, CommandSent]]:
    """Return the commands that are on their way: others that were sent with them have been executed."""
    pending = enumerate(world.node(state, client).pending)
    return [(thread, one) for thread, one in pending if isinstance(one, CommandSent) and one.follows and one.server == LOCK]


def arrive(did: Move, client: int) -> None:
    """Let the server execute all that is on its way from a client."""
    for thread, command in in_flight(did.world, did.state, client):
        before = did.state
        did.execute(command)
        _behind(did, command)
        did.changed(before, client, thread, before.now_ms)


def _subscribe(did: Move, client: int, command: CommandSent) -> None:
    """Let a client subscribe, or end a subscription: the confirmation is its first message."""
    name, connection, adds = command.words[0], command.connection, SUBSCRIBING[command.words[0]]
    is_pattern = name.startswith(b"P")
    subscribed = set(did.state.subscribed)
    known = tuple(one.channel for one in sorted(subscribed) if one[:2] == (client, connection) and one.is_pattern == is_pattern)
    for channel in command.words[1:] or known:
        one = Subscribed(client, connection, channel, is_pattern)
        subscribed = subscribed | {one} if adds else subscribed - {one}
        number = sum(other[:2] == (client, connection) for other in subscribed)
        did.deliver(client, connection, (name.lower(), channel, number))
    did.set(subscribed=tuple(sorted(subscribed)))


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


def _execute(did: Move, client: int, command: CommandSent) -> Reply:
    """Let the server execute a command, and return its reply: nil for a transaction if a key that it depends on was touched."""
    if not (did.state.watched and command.server == LOCK):
        return did.execute(command)
    if is_transaction(command.words):
        mine = _of(did.state, client, command)
        did.state = unwatched(did.state, client, command.connection)
        if any(one.touched for one in mine):
            return NIL[command.version]
    before, lock = did.state, did.world.lock
    reply = did.execute(command)

    def touches(one: Watch) -> bool:
        return one.touched or lock.touches(before.lock, command.words, one.key, before.now_ms)

    did.set(watched=tuple([one._replace(touched=touches(one)) for one in did.state.watched]))
    return reply


def keys_ended(state: State, before: Contents, after: Contents) -> State:
    """Return the state after keys have expired, or were lost."""
    if not state.watched:
        return state
    gone = {key.name for key in before} - {key.name for key in after}
    return state._replace(watched=tuple([one._replace(touched=one.touched or one.key in gone) for one in state.watched]))


def _of(state: State, client: int, command: CommandSent) -> list[Watch]:
    return [one for one in state.watched if (one.client, one.connection) == (client, command.connection)]
