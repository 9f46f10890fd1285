"""Run a schedule again on an empty server in one round trip, and not in one for each command.

The stage's code runs from its start. Its commands are answered as the tables say, and noted. Then the real server is sent all of
them at once, in the same order, from empty databases. If each reply and each state is that of the tables, then a run command by
command would have been the same: the code was given exactly what the server answers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from lab.explore import transaction
from lab.explore.operation import Reply
from lab.explore.overlay import GRID_MS
from lab.explore.server_table import MOST_MS, READ_ALL, Answer, Contents, Key, Message, RealRedis, ServerTable, in_grid, loading

NOTHING = (b"PING",)  # only time passes


class Asked(NamedTuple):
    """What a server was asked, and what the tables say."""

    database: int
    # what brings the server to where it must be before the command
    first: Sequence[tuple[Any, ...]]
    command: tuple[bytes, ...]
    reply: Reply
    contents: Contents
    published: tuple[Message, ...]


class Rehearsed(ServerTable):
    """A server that answers from a table, and notes in the order of a schedule what it was asked."""

    def __init__(self, table: ServerTable, database: int, asked: list[Asked]) -> None:
        super().__init__(table.real)
        self.table, self.database = table, database
        self.contents = table.contents  # a state has the same number in both
        self.asked_in_order = asked
        self.state = 0

    def answer(self, state: int, command: tuple[bytes, ...]) -> Answer:
        """Return what a command does in a state."""
        found = self.table.answer(state, command)
        self._note(state, [], command, found)
        return found

    def later(self, state: int, passed_ms: int) -> int:
        """Return the state after some time."""
        after = self.table.later(state, passed_ms)
        passing = [shorten(key, passed_ms) for key in self.contents[state] if key.ttl_ms]
        self._note(state, passing, NOTHING, Answer(after, b"PONG", ()))
        return after

    def touches(self, state: int, command: tuple[bytes, ...], key: bytes) -> bool:
        """Return whether a command touches a key in a state."""
        return self.table.touches(state, command, key)

    def _note(self, state: int, first: list[tuple[Any, ...]], command: tuple[bytes, ...], found: Answer) -> None:
        before = [] if state == self.state else loading(self.contents[state])  # another state: the server lost its data
        contents = self.contents[found.state]
        self.asked_in_order.append(Asked(self.database, [*before, *first], command, found.reply, contents, found.published))
        self.state = found.state


def shorten(key: Key, passed_ms: int) -> tuple[Any, ...]:
    """Return the command that lets time pass for a key."""
    left_ms = key.ttl_ms - passed_ms
    return ("PEXPIRE", key.name, left_ms) if left_ms > 0 else ("DEL", key.name)


def agrees(real: RealRedis, asked: Sequence[Asked]) -> bool:
    """Send the real server all that was asked, and return whether it answers as the tables do."""
    began_s = time.monotonic()
    sent: list[tuple[Any, ...]] = []
    places: list[int] = []  # of each reply; that of READ_ALL follows
    for database in {one.database for one in asked}:
        sent += [("SELECT", database), ("FLUSHDB",)]
    selected = -1
    for one in asked:
        if one.database != selected:
            selected = one.database
            sent.append(("SELECT", selected))
        sent += [*one.first, *transaction.as_sent(one.command)]
        places.append(len(sent) - 1)
        sent.append(READ_ALL)
    replies = real.send(*sent, ("SELECT", real.database))
    published = real.published() if any(real.publishes(one.command) for one in asked) else ()
    in_time = (time.monotonic() - began_s) * 1000 < MOST_MS  # else a key has less to live than it should
    return (
        in_time
        and published == tuple(message for one in asked for message in one.published)
        and all(same(one.reply, replies[place]) for one, place in zip(asked, places, strict=True))
        and all(one.contents == in_grid(replies[place + 1]) for one, place in zip(asked, places, strict=True))
    )


def same(one: Reply, other: Reply) -> bool:
    """Return whether two replies are the same. What a key has left to live differs by the milliseconds that a command takes."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, int) and isinstance(other, int) and min(abs(one), abs(other)) > GRID_MS:
        return abs(one - other) < GRID_MS
    return bool(one == other)
