"""Breadth-first search over everything that can happen, within a budget of faults.

A state is where each replica is in its tree, what each server holds in its table, what the clock reads, and the ghosts. The first
state that breaks a claim is reached by a shortest schedule. A pass backwards over the graph counts all schedules, and those that
break each claim.

Of the graph, numbers are kept: a state is a row of small numbers, and its moves are found again when needed. Source: recursive
indexing (Holzmann, "State Compression in SPIN").
"""

from __future__ import annotations

import contextlib
import gc
import random
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from struct import Struct
from typing import Any

from app.lock import Claim
from lab.explore.model import Numbered, TimeLimit
from lab.explore.search.event import STEP, Budget, ScheduleEvent
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.reductions import NewCommand, folded
from lab.explore.search.rules import end
from lab.explore.search.state import Move, State
from lab.explore.search.transitions import begin, moves
from lab.explore.search.world import World


@dataclass
class Broken:
    """A claim that some schedule breaks."""

    finding: Finding
    # a shortest schedule
    events: list[ScheduleEvent]
    # how many schedules break it
    schedules: int = 0


@dataclass
class Searched:
    """What a search has found: the claims that break, what was at stake, and how much there was to look at."""

    # whether every schedule was looked at
    complete: bool = False
    schedules: int = 0
    # in how many of the states in which schedules end somebody was served, and gave up
    served: int = 0
    refused: int = 0
    states: int = 0
    seconds: float = 0.0
    broken: dict[Claim, Broken] = field(default_factory=dict)
    graph: SearchGraph | None = None


MOST_STATES = 500_000  # of some 380 bytes each: a search with more would need more than 300 MB


def search(
    world: World,
    budget: Budget,
    horizon_ms: int,
    within_s: float,
    fold: bool = False,
    on_broken: Callable[[Broken], None] = lambda broken: None,
) -> Searched:
    """Search all schedules with these faults. Stop after so much processor time: then the result is not complete.

    fold: let one client stand for all that have done nothing yet. The graph has then fewer states. A world whose servers are
    alike folds these as well. Where a client sends a command that nobody had expected of it, the search begins again.
    on_broken: takes each claim that breaks, as soon as it does.
    """
    limit = TimeLimit(within_s)
    collects = gc.isenabled()
    gc.disable()  # a graph has no garbage, and to look for some takes a fifth of the time
    try:
        while True:
            with contextlib.suppress(NewCommand):
                return _searched(SearchGraph(world, budget, horizon_ms, fold), limit, on_broken)
    finally:
        if collects:
            gc.enable()


def _searched(graph: SearchGraph, limit: TimeLimit, on_broken: Callable[[Broken], None]) -> Searched:
    """Search until nothing is left, or the time is over."""
    result = Searched(graph=graph)

    def note(found: Iterable[Finding], number: int, move: Move | None = None) -> None:
        for finding in found:
            if finding.claim not in result.broken:
                broken = result.broken[finding.claim] = Broken(finding, graph.path(number, move))
                on_broken(broken)

    begun = begin(graph.world, graph.budget)
    graph.number(begun.state, 0, begun.event)
    note([one for one in begun.found if one.harm is Harm.FAILED], 0)
    todo = deque([0])
    while todo and len(graph) < MOST_STATES and limit.left_s > 0:
        number = todo.popleft()
        state = graph.state(number)
        found = graph.moves_of(state)
        graph.begins[number], graph.numbers[number] = len(graph.leads_to), len(found)
        if not found:
            graph.ends[number] = (*begun.found, *end(graph.world, state, graph.budget, graph.horizon_ms))
            note(graph.ends[number], number)
            # what was at stake: who was served, who gave up
            result.served += state.ghosts.served > 0
            result.refused += state.ghosts.gave_up > 0
        for move in found:
            after, is_new = graph.number(move.state, number, move.event)
            if is_new:  # what nobody can notice is not counted as an event of its own
                (todo.appendleft if move.alone and move.event.kind is STEP else todo.append)(after)
            if move.found:
                graph.found[len(graph.leads_to)] = move.found
                note(move.found, number, move)
            graph.leads_to.append(after)
            graph.ways.append(move.ways)
    result.complete, result.states = not todo, len(graph)
    if result.complete and graph.order is not None:  # a schedule without an end is not counted
        _count(result, graph)
    result.seconds = limit.spent_s[0]
    return result


def _count(result: Searched, graph: SearchGraph) -> None:
    """Count all schedules, and for each broken claim those that break it."""
    result.schedules = graph.counted()
    for claim, broken in result.broken.items():
        broken.schedules = result.schedules - graph.keeping({claim})


def random_schedules(world: World, budget: Budget, horizon_ms: int, number: int, seed: int) -> list[list[ScheduleEvent]]:
    """Draw random schedules, each to its end, and return each once. No graph is needed, and nothing is folded."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    schedules: dict[tuple[ScheduleEvent, ...], None] = {}
    for _ in range(number):
        state, events = begin(world, budget).state, []
        while found := moves(world, state, budget, horizon_ms):
            move = chance.choice(found)
            events.append(move.event)
            state = move.state
        schedules[tuple(events)] = None
    return [list(events) for events in schedules]


class SearchGraph:
    """The graph of a search. A state is numbered in the order in which it was met first; 0 is the start."""

    _row = Struct(f"<{len(State._fields)}I")

    def __init__(self, world: World, budget: Budget, horizon_ms: int, fold: bool) -> None:
        self.world, self.budget, self.horizon_ms, self.fold = world, budget, horizon_ms, fold
        # of each field of a state, its values
        self._values: list[Numbered[Any]] = [Numbered() for _ in State._fields]
        self.keys: Numbered[bytes] = Numbered()
        # of each state, the one that was met first of all that have one key
        self.rows: list[bytes] = self.keys if world.alike is None else []
        # the state from which a state was reached first, and by which event
        self.came_from, self._by_event = array("i"), array("i")
        self._events: Numbered[ScheduleEvent] = Numbered()
        # of each state, where its moves begin, and how many there are; of each move, where it leads, and for how many it stands
        self.begins, self.numbers = array("q"), array("H")
        self.leads_to, self.ways = array("i"), array("H")
        self.found: dict[int, tuple[Finding, ...]] = {}  # by move, what it breaks
        self.ends: dict[int, tuple[Finding, ...]] = {}  # by state in which nothing can happen any more, what that breaks

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, state: State, before: int, event: ScheduleEvent) -> tuple[int, bool]:
        """Return the number of a state, and whether it is new."""
        alike = self.world.alike
        number = self.keys.number(self._packed(state if alike is None else alike.ordered(state)))
        if number < len(self.came_from):
            return number, False
        if alike is not None:
            self.rows.append(self._packed(state))
        self.came_from.append(before)
        self._by_event.append(self._events.number(event))
        self.begins.append(0)
        self.numbers.append(0)
        return number, True

    def _packed(self, state: State) -> bytes:
        return self._row.pack(*[values.number(part) for values, part in zip(self._values, state, strict=True)])

    def state(self, number: int) -> State:
        """Return the state of a number."""
        return State(*[values[part] for values, part in zip(self._values, self._row.unpack(self.rows[number]), strict=True)])

    def moves_of(self, state: State) -> list[Move]:
        """Return what can happen in a state, folded, in the order of ``places``."""
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
        events = [last.event] if last is not None else []
        while number:
            events.append(self._events[self._by_event[number]])
            number = self.came_from[number]
        return events[::-1]
