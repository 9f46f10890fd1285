"""Fold what differs only in the names of the clients: whatever happens in one of two such states, happens in the other as well.

All clients run the same code. Two places in two trees are the same where the same has happened; then what their commands have in
common is constant, and the words that differ are names: tokens, process ids. A state gets a key in which the clients are in an
order that does not depend on their names, and their names are places in that order. States with one key are one. Where a reply
holds the name of another client, nothing is decided about names: such a state is like no other.

That the code treats all clients alike is not believed: random schedules are run again with other names. Sources: symmetry
reduction (Ip and Dill, "Better Verification Through Symmetry"); the key is a hash (hash compaction: Wolper and Leroy, "Reliable
Hashing without Collision Detection").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from itertools import groupby, permutations, product
from typing import Any

from lab.explore.code.operation import CommandSent, FanOut
from lab.explore.code.tree import Node
from lab.explore.search.budget import NONE
from lab.explore.search.event import CHOICE
from lab.explore.search.moves import happenings
from lab.explore.search.state import DEAD, State
from lab.explore.search.world import World
from lab.explore.store.nodes import Nodes

FOOTER = 10  # bytes at the end of what DUMP serialises: a version, and a sum of the rest
SHORTEST = 6  # a word with fewer letters is not taken for a name
FEW = 2  # of so few clients, it takes longer to compare the names than to search both


class NewName(Exception):  # noqa: N818 - states what happened
    """A client has sent a name that was not known. The search begins again."""


class Likeness:
    """Finds the states of one search that are alike."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._labels: dict[Any, int] = {}  # what has happened → a number
        self._of_node: list[list[int | None]] = [[] for _ in world.trees]
        self._words: dict[Any, dict[int, bytes]] = {}  # where in a command, by client
        self._names: dict[bytes, int] = {}  # a name → its client
        self._pattern: re.Pattern[bytes] | None = None
        self._contents: dict[tuple[int, int, tuple[int, ...]], Any] = {}
        self._numbers: dict[Any, int] = {}
        self.is_used = False
        for client in range(len(world.trees)):
            self._learn_alone(client)

    def _learn_alone(self, client: int) -> None:
        """Let a client run alone, so that its names are known."""
        todo = [self.world.start(NONE)]
        for _ in range(200):
            if not todo:
                break
            state = todo.pop()
            mine = [did for did in happenings(self.world, state, 0) if did.event.client == client]
            draws = bool(mine) and mine[0].event.kind is CHOICE
            todo += [did.state for did in (mine if draws else mine[:1])]
            self._label(client, state.nodes[client])
        self._learn()

    def _learn(self) -> None:
        for client in range(len(self.world.trees)):
            if len(self._of_node[client]) < len(self.world.trees[client].nodes):
                self._label(client, len(self.world.trees[client].nodes) - 1)

    def _label(self, client: int, number: int) -> int | None:
        """Return a number of what has happened to a client, the same for all clients; None where a name of another is in it."""
        tree, known = self.world.trees[client], self._of_node[client]
        while len(known) < len(tree.nodes):
            here = len(known)
            known.append(self._labelled(client, tree.nodes[here], tree.parents[here]))
        return known[number]

    def _labelled(self, client: int, node: Node, parent: int) -> int | None:
        if node.inputs:
            before, last = self._of_node[client][parent], node.inputs[-1]
            result = self._own(client, repr(last.result).encode())
            if before is None or result is None:
                return None
            what: Any = before, last.thread, result, last.at_ms
        else:
            what = None
        label = self._labels.setdefault(what, len(self._labels))
        for place, word in _words(node):
            self._note((label, place), client, word)
        return label

    def _own(self, client: int, text: bytes) -> bytes | None:
        """Return a text with the client's own names the same for all clients; None where another's name is in it."""
        if self._pattern is None:
            return text
        if any(self._names[found[0]] != client for found in self._pattern.finditer(text)):
            return None
        return self._pattern.sub(b"<own>", text)

    def _note(self, place: Any, client: int, word: bytes) -> None:
        others = self._words.setdefault(place, {})
        others[client] = word
        for other, its in others.items():
            if its != word and len(word) >= SHORTEST and len(its) >= SHORTEST:
                for one, name in ((client, word), (other, its)):
                    if name not in self._names:
                        self._names[name] = one
                        if self.is_used:
                            raise NewName
                        longest_first = sorted(self._names, key=len, reverse=True)
                        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)))

    def key(self, state: State) -> bytes | None:
        """Return what is equal for states that differ in names only; None for a state that is like no other. Raises NewName."""
        self.is_used = True
        clients = range(len(state.nodes))
        looks = []
        for client in clients:
            label = -1 if state.modes[client] == DEAD else self._label(client, state.nodes[client])
            if label is None:
                return None
            looks.append(self._look(state, client, label))
        ordered = sorted(clients, key=looks.__getitem__)
        groups = [list(group) for _, group in groupby(ordered, key=looks.__getitem__)]
        keys = [self._text(state, looks, order) for order in _orders(groups)]
        return hashlib.blake2b(min(keys), digest_size=16).digest()

    def _look(self, state: State, client: int, label: int) -> int:
        """Return a number of all that a state holds of a client, and that does not depend on names."""
        ghosts, at_once = state.ghosts, self.world.about.at_once
        mine = range(client * at_once, (client + 1) * at_once)
        parts = ghosts.phases, ghosts.holds, ghosts.gone, ghosts.changed_ms, ghosts.released_own, ghosts.writes, ghosts.over_ms
        of_actors = tuple([part[one] for part in parts for one in mine])
        owned = tuple([(key, owner[1:]) for key, owner in ghosts.owners if owner.actor in mine])
        asked = tuple([(one.thread, one.since_ms, one.fault) for one in state.flights if one.client == client])
        others = tuple(
            [
                one[1:]
                for part in (state.subscribed, state.inboxes, state.watched, state.served, state.roused)
                for one in part
                if one[0] == client
            ]
        )
        text = self._without_names(repr(others).encode(), b"own") if others else b""
        return self._number((label, state.modes[client], of_actors, owned, asked, text))

    def _number(self, what: Any) -> int:
        """Return a number of something: equal things have the same."""
        return self._numbers.setdefault(what, len(self._numbers))

    def _without_names(self, text: bytes, name: bytes) -> bytes:
        return self._pattern.sub(name, text) if self._pattern is not None else text

    def _text(self, state: State, looks: list[int], order: tuple[int, ...]) -> bytes:
        """Return a state with the clients in this order. All of their names are their places."""
        places = tuple(map(order.index, range(len(order))))
        ghosts = state.ghosts
        is_several = isinstance(self.world.lock, Nodes)
        lock = self._servers(state, places) if is_several else self._number(self._named(0, state.lock, places))
        rest = (
            ghosts.written,
            ghosts.fence,
            ghosts.left,
            ghosts.idle_since_ms,
            ghosts.vote_lost,
            ghosts.doubled,
            ghosts.served,
            ghosts.gave_up,
        )
        blocked = [(places[client], thread) for client, thread in state.blocked]
        counter = self._number(self._named(1, state.counter, places))
        about = [looks[client] for client in order], lock, counter, state.now_ms, self._number((rest, state.left)), blocked
        return repr(about).encode()

    def _servers(self, state: State, places: tuple[int, ...]) -> list[Any]:
        """Return what each of several servers holds and has answered, in an order that does not depend on their numbers."""
        each = self.world.lock.each[state.lock]
        answers = [one.answers for one in sorted(state.flights, key=lambda one: (places[one.client], one.thread))]
        return sorted(
            [
                self._number((self._named(0, number, places), *[one[server] for one in answers]))
                for server, number in enumerate(each)
            ]
        )

    def _named(self, table: int, number: int, places: tuple[int, ...]) -> Any:
        """Return what a server holds, with the places of the clients in place of their names."""
        found = self._contents.get((table, number, places))
        if found is None:
            lock = self.world.lock
            keys = (lock.tables[0] if isinstance(lock, Nodes) else lock, self.world.counter)[table].contents[number]
            text = repr([(key.name, key.value[:-FOOTER], key.ttl_ms) for key in keys]).encode()
            found = text
            if self._pattern is not None:
                found = self._pattern.sub(lambda name: b"<%d>" % places[self._names[name[0]]], text)
            found = self._contents[table, number, places] = hashlib.blake2b(found, digest_size=12).digest()
        return found


def _orders(groups: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """Yield the orders of the clients: those that look alike, in each order."""
    for chosen in product(*[permutations(group) for group in groups]):
        yield tuple([client for group in chosen for client in group])


def _words(node: Node) -> Iterator[tuple[Any, bytes]]:
    """Yield the words of the commands for which a replica waits, each with its place."""
    for thread, operation in enumerate(node.pending):
        commands = (
            operation.commands if isinstance(operation, FanOut) else [operation] if isinstance(operation, CommandSent) else []
        )
        for number, command in enumerate(commands):
            for place, word in enumerate(command.words):
                yield (thread, number, place), word
