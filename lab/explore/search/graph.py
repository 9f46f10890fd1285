"""The graph of a search: states, the moves between them, and the ways through them.

Of a graph, numbers are kept: a state is a row of small numbers, and its moves are found again when needed. Source: recursive
indexing (Holzmann, "State Compression in SPIN").
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from struct import Struct
from typing import Any

from app.lock import Claim
from lab.explore.model import Numbered
from lab.explore.search.event import Budget, ScheduleEvent
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.moves import moves, started
from lab.explore.search.state import Move, State
from lab.explore.search.symmetry import NotAlike, folded
from lab.explore.search.world import World


class SearchGraph:
    """The graph of a search. A state is numbered in the order in which it was met first; 0 is the start."""

    _row = Struct(f"<{len(State._fields)}I")

    def __init__(self, world: World, budget: Budget, horizon_ms: int, fold: bool) -> None:
        self.world, self.budget, self.horizon_ms, self.fold = world, budget, horizon_ms, fold
        # of each field of a state, its values
        self._values: list[Numbered[Any]] = [Numbered() for _ in State._fields]
        self.keys: Numbered[bytes] = Numbered()
        # the state from which a state was reached first, and by which event
        self.came_from, self._by_event = array("i"), array("i")
        self._events: Numbered[ScheduleEvent] = Numbered()
        # of each state, where its moves begin, and how many there are; of each move, where it leads, and for how many it stands
        self.begins, self.numbers = array("q"), array("H")
        self.leads_to, self.ways = array("i"), array("H")
        self.found: dict[int, tuple[Finding, ...]] = {}  # by move, what it breaks
        self.ends: dict[int, tuple[Finding, ...]] = {}  # by state in which nothing can happen any more, what that breaks
        self.cut: set[int] = set()  # of those, the states in which somebody still waits at the horizon

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, state: State, before: int, event: ScheduleEvent) -> tuple[int, bool]:
        """Return the number of a state, and whether it is new."""
        number = self.keys.number(self.key(state))
        if number < len(self.came_from):
            return number, False
        self.came_from.append(before)
        self._by_event.append(self._events.number(event))
        self.begins.append(0)
        self.numbers.append(0)
        return number, True

    def key(self, state: State) -> bytes:
        """Return what is equal for states that are one in this graph."""
        return self._row.pack(*[values.number(part) for values, part in zip(self._values, state, strict=True)])

    def state(self, number: int) -> State:
        """Return the state of a number."""
        return State(*[values[part] for values, part in zip(self._values, self._row.unpack(self.keys[number]), strict=True)])

    def moves(self, number: int) -> list[Move]:
        """Return what can happen in a state, folded, in the order of ``places``."""
        return self.moves_of(self.state(number))

    def moves_of(self, state: State) -> list[Move]:
        """Return what can happen in a state, folded."""
        found = moves(self.world, state, self.budget, self.horizon_ms)
        if self.world.alike is not None:
            found = self.world.alike.folded(state, found)
        return folded(state, found) if self.fold else found

    def places(self, number: int) -> range:
        """Return the places of a state's moves in the lists of moves."""
        return range(self.begins[number], self.begins[number] + self.numbers[number])

    @cached_property
    def order(self) -> list[int] | None:
        """The numbers of the states so that each comes after all that can follow it; None where a schedule has no end."""
        order: list[int] = []
        status = bytearray(len(self))
        stack = [0]
        while stack:
            number = stack[-1]
            if status[number] == 0:
                status[number] = 1
                for place in self.places(number):
                    after = self.leads_to[place]
                    if status[after] == 1:
                        return None
                    if status[after] == 0:
                        stack.append(after)
            else:
                stack.pop()
                if status[number] == 1:
                    status[number] = 2
                    order.append(number)
        return order

    def counted(
        self, ends: Callable[[int], bool] = lambda number: True, passes: Callable[[int], bool] = lambda place: True
    ) -> int:
        """Return how many schedules go through such moves only, by their places, to such an end, by the number of its state."""
        counts = [0] * len(self)
        for number in self.order or ():
            places = self.places(number)
            counts[number] = (
                sum([self.ways[place] * counts[self.leads_to[place]] for place in places if passes(place)])
                if places
                else int(ends(number))
            )
        return counts[0]

    def keeping(self, claims: Collection[Claim]) -> int:
        """Return how many schedules break none of some claims."""
        ends, found = (
            {number for number, what in each.items() if any(one.claim in claims for one in what)}
            for each in (self.ends, self.found)
        )
        return self.counted(lambda number: number not in ends, lambda place: place not in found)

    def path(self, number: int, last: Move | None) -> list[ScheduleEvent]:
        """Return the events of the first way to a state, and of a move from there."""
        states, events = [number], [last.event] if last is not None else []
        while number:
            events.append(self._events[self._by_event[number]])
            number = self.came_from[number]
            states.append(number)
        return events[::-1] if self.world.alike is None else self._with_numbers(states[-2::-1], last)

    def _with_numbers(self, states: Sequence[int], last: Move | None) -> list[ScheduleEvent]:
        """Return the events of a way through a graph in which servers are folded, with the real numbers of the servers.

        states: the numbers of the states, without the start. last: one more move from there. Raises NotAlike.
        """
        found, state = [], started(self.world, self.budget)
        reduced, self.world.unnoticed = self.world.unnoticed, None  # one order of servers is not the one with other numbers
        keys = [self.keys[number] for number in states] + ([self.key(self._ordered(last.state))] if last is not None else [])
        for place, key in enumerate(keys):
            possible = [
                one for one in moves(self.world, state, self.budget, self.horizon_ms) if self.key(self._ordered(one.state)) == key
            ]
            if last is not None and place == len(keys) - 1:
                possible = [one for one in possible if _harms(one) == _harms(last)]
            if not possible:
                self.world.unnoticed = reduced
                raise NotAlike
            found.append(possible[0].event)
            state = possible[0].state
        self.world.unnoticed = reduced
        return found

    def _ordered(self, state: State) -> State:
        found: State = self.world.alike.ordered(state)
        return found


def _harms(move: Move) -> set[tuple[Claim, Harm]]:
    return {(finding.claim, finding.harm) for finding in move.found}
