"""Keep a store as a table: state and command → next state and reply.

A state of Redis is each key with its value and its time to live, and all facts that the server remembers besides: scripts,
functions, names of connections. To fill a missing entry, the real server is emptied, the state is loaded, the command is
executed, and the new state is read. So Redis itself decides every answer. A live table does this for every command.

Several independent servers are one table as well: its state has the state of each of them, and a command changes the state of one
server. They behave alike, so one table of a real Redis is enough for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cache
from typing import NamedTuple

from lab.explore.model import EPOCH_MS, Numbered, on_grid
from lab.explore.store.real_redis import MOST_MS, MOST_TRIES, Contents, MachineStalled, Memory, Message, RealRedis, loading
from lab.explore.store.resp import Reply, Words

LEFT_TO_LIVE = b"PTTL"  # TTL answers in whole seconds


class Transition(NamedTuple):
    """The effect of a command: the next state, the reply, and the published messages."""

    state: int
    reply: Reply
    published: tuple[Message, ...]


class Table:
    """Remembers how a Redis server answers each command in each state. A state is a number. The client makes no difference."""

    empty = 0  # the state without any key

    def __init__(self, real: RealRedis) -> None:
        self.real = real
        self.states: Numbered[tuple[Contents, Memory]] = Numbered()
        self.contents: list[Contents] = []
        self.number((), frozenset())
        self._answers: Callable[..., Transition] = cache(self._executed)
        self._touched: Callable[..., bool] = cache(self._touches)
        self.later = cache(self._after)

    def number(self, contents: Contents, memory: Memory) -> int:
        """Return the number of the state with these keys, in which the server remembers these facts."""
        number = self.states.number((contents, memory))
        if number == len(self.contents):
            self.contents.append(contents)
        return number

    def answer(self, state: int, command: Words, now_ms: int = 0, version: int = 2, node: int = 0) -> Transition:
        """Return the effect of a command in a state. now_ms: on the clock of the search. Raises MachineStalled."""
        when_ms = now_ms if self.real.needs_clock(command) else 0
        return self._answers(state, command, when_ms, version, len(self.real.noticed))

    def _executed(self, state: int, command: Words, now_ms: int, version: int, _: int) -> Transition:
        memory = self.states[state][1]
        for _ in range(MOST_TRIES):
            first = loading(self.contents[state])
            reply, contents, published = self.real.execute(command, first, EPOCH_MS + now_ms, version, memory)
            if self.real.took_ms < MOST_MS:
                after = self.number(contents, self.real.remembered(memory, command, reply))
                return Transition(after, in_whole_steps(command, reply), published)
        name = b" ".join(command[:2]).decode(errors="replace")
        raise MachineStalled(f"{name} took longer than {MOST_MS} ms, each of {MOST_TRIES} times")

    def touches(self, state: int, command: Words, key: bytes, now_ms: int = 0) -> bool:
        """Return whether a command touches a key in a state: a transaction of a connection that watches the key then fails."""
        return self._touched(state, command, key, now_ms if self.real.needs_clock(command) else 0)

    def _touches(self, state: int, command: Words, key: bytes, now_ms: int) -> bool:
        return self.real.touches(loading(self.contents[state]), command, key, EPOCH_MS + now_ms, self.states[state][1])

    def _after(self, state: int, passed_ms: int) -> int:
        """Return the state after some milliseconds without a command."""
        contents, memory = self.states[state]
        keys = [key for key in contents if not key.ttl_ms or key.ttl_ms > passed_ms]
        return self.number(tuple([key._replace(ttl_ms=key.ttl_ms and key.ttl_ms - passed_ms) for key in keys]), memory)

    def expires_in_ms(self, state: int) -> int | None:
        """Return the milliseconds until the first key expires; None if no key does."""
        return min((key.ttl_ms for key in self.contents[state] if key.ttl_ms), default=None)

    def emptied(self, state: int, node: int = 0) -> int:
        """Return the state after the server has lost its data."""
        return self.empty

    def holds(self, state: int, node: int = 0) -> bool:
        """Return whether the server has any key."""
        return state != self.empty

    def live(self) -> LiveTable:
        """Return a table that executes every command. Its states have the numbers of this table."""
        return LiveTable(self)


class LiveTable(Table):
    """Executes every command, and remembers no answer."""

    def __init__(self, table: Table) -> None:
        super().__init__(table.real)
        self.states, self.contents = table.states, table.contents
        self._answers, self._touched = self._executed, self._touches


def in_whole_steps(command: Words, reply: Reply) -> Reply:
    """Return a reply in which a key's time to live is rounded up to the grid: the duration of the command does not count."""
    if command[0] != LEFT_TO_LIVE or not isinstance(reply.value, int) or reply.value <= 0:
        return reply
    value = on_grid(reply.value)
    return Reply(b":%d\r\n" % value, value)


def at(key: bytes, server: int) -> bytes:
    """Return the name of a key at one of several servers, for states and pictures: ``L@3``."""
    return b"%s@%d" % (key, server)


class Nodes:
    """A table of several independent servers."""

    empty = 0  # the state without any key

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables
        self.each: Numbered[tuple[int, ...]] = Numbered()  # by state: the state of each server
        self.contents: list[Contents] = []  # by state: all keys, their names with the numbers of their servers
        self._keys_of = cache(self._with_server)
        self.number([table.empty for table in tables])

    def live(self) -> Nodes:
        nodes = copy(self)
        nodes.tables = [table.live() for table in self.tables]
        return nodes

    def answer(self, state: int, command: Words, now_ms: int = 0, version: int = 2, node: int = 1) -> Transition:
        """Return the effect of a command at one server. node: its number, counted from 1."""
        each = self.each[state]
        transition = self.tables[node - 1].answer(each[node - 1], command, now_ms, version)
        after = state if transition.state == each[node - 1] else self.number((*each[: node - 1], transition.state, *each[node:]))
        return Transition(after, transition.reply, transition.published)

    def later(self, state: int, passed_ms: int) -> int:
        return self.number(table.later(part, passed_ms) for table, part in zip(self.tables, self.each[state], strict=True))

    def expires_in_ms(self, state: int) -> int | None:
        times_ms = (table.expires_in_ms(part) for table, part in zip(self.tables, self.each[state], strict=True))
        return min((time_ms for time_ms in times_ms if time_ms is not None), default=None)

    def emptied(self, state: int, node: int) -> int:
        """Return the state after one server has lost its data."""
        each = self.each[state]
        return self.number((*each[: node - 1], self.tables[node - 1].empty, *each[node:]))

    def holds(self, state: int, node: int) -> bool:
        """Return whether a server has any key."""
        return node > 0 and self.each[state][node - 1] != self.tables[node - 1].empty

    def number(self, states: Iterable[int]) -> int:
        """Return the number of the state in which the servers are in these states, in their order."""
        each = tuple(states)
        number = self.each.number(each)
        if number == len(self.contents):
            self.contents.append(tuple(key for node, part in enumerate(each, 1) for key in self._keys_of(node, part)))
        return number

    def _with_server(self, node: int, state: int) -> Contents:
        """Return the keys of a server in one of its states. Their names have the number of the server."""
        return tuple(key._replace(name=at(key.name, node)) for key in self.tables[node - 1].contents[state])
