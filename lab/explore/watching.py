"""WATCH: a connection watches keys, and its next transaction is executed only if nobody has touched them since.

Which connection watches is not in the keys, so it is a part of the state: the thread that watches, the key, and whether the key
was touched. Whether a command touches a key is asked of the real server, which has a second connection watch it. A key that
expires, and a store that loses its data, count as touched. A connection that is closed watches nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lab.explore import transaction
from lab.explore.operation import LOCK, Command, Reply
from lab.explore.parking import AWAKE
from lab.explore.server_table import Contents
from lab.explore.transaction import UNWATCH

if TYPE_CHECKING:
    from lab.explore.state import State
    from lab.explore.world import World

OK = b"OK"


class Watch(NamedTuple):
    """A thread watches a key, on one connection."""

    client: int
    thread: int
    key: bytes
    touched: bool = False


def begun_or_ended(state: State, client: int, thread: int, command: Command) -> State:
    """Return the state after WATCH or UNWATCH."""
    if command.words[0].upper() == UNWATCH:
        return closed(state, client, thread)
    known = {one.key for one in _of(state, client, thread)}
    new = [Watch(client, thread, key) for key in dict.fromkeys(command.words[1:]) if key not in known]
    return state._replace(watched=tuple(sorted((*state.watched, *new))))


def closed(state: State, client: int, thread: int | None = None) -> State:
    """Return the state after a thread watches nothing any more: its transaction is over, or its connection closed."""
    left = tuple(one for one in state.watched if one.client != client or thread not in (None, one.thread))
    return state if left == state.watched else state._replace(watched=left)


def cut(state: State, client: int, thread: int, command: Command) -> State:
    """Return the state after the connection of a command was closed."""
    return closed(state, client, thread) if command.watches else state


def executed(world: World, state: State, client: int, thread: int, command: Command) -> tuple[State, Reply]:
    """Return the state after a command, and its reply: nil for a transaction if a key that it depends on was touched."""
    if not (state.watched and command.server == LOCK):
        return world.execute(state, command.server, command.words, command.node)
    if not (command.watches and transaction.is_one(command.words)):
        return _touching(world, state, command)
    if any(one.touched for one in _of(state, client, thread)):
        return closed(state, client, thread), None
    return _touching(world, closed(state, client, thread), command)


def _touching(world: World, state: State, command: Command) -> tuple[State, Reply]:
    def touches(one: Watch) -> bool:
        return one.touched or world.lock.touches(state.lock, command.words, one.key)

    after, reply = world.execute(state, command.server, command.words)
    watched = tuple(one._replace(touched=touches(one)) for one in state.watched)
    disturbed = {one.client for one in watched if one.touched}  # also by a command that leaves the key as it was
    parked = tuple(AWAKE if client in disturbed else one for client, one in enumerate(after.parked))
    return after._replace(watched=watched, parked=parked), reply


def expired(state: State, before: Contents, after: Contents) -> State:
    """Return the state after keys have expired, or were lost."""
    gone = {key.name for key in before} - {key.name for key in after}
    if not state.watched or not gone:
        return state
    return state._replace(watched=tuple(one._replace(touched=one.touched or one.key in gone) for one in state.watched))


def _of(state: State, client: int, thread: int) -> list[Watch]:
    return [one for one in state.watched if (one.client, one.thread) == (client, thread)]
