"""Fold what differs only in the names of the clients, or in the numbers of the servers. Source: symmetry reduction (Ip and Dill,
"Better Verification Through Symmetry").

All clients run the same code. So a schedule with other names is a schedule as well, and it breaks the same claims. Of the
clients that have done nothing, a folded search lets only the first continue. Several servers do not know of each other: a
client sends the same command to each, and counts the answers. So a folded search puts the servers of each state in an order, and
continues at one of those that do not differ. A move is counted once for each that it stands for: so the numbers of schedules
stay those of an unfolded search.

That the code treats all alike is not believed: the random schedules of a folded search get other names, and run again; the
commands to several servers are looked at, and their schedules run again with the answers in their real order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lab.explore.code.operation import CommandSent, FanOut, Operation
from lab.explore.model import Memo, Numbered
from lab.explore.search.event import ScheduleEvent
from lab.explore.search.state import Flight, Move, State
from lab.explore.store.table import Nodes


def folded(state: State, moves: Sequence[Move]) -> list[Move]:
    """Return the moves of the first of several interchangeable clients only. Each has the number of moves for which it stands."""
    first: dict[Any, int] = {}
    stands_for: dict[int, int] = {}  # the first client of a group → how many clients are in it
    dropped: set[int] = set()
    for client, node in enumerate(state.nodes):
        if node or any(one[0] == client for one in (*state.flights, *state.blocked)):
            continue
        leader = first.setdefault(state.modes[client], client)
        stands_for[leader] = stands_for.get(leader, 0) + 1
        if leader != client:
            dropped.add(client)
    if not dropped:
        return list(moves)
    return [
        move._replace(ways=move.ways * stands_for.get(move.event.client, 1)) for move in moves if move.event.client not in dropped
    ]


def renamed(events: Sequence[ScheduleEvent], names: Sequence[int]) -> list[ScheduleEvent]:
    """Return the same schedule with other names of the clients."""
    return [event._replace(client=names[event.client]) if event.client >= 0 else event for event in events]


MOST_ORDERS = 10_000  # are remembered: they are looked up soon after they were found


class NotAlike(Exception):  # noqa: N818 - states what was found
    """The stage does not treat its servers alike."""


class ServerOrder(NamedTuple):
    """A state in which the servers are in order: what of it has to do with them, and which of them do not differ."""

    lock: int
    flights: tuple[Flight, ...]
    # in the state as it is: the first server of each group of equal ones, and how many are in the group
    groups: dict[int, int]


class Alike:
    """Orders the servers of states."""

    def __init__(self, nodes: Nodes, servers: int) -> None:
        self.nodes, self.servers = nodes, servers
        self._looks: Numbered[Any] = Numbered()  # how servers look
        self._orders = Memo[Any, ServerOrder](self._put_in_order)

    def in_order(self, replies: Iterable[Any]) -> tuple[Any, ...]:
        """Return the answers of all servers in an order that does not depend on their numbers."""
        return tuple(sorted(replies, key=repr))

    def ordered(self, state: State) -> State:
        """Return the state with its servers in order."""
        order = self.order(state)
        same = order.lock == state.lock and order.flights == state.flights
        return state if same else state._replace(lock=order.lock, flights=order.flights)

    def folded(self, state: State, found: Iterable[Move]) -> list[Move]:
        """Return the moves with the servers in order; the move of a server stands for those of its group."""
        groups = self.order(state).groups
        return [
            move._replace(state=self.ordered(move.state), ways=1 if move.alone else groups.get(move.event.node, 1))
            for move in found
        ]

    def forget(self) -> None:
        """Forget the orders that a search has needed: those of many searches would fill the memory."""
        self._orders.clear()

    def order(self, state: State) -> ServerOrder:
        """Return a state with its servers in order."""
        if len(self._orders) > MOST_ORDERS:
            self._orders.clear()
        return self._orders[state.lock, state.flights]

    def _put_in_order(self, lock: int, flights: tuple[Flight, ...]) -> ServerOrder:
        each, servers = self.nodes.each[lock], range(1, self.servers + 1)
        looks = [(each[server - 1], tuple([flight.answers[server - 1] for flight in flights])) for server in servers]
        numbers = [self._looks.number(look) for look in looks]
        order = sorted(servers, key=lambda server: numbers[server - 1])
        return ServerOrder(
            lock=self.nodes.number(each[server - 1] for server in order),
            flights=tuple([one._replace(answers=tuple([one.answers[server - 1] for server in order])) for one in flights]),
            groups={numbers.index(number) + 1: numbers.count(number) for number in numbers},
        )

    def check(self, operation: Operation | None) -> None:
        """Raise NotAlike for an operation that does not treat all servers alike."""
        if isinstance(operation, CommandSent) and operation.node:
            raise NotAlike
        if isinstance(operation, FanOut):
            asked = [one.node for one in operation.commands]
            if asked != [*range(1, self.servers + 1)] or len({one.words for one in operation.commands}) > 1:
                raise NotAlike
