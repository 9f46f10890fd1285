"""WATCH: a connection watches keys, and its next transaction is executed only if nobody has touched them since.

Which connection watches is not in the keys, so it is a part of the state. Whether a command touches a key is asked of the real
server, which has a second connection watch it. A key that expires, and a store that loses its data, count as touched. A
connection that is closed watches nothing.
"""

from __future__ import annotations

from lab.explore.code.operation import LOCK, CommandSent
from lab.explore.search.state import State, Watch
from lab.explore.search.world import World
from lab.explore.store.commands import UNWATCH, is_transaction
from lab.explore.store.real_redis import Contents
from lab.explore.store.resp import Reply

OK, NIL = Reply(b"+OK\r\n", b"OK"), {2: Reply(b"*-1\r\n", None), 3: Reply(b"_\r\n", None)}


def begun_or_ended(state: State, client: int, command: CommandSent) -> State:
    """Return the state after WATCH or UNWATCH."""
    if command.words[0] == UNWATCH:
        return closed(state, client, command.connection)
    known = {one.key for one in _of(state, client, command)}
    new = [Watch(client, command.connection, key) for key in dict.fromkeys(command.words[1:]) if key not in known]
    return state._replace(watched=tuple(sorted((*state.watched, *new))))


def closed(state: State, client: int, connection: int | None = None) -> State:
    """Return the state after a connection watches nothing any more: its transaction is over, or it was closed."""
    if not state.watched:
        return state
    left = tuple([one for one in state.watched if one.client != client or connection not in (None, one.connection)])
    return state if left == state.watched else state._replace(watched=left)


def executed(world: World, state: State, client: int, command: CommandSent) -> tuple[State, Reply]:
    """Return the state after a command, and its reply: nil for a transaction if a key that it depends on was touched."""
    if not (state.watched and command.server == LOCK):
        return world.execute(state, command)
    mine = _of(state, client, command)
    if not (mine and is_transaction(command.words)):
        return _touching(world, state, command)
    if any(one.touched for one in mine):
        return closed(state, client, command.connection), NIL[command.version]
    return _touching(world, closed(state, client, command.connection), command)


def _touching(world: World, state: State, command: CommandSent) -> tuple[State, Reply]:
    def touches(one: Watch) -> bool:
        return one.touched or world.lock.touches(state.lock, command.words, one.key, state.now_ms)

    after, reply = world.execute(state, command)
    return after._replace(watched=tuple([one._replace(touched=touches(one)) for one in state.watched])), reply


def expired(state: State, before: Contents, after: Contents) -> State:
    """Return the state after keys have expired, or were lost."""
    if not state.watched:
        return state
    gone = {key.name for key in before} - {key.name for key in after}
    return state._replace(watched=tuple([one._replace(touched=one.touched or one.key in gone) for one in state.watched]))


def _of(state: State, client: int, command: CommandSent) -> list[Watch]:
    return [one for one in state.watched if (one.client, one.connection) == (client, command.connection)]
