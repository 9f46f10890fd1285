"""What need not be tried: what differs only in names, and orders of which nobody can notice the difference.

*Symmetry reduction* (Ip and Dill, "Better Verification Through Symmetry"): all clients run the same code. So a schedule with
other names is a schedule as well, and it breaks the same claims. Of the clients that have done nothing, a folded search lets only
the first continue. Several servers do not know of each other: a client sends the same command to each, and counts the answers. So
states are one in a folded search if they have the same servers in another order. It continues at one of the servers that do not
differ. A move is counted once for each that it stands for: so the numbers of schedules stay those of an unfolded search. That the
code treats all alike is not believed: the random schedules of a folded search get other names, and run again; the commands to
several servers are looked at, and their schedules run again with the answers in their real order.

*Partial-order reduction* by ample sets (Clarke, Grumberg and Peled, "Model Checking"). A command whose moment nobody can notice
is sent at once: a release reaches one of several servers that does not have the client's vote. It changes nothing, and nothing
that others do before can change its answer. What others can do there is not guessed: all states of the server to which their
commands and time can lead are looked at, in the table of the real Redis. That a reply is lost, or the command itself, is still
decided. The last command of a fan-out always has a moment of its own, because its client continues then.
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
    kept = [move for move in moves if move.event.client not in dropped]
    return [move._replace(ways=move.ways * stands_for.get(move.event.client, 1)) for move in kept]


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
        self._order = lru_cache(MOST_ORDERS)(self._put_in_order)

    def in_order(self, replies: Iterable[Any]) -> tuple[Any, ...]:
        """Return the answers of all servers in an order that does not depend on their numbers."""
        return tuple(sorted(replies, key=repr))

    def ordered(self, state: State) -> State:
        """Return the state with its servers in order."""
        order = self.order(state)
        return state._replace(lock=order.lock, flights=order.flights)

    def folded(self, state: State, moves: Iterable[Move]) -> list[Move]:
        """Return the moves. That of a server stands for those of its group."""
        groups = self.order(state).groups
        return [one if one.alone else one._replace(ways=groups.get(one.event.node, 1)) for one in moves]

    def forget(self) -> None:
        """Forget the orders that a search has needed: those of many searches would fill the memory."""
        self._order.cache_clear()

    def order(self, state: State) -> ServerOrder:
        """Return a state with its servers in order."""
        return self._order(state.lock, state.flights)

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


def unnoticed(world: World, state: State) -> tuple[int, int, FanOut, tuple[int]] | None:
    """Return a command whose moment nobody can notice at a server: its client, its thread, the command, the server."""
    for client, thread, operation in world.threads(state) if world.unnoticed is not None else ():
        if isinstance(operation, FanOut) and (node := _unnoticed_at(world, state, client, thread, operation)):
            return client, thread, operation, (node,)
    return None


def _unnoticed_at(world: World, state: State, client: int, thread: int, operation: FanOut) -> int:
    """Return the server at which nobody can notice a command; 0 without one, and where only one server has not answered yet."""
    known, left = world.unnoticed, unanswered(state, client, thread, operation)
    for command in left if len(left) > 1 else ():
        known.sends(client, command.words)
        if known.is_unnoticed(world.lock.each[state.lock][command.node - 1], client, command.words, state.now_ms):
            return command.node
    return 0


MOST_STATES = 500  # of a server whose state decides the answer of a command; with more, others may notice it


class NewCommand(Exception):  # noqa: N818 - states what happened
    """A client sends a command that was not known when others were looked at. The search begins again."""


class Unnoticed:
    """Decides which commands nobody can notice."""

    def __init__(self, table: Table, clients: int) -> None:
        """Take the table of a server. What each client sends is learned."""
        self.table = table
        self._sent: list[set[Words]] = [set() for _ in range(clients)]
        self._changes_nothing = cache(self._is_unnoticed)

    def sends(self, client: int, words: Words) -> None:
        """Remember what a client can send to a server. Raises NewCommand."""
        if words not in self._sent[client]:
            self._sent[client].add(words)
            if self._changes_nothing.cache_info().currsize:
                self._changes_nothing.cache_clear()
                raise NewCommand

    def is_unnoticed(self, state: int, client: int, words: Words, now_ms: int) -> bool:
        """Return whether a command changes nothing in a state of a server, and has the same answer whatever others do before."""
        return not self.table.real.needs_clock(words) and self._changes_nothing(state, client, words)

    def _is_unnoticed(self, state: int, client: int, words: Words) -> bool:
        first = self.table.answer(state, words)
        others = [one for number, sent in enumerate(self._sent) if number != client for one in sent]
        if any(map(self.table.real.needs_clock, others)):
            return False
        seen, todo = {state}, [state]
        while todo:
            now = todo.pop()
            answer = self.table.answer(now, words)
            if answer.state != now or answer.reply != first.reply or answer.published or len(seen) > MOST_STATES:
                return False
            after = {self.table.answer(now, one).state for one in others} | {self.table.later(now, GRID_MS)}
            todo += after - seen
            seen |= after
        return True
