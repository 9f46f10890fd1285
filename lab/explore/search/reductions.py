"""Leave out schedules that a search need not try: they differ only in names, or in an order that no client can notice.

*Symmetry reduction* (Ip and Dill, "Better Verification Through Symmetry"): all clients run the same code. So a schedule with
permuted clients is a schedule too, and breaks the same claims. Among the clients that have not acted yet, a folded search lets
only the first act. The same holds for several servers: each client sends the same command to each server, and counts the answers.
So two states are one in a folded search if they differ only in the order of their servers, and of equal servers only the first
acts. Each move has a weight, the number of moves that it stands for, so schedules are counted as in an unfolded search. The
symmetry is checked: random schedules of a folded search run again with permuted clients, all servers must get the same commands,
and schedules run again with the answers of the servers in their real order.

*Partial-order reduction* by ample sets (Clarke, Grumberg and Peled, "Model Checking"): if no client can notice when a command is
executed, it is executed at once. An example is a release at a server that does not have the client's vote. This
command changes nothing, and no command of another client can change its answer: that is checked in the table of the real Redis,
for all states of this server that other clients' commands and time can reach. Faults of the command are still tried. The last
command of a fan-out always has its own moment, because its client continues then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from lab.explore.code.operation import CommandSent, FanOut, Operation
from lab.explore.model import GRID_MS, Numbered
from lab.explore.search.event import ScheduleEvent
from lab.explore.search.state import Flight, Move, State, unanswered
from lab.explore.search.world import World
from lab.explore.store.resp import Words
from lab.explore.store.table import Nodes, Table


def folded(state: State, moves: Sequence[Move]) -> list[Move]:
    """Return the moves of one client from each group of interchangeable clients. Their weights are multiplied by its size."""
    first: dict[Any, int] = {}
    stands_for: dict[int, int] = {}  # by first client of a group: the size of the group
    dropped: set[int] = set()
    for client, node in enumerate(state.nodes):
        if node or any(command[0] == client for command in (*state.flights, *state.blocked)):
            continue
        leader = first.setdefault(state.modes[client], client)
        stands_for[leader] = stands_for.get(leader, 0) + 1
        if leader != client:
            dropped.add(client)
    kept = [move for move in moves if move.event.client not in dropped]
    return [move._replace(weight=move.weight * stands_for.get(move.event.client, 1)) for move in kept]


def renamed(events: Sequence[ScheduleEvent], names: Sequence[int]) -> list[ScheduleEvent]:
    """Return a schedule with permuted clients. names: by client, the new one."""
    return [event._replace(client=names[event.client]) if event.client >= 0 else event for event in events]


MOST_ORDERS = 10_000  # the most orders that are remembered: an order is needed again soon, or never


class ServersDiffer(Exception):  # noqa: N818 - a result
    """The stage does not treat its servers alike."""


class ServerOrder(NamedTuple):
    """The parts of a state that concern the servers, with the servers in order; and the groups of equal servers."""

    lock: int
    flights: tuple[Flight, ...]
    # by first server of each group, as numbered in the state before ordering: the size of the group
    groups: dict[int, int]


class ServerSymmetry:
    """Puts the servers of a state in order, so that states that differ only in the order of servers become equal."""

    def __init__(self, nodes: Nodes, servers: int) -> None:
        self.nodes, self.servers = nodes, servers
        self._looks: Numbered[Any] = Numbered()  # the state of a server, with its answers to the commands in flight
        self._order = lru_cache(MOST_ORDERS)(self._put_in_order)

    def ordered(self, state: State) -> State:
        """Return the state with its servers in order."""
        order = self.order(state)
        return state._replace(lock=order.lock, flights=order.flights)

    def folded(self, state: State, moves: Iterable[Move]) -> list[Move]:
        """Return the moves. The move of a server gets the weight of its group."""
        groups = self.order(state).groups
        return [move if move.alone else move._replace(weight=groups.get(move.event.node, 1)) for move in moves]

    def forget(self) -> None:
        """Forget the orders of a search: the orders of many searches would fill the memory."""
        self._order.cache_clear()

    def order(self, state: State) -> ServerOrder:
        """Return a state with its servers in order."""
        return self._order(state.lock, state.flights)

    def _put_in_order(self, lock: int, flights: tuple[Flight, ...]) -> ServerOrder:
        each, servers = self.nodes.each[lock], range(1, self.servers + 1)
        looks = [(each[server - 1], tuple([flight.answers[server - 1] for flight in flights])) for server in servers]
        numbers = [self._looks.number(look) for look in looks]
        order = sorted(servers, key=lambda server: numbers[server - 1])
        reordered = [flight._replace(answers=tuple([flight.answers[server - 1] for server in order])) for flight in flights]
        return ServerOrder(
            lock=self.nodes.number(each[server - 1] for server in order),
            flights=tuple(reordered),
            groups={numbers.index(number) + 1: numbers.count(number) for number in numbers},
        )

    def check(self, operation: Operation | None) -> None:
        """Raise ServersDiffer if an operation does not send the same command to all servers."""
        if isinstance(operation, CommandSent) and operation.node:
            raise ServersDiffer
        if isinstance(operation, FanOut):
            nodes = [command.node for command in operation.commands]
            if nodes != [*range(1, self.servers + 1)] or len({command.words for command in operation.commands}) > 1:
                raise ServersDiffer


def unnoticed_command(world: World, state: State) -> tuple[int, int, FanOut, tuple[int]] | None:
    """Return the client, the thread and the operation of a command whose moment no client can notice, and the servers to try."""
    for client, thread, operation in world.threads(state) if world.unnoticed is not None else ():
        if isinstance(operation, FanOut) and (node := _unnoticed_at(world, state, client, thread, operation)):
            return client, thread, operation, (node,)
    return None


def _unnoticed_at(world: World, state: State, client: int, thread: int, operation: FanOut) -> int:
    """Return the server at which no client can notice a command; 0 if there is none, or if only one answer is missing."""
    known, left = world.unnoticed, unanswered(state, client, thread, operation)
    for command in left if len(left) > 1 else ():
        known.sends(client, command.words)
        if known.is_unnoticed(world.lock.each[state.lock][command.node - 1], client, command.words, state.now_ms):
            return command.node
    return 0


MOST_STATES = 500  # states of one server to examine for a command; if there are more, the command counts as noticed


class NewCommand(Exception):  # noqa: N818 - an event
    """A client sends a command that earlier decisions did not know. The search begins again."""


class UnnoticedCommands:
    """Decides whether any client can notice the moment at which a command is executed."""

    def __init__(self, table: Table, clients: int) -> None:
        """Take the table of a server. The commands of each client are learned."""
        self.table = table
        self._sent: list[set[Words]] = [set() for _ in range(clients)]
        self._changes_nothing = cache(self._is_unnoticed)

    def sends(self, client: int, words: Words) -> None:
        """Remember that a client can send a command to a server. Raises NewCommand if decisions were made without it."""
        if words not in self._sent[client]:
            self._sent[client].add(words)
            if self._changes_nothing.cache_info().currsize:
                self._changes_nothing.cache_clear()
                raise NewCommand

    def is_unnoticed(self, state: int, client: int, words: Words, now_ms: int) -> bool:
        """Return whether a command changes nothing in a state of a server, and has the same answer after any other commands."""
        return not self.table.real.needs_clock(words) and self._changes_nothing(state, client, words)

    def _is_unnoticed(self, state: int, client: int, words: Words) -> bool:
        first = self.table.answer(state, words)
        others = [command for number, sent in enumerate(self._sent) if number != client for command in sent]
        if any(map(self.table.real.needs_clock, others)):
            return False
        seen, todo = {state}, [state]
        while todo:
            now = todo.pop()
            answer = self.table.answer(now, words)
            if answer.state != now or answer.reply != first.reply or answer.published or len(seen) > MOST_STATES:
                return False
            after = {self.table.answer(now, command).state for command in others} | {self.table.later(now, GRID_MS)}
            todo += after - seen
            seen |= after
        return True
