"""Several servers that do not know of each other, as one table: a state is the states of all of them.

They are alike and independent: one table of a real Redis is enough for all, and a command changes the state of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy

from lab.explore.store.real_redis import Contents
from lab.explore.store.resp import Words
from lab.explore.store.table import Table, Transition


def at(key: bytes, server: int) -> bytes:
    """Return the name of a key at one of several servers, as states and pictures have it: ``L@3``."""
    return b"%s@%d" % (key, server)


class Nodes:
    """The tables of several servers. It has the methods of a ``Table``."""

    empty = 0  # the state without any key

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables
        # of each state: the state of each server, and all keys with the number of their server
        self.each: list[tuple[int, ...]] = []
        self.contents: list[Contents] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._named: dict[tuple[int, int], Contents] = {}  # a server and its state → its keys
        self.number([table.empty for table in tables])

    def on(self, tables: Sequence[Table]) -> Nodes:
        """Return the same on other servers. Their states have the numbers that they have here."""
        made = copy(self)
        made.tables = tables
        return made

    def answer(self, state: int, command: Words, now_ms: int = 0, version: int = 2, node: int = 1) -> Transition:
        """Return what a command does at one server, counted from 1."""
        each = self.each[state]
        found = self.tables[node - 1].answer(each[node - 1], command, now_ms, version)
        after = state if found.state == each[node - 1] else self.number((*each[: node - 1], found.state, *each[node:]))
        return Transition(after, found.reply, found.published)

    def later(self, state: int, passed_ms: int) -> int:
        """Return the state after some time in which nothing was sent."""
        return self.number(table.later(one, passed_ms) for table, one in zip(self.tables, self.each[state], strict=True))

    def expires_in_ms(self, state: int) -> int | None:
        """Return when the first key expires; None if no key does."""
        found = (table.expires_in_ms(one) for table, one in zip(self.tables, self.each[state], strict=True))
        return min((one for one in found if one is not None), default=None)

    def emptied(self, state: int, node: int) -> int:
        """Return the state after one server has lost its data."""
        each = self.each[state]
        return self.number((*each[: node - 1], self.tables[node - 1].empty, *each[node:]))

    def holds(self, state: int, node: int) -> bool:
        """Return whether a server has any key."""
        return node > 0 and self.each[state][node - 1] != self.tables[node - 1].empty

    def number(self, states: Iterable[int]) -> int:
        """Return the number of the state in which each server is in the state given."""
        each = tuple(states)
        found = self._numbers.get(each)
        if found is None:
            found = self._numbers[each] = len(self.each)
            self.each.append(each)
            self.contents.append(tuple(key for node, one in enumerate(each, 1) for key in self._keys_of(node, one)))
        return found

    def keys(self, state: int, node: int) -> Contents:
        """Return the keys of one server. In the same state, they are the same object."""
        return self._keys_of(node, self.each[state][node - 1])

    def _keys_of(self, node: int, state: int) -> Contents:
        found = self._named.get((node, state))
        if found is None:
            keys = self.tables[node - 1].contents[state]
            found = self._named[node, state] = tuple(key._replace(name=at(key.name, node)) for key in keys)
        return found
