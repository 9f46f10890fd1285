"""Fold what differs only in the numbers of the servers: servers that do not know of each other are alike.

A client sends the same command to each of them and counts the answers. So a state in which the servers are exchanged has the
same future. A folded search puts the servers of each state in an order, goes on at one of those that do not differ, and counts
that move once for each of them. So the numbers of schedules stay those of an unfolded search.

That a stage treats the servers alike is not believed: its commands are looked at, and the schedules of a folded search get
servers with other numbers, and run again with the answers in their real order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.explore.budget import Budget
from lab.explore.event import Event
from lab.explore.ghosts import Ghosts
from lab.explore.nodes import Nodes
from lab.explore.operation import Command, FanOut, Operation, Reply
from lab.explore.state import Flight, Move, State
from lab.explore.votes import Votes, at

if TYPE_CHECKING:
    from lab.explore.world import World

Owners = tuple[tuple[bytes, int], ...]


class NotAlike(Exception):  # noqa: N818 - states what was found
    """The stage does not treat its servers alike."""


class Order(NamedTuple):
    """A state in which the servers are in order: what of it has to do with them, and which of them do not differ."""

    lock: int
    owners: Owners
    flights: tuple[Flight, ...]
    # in the state as it is: the first server of each group of equal ones, and how many are in the group
    groups: dict[int, int]


class Alike:
    """Orders the servers of states."""

    def __init__(self, nodes: Nodes, votes: Votes) -> None:
        self.nodes, self.votes = nodes, votes
        self._looks: dict[Any, int] = {}  # how a server looks → a number
        self._orders: dict[Any, Order] = {}
        self._ghosts: dict[Ghosts, Ghosts] = {}

    def in_order(self, replies: Iterable[Reply]) -> tuple[Reply, ...]:
        """Return the answers of all servers in an order that does not depend on their numbers."""
        return tuple(sorted(replies, key=repr))

    def ordered(self, state: State) -> State:
        """Return the state with its servers in order."""
        order = self._order(state)
        ghosts = state.ghosts if order.owners == state.ghosts.owners else state.ghosts._replace(owners=order.owners)
        ghosts = self._ghosts.setdefault(ghosts, ghosts)  # equal ones once: there are many states
        return state._replace(lock=order.lock, ghosts=ghosts, flights=order.flights)

    def groups(self, state: State) -> dict[int, int]:
        """Return the first server of each group of equal ones, and how many are in the group."""
        return self._order(state).groups

    def folded(self, state: State, moves: Iterable[Move]) -> list[Move]:
        """Return the moves with the servers in order; the move of a server stands for those of its group."""
        groups = self.groups(state)
        return [
            move._replace(state=self.ordered(move.state), ways=1 if move.alone else groups.get(move.event.node, 1))
            for move in moves
        ]

    def forget(self) -> None:
        """Forget the orders that a search has needed: those of many searches would fill the memory."""
        self._orders.clear()
        self._ghosts.clear()

    def _order(self, state: State) -> Order:
        what = state.lock, state.ghosts.owners, state.flights
        found = self._orders.get(what)
        if found is None:
            found = self._orders[what] = self._put_in_order(*what)
        return found

    def _put_in_order(self, lock: int, owners: Owners, flights: tuple[Flight, ...]) -> Order:
        each, servers = self.nodes.each[lock], range(1, self.votes.servers + 1)
        owned: dict[int, list[tuple[bytes, int]]] = {server: [] for server in servers}
        for name, client in owners:
            owned[self.votes.server_of(name)].append((self.votes.lock_of(name), client))
        looks = [
            (each[server - 1], tuple(owned[server]), tuple(flight.answers[server - 1] for flight in flights))
            for server in servers
        ]
        numbers = [self._looks.setdefault(look, len(self._looks)) for look in looks]
        order = sorted(servers, key=lambda server: numbers[server - 1])
        renamed = {server: place for place, server in enumerate(order, 1)}
        return Order(
            lock=self.nodes.number(each[server - 1] for server in order),
            owners=tuple(sorted((at(name, renamed[server]), client) for server in servers for name, client in owned[server])),
            flights=tuple(one._replace(answers=tuple(one.answers[server - 1] for server in order)) for one in flights),
            groups={numbers.index(number) + 1: numbers.count(number) for number in numbers},
        )

    def check(self, operation: Operation | None) -> None:
        """Raise NotAlike for an operation that does not treat all servers alike."""
        if isinstance(operation, Command) and operation.node:
            raise NotAlike
        if isinstance(operation, FanOut):
            asked = [one.node for one in operation.commands]
            if asked != [*range(1, self.votes.servers + 1)] or len({one.words for one in operation.commands}) > 1:
                raise NotAlike


def with_numbers(
    world: World,
    path: Sequence[tuple[Event, State]],
    budget: Budget,
    horizon_ms: int,
    chance: random.Random | None = None,
) -> list[Event]:
    """Return the events of a path through a folded graph with the real numbers of the servers: the lowest, or random ones.

    path: each event with the state to which it leads.
    """
    if world.alike is None:
        return [event for event, _ in path]
    events, state = [], world.start(budget)
    for event, target in path:
        servers = list(range(1, world.program.votes.servers + 1)) if event.node else [0]
        if chance is not None:
            chance.shuffle(servers)
        possible = (world.take(state, event._replace(node=server), budget, horizon_ms) for server in servers)
        move = next(one for one in possible if one is not None and world.alike.ordered(one.state) == target)
        events.append(move.event)
        state = move.state
    return events
