"""States that differ only in the names of the clients are one: whatever happens in one, happens in the other with other names.

All clients run the same code. A client's name is in the tokens that its code draws, and so in the values of the lock's store.
Here the clients are put in an order that does not depend on their names, and their tokens get their places in that order. Two
states that are the same then are the same but for names. Where a token of one client is in the memory of another, nothing is
decided about names: such a state is like no other.

A search keeps the first of several such states. Each move knows which client is which (``Move.names``), so a path through the
graph is still a schedule. The random schedules of a search put this to the test.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from lab.explore.client_tree import ClientTree
from lab.explore.server_table import Contents, ServerTable
from lab.explore.state import State
from lab.explore.tokens import has_token, renamed_to

FOOTER = 10  # bytes at the end of what DUMP serialises: a version, and a sum of the rest


class Like(NamedTuple):
    """A state without the names of its clients."""

    # equal for states that differ in names only
    key: Any
    # the client at each place
    order: tuple[int, ...]


class Likeness:
    """Finds the states of one search that are alike."""

    def __init__(self, trees: Sequence[ClientTree], lock: ServerTable, counter: ServerTable) -> None:
        self.trees = trees
        self.tables = lock, counter
        self._contents: dict[tuple[int, int, tuple[int, ...]], Contents] = {}

    def of(self, state: State) -> Like:
        """Return a state without names."""
        clients = range(len(state.nodes))
        looks = [repr(self._look(state, client)).encode() for client in clients]
        order = tuple(sorted(clients, key=looks.__getitem__))
        places = tuple(map(order.index, clients))
        text = b"".join(looks[client] for client in order) + repr(self._rest(state, places)).encode()
        unlabelled = any(tree.labels[node] is None for tree, node in zip(self.trees, state.nodes, strict=True))
        if unlabelled or has_token(text):  # nothing is decided about names
            order, text = tuple(clients), repr(state).encode()
        return Like(hashlib.blake2b(text, digest_size=16).digest(), order)

    def _look(self, state: State, client: int) -> tuple[Any, ...]:
        """Return all that a state holds of a client."""
        return (
            self.trees[client].labels[state.nodes[client]],
            *state.of_client(client),
            [name for name, owner in state.ghosts.owners if owner == client],
            [one._replace(client=0) for one in state.watched if one.client == client],
        )

    def _rest(self, state: State, places: tuple[int, ...]) -> tuple[Any, ...]:
        """Return what a state holds of no client in particular."""
        ghosts = state.ghosts
        return (
            self._named(0, state.lock, places),
            self._named(1, state.counter, places),
            state.now_ms,
            state.left,
            ghosts.written,
            ghosts.fence,
            ghosts.fault_at_holder,
            places[ghosts.resent] if ghosts.resent >= 0 else -1,
            ghosts.idle_since_ms,
        )

    def _named(self, table: int, number: int, places: tuple[int, ...]) -> Contents:
        """Return what a server holds, with the places of the clients in place of their tokens."""
        found = self._contents.get((table, number, places))
        if found is None:
            keys = self.tables[table].contents[number]
            found = tuple(key._replace(value=renamed_to(key.value[:-FOOTER], places)) for key in keys)
            self._contents[table, number, places] = found
        return found


def names_between(kept: tuple[int, ...], found: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return which client of a state each client of the state that was kept for it is; None where all keep their names.

    kept, found: the order of the clients in each.
    """
    return None if kept == found else tuple(found[kept.index(client)] for client in range(len(kept)))
