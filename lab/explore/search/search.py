"""Search all events breadth-first, within a budget of faults.

A state has the node of each replica in its tree, the state of each server in its table, the time on the clock, and the ghosts.
The first state that breaks a claim is reached by a shortest schedule. Going backwards over the graph counts all schedules, and
the schedules that break each claim.

The graph keeps numbers only: a state is a row of small numbers, and its moves are computed again when needed. Source: recursive
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
    """The result of a search: the claims that break, and the numbers of states and schedules."""

    # whether every schedule was searched
    complete: bool = False
    schedules: int = 0
    # in how many states at the end of schedules a request was served; and in how many of them a request gave up
    served: int = 0
    refused: int = 0
    states: int = 0
    seconds: float = 0.0
    broken: dict[Claim, Broken] = field(default_factory=dict)
    graph: SearchGraph | None = None


MOST_STATES = 500_000  # states of some 380 bytes each: with more, a search would need more than 300 MB


def search(
    world: World,
    budget: Budget,
    horizon_ms: int,
    within_s: float,
    fold: bool = False,
    on_broken: Callable[[Broken], None] = lambda broken: None,
) -> Searched:
    """Search all schedules with these faults, and return the result. It is not complete if the time is over before.

    horizon_ms: the end of schedules, on the clock of the search. within_s: seconds of processor time. fold: let one client stand
    for all clients that have not acted yet, so that the graph is smaller. on_broken: is called with each claim as soon as it
    breaks.
    """
    limit = TimeLimit(within_s)
    collects = gc.isenabled()
    gc.disable()  # a graph has no garbage, and the collector would take a fifth of the time
    try:
        while True:
            with contextlib.suppress(NewCommand):
                return _searched(SearchGraph(world, budget, horizon_ms, fold), limit, on_broken)
    finally:
        if collects:
            gc.enable()


def _searched(graph: SearchGraph, limit: TimeLimit, on_broken: Callable[[Broken], None]) -> Searched:
    """Search until no state is left, or the time is over."""
    result = Searched(graph=graph)

    def note(findings: Iterable[Finding], number: int, move: Move | None = None) -> None:
        for finding in findings:
            if finding.claim not in result.broken:
                broken = result.broken[finding.claim] = Broken(finding, graph.path(number, move))
                on_broken(broken)

    begun = begin(graph.world, graph.budget)
    graph.number(begun.state, 0, begun.event)
    note([finding for finding in begun.findings if finding.harm is Harm.FAILED], 0)
    todo = deque([0])
    while todo and len(graph) < MOST_STATES and limit.left_s > 0:
        number = todo.popleft()
        state = graph.state(number)
        possible = graph.moves_of(state)
        graph.begins[number], graph.numbers[number] = len(graph.leads_to), len(possible)
        if not possible:
            graph.ends[number] = (*begun.findings, *end(graph.world, state, graph.budget, graph.horizon_ms))
            note(graph.ends[number], number)

            result.served += state.ghosts.served > 0
            result.refused += state.ghosts.gave_up > 0
        for move in possible:
            after, is_new = graph.number(move.state, number, move.event)
            if is_new:  # an unnoticed step does not count as an event, so its state comes first
                (todo.appendleft if move.alone and move.event.kind is STEP else todo.append)(after)
            if move.findings:
                graph.findings[len(graph.leads_to)] = move.findings
                note(move.findings, number, move)
            graph.leads_to.append(after)
            graph.weights.append(move.weight)
    result.complete, result.states = not todo, len(graph)
    if result.complete and graph.order is not None:  # a schedule without an end is not counted
        _count(result, graph)
    result.seconds = limit.spent_s[0]
    return result


def _count(result: Searched, graph: SearchGraph) -> None:
    """Count all schedules, and for each broken claim the schedules that break it."""
    result.schedules = graph.counted()
    for claim, broken in result.broken.items():
        broken.schedules = result.schedules - graph.keeping({claim})


def random_schedules(world: World, budget: Budget, horizon_ms: int, number: int, seed: int) -> list[list[ScheduleEvent]]:
    """Return random schedules, each to its end: at most this number, without duplicates, unfolded. seed: of the draws."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    schedules: dict[tuple[ScheduleEvent, ...], None] = {}
    for _ in range(number):
        state, events = begin(world, budget).state, []
        while possible := moves(world, state, budget, horizon_ms):
            move = chance.choice(possible)
            events.append(move.event)
            state = move.state
        schedules[tuple(events)] = None
    return [list(events) for events in schedules]


class SearchGraph:
    """The graph of a search. States are numbered in the order in which they were found; 0 is the start."""

    _row = Struct(f"<{len(State._fields)}I")

    def __init__(self, world: World, budget: Budget, horizon_ms: int, fold: bool) -> None:
        self.world, self.budget, self.horizon_ms, self.fold = world, budget, horizon_ms, fold
        # by field of a state: its values
        self._values: list[Numbered[Any]] = [Numbered() for _ in State._fields]
        # by state: its row of numbers, with its servers in order
        self.keys: Numbered[bytes] = Numbered()
        # by state: its row as it was found first, with its servers in their own order
        self.rows: list[bytes] = self.keys if world.symmetry is None else []
        # by state: the state from which it was reached first, and the event
        self.came_from, self._by_event = array("i"), array("i")
        self._events: Numbered[ScheduleEvent] = Numbered()
        # by state: the place of its first move, and the number of its moves; by place of a move: the next state, and its weight
        self.begins, self.numbers = array("q"), array("H")
        self.leads_to, self.weights = array("i"), array("H")
        self.findings: dict[int, tuple[Finding, ...]] = {}  # by place of a move: the claims that it breaks
        self.ends: dict[int, tuple[Finding, ...]] = {}  # by state at the end of schedules: the claims that break there

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, state: State, before: int, event: ScheduleEvent) -> tuple[int, bool]:
        """Return the number of a state, and whether it is new. before, event: how it was reached."""
        symmetry = self.world.symmetry
        number = self.keys.number(self._packed(state if symmetry is None else symmetry.ordered(state)))
        if number < len(self.came_from):
            return number, False
        if symmetry is not None:
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
        """Return the folded moves of a state, in the order of ``places``."""
        possible = moves(self.world, state, self.budget, self.horizon_ms)
        if self.world.symmetry is not None:
            possible = self.world.symmetry.folded(state, possible)
        return folded(state, possible) if self.fold else possible

    def places(self, number: int) -> range:
        """Return the places of a state's moves in ``leads_to`` and ``weights``."""
        return range(self.begins[number], self.begins[number] + self.numbers[number])

    @cached_property
    def order(self) -> list[int] | None:
        """Return the states in an order in which each comes after all its followers; None if some schedule has no end."""
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
        """Return the number of schedules whose end is accepted by ``ends``, and the place of each move by ``passes``."""
        counts = [0] * len(self)
        for number in self.order or ():
            places = self.places(number)
            counts[number] = (
                sum([self.weights[place] * counts[self.leads_to[place]] for place in places if passes(place)])
                if places
                else int(ends(number))
            )
        return counts[0]

    def keeping(self, claims: Collection[Claim]) -> int:
        """Return the number of schedules that break none of these claims."""
        breaking_ends, breaking_moves = (
            {number for number, findings in each.items() if any(finding.claim in claims for finding in findings)}
            for each in (self.ends, self.findings)
        )
        return self.counted(lambda number: number not in breaking_ends, lambda place: place not in breaking_moves)

    def path(self, number: int, last: Move | None) -> list[ScheduleEvent]:
        """Return the events of a shortest schedule to a state. last: a move from there that is added."""
        events = [last.event] if last is not None else []
        while number:
            events.append(self._events[self._by_event[number]])
            number = self.came_from[number]
        return events[::-1]
