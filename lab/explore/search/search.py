"""Breadth-first search over everything that can happen, within a budget of faults.

A state is where each replica is in its tree, what each server holds in its table, what the clock reads, and the ghosts. The first
state that breaks a claim is reached by a shortest schedule. A pass backwards over the graph counts all schedules, and those that
break each claim.
"""

from __future__ import annotations

import contextlib
import gc
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from app.lock import Claim
from lab.explore.search.event import STEP, Budget, ScheduleEvent
from lab.explore.search.graph import SearchGraph
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.moves import begin, end, end_of, moves, started
from lab.explore.search.orders import NewCommand
from lab.explore.search.state import Move, State
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

    # whether the graph has one move for all clients that have done nothing yet; the numbers of schedules are of all of them
    folded: bool = False
    # whether every schedule was looked at
    complete: bool = False
    schedules: int = 0
    # how many of them the horizon has cut, with somebody still waiting
    cut: int = 0
    # in how many of the states in which schedules end somebody was served, and gave up
    served: int = 0
    refused: int = 0
    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    broken: dict[Claim, Broken] = field(default_factory=dict)
    graph: SearchGraph | None = None


MOST_STATES = 500_000  # of some 380 bytes each: a search with more would need more than 300 MB
LOOKS_EVERY = 8  # states, at the clock of the machine


def search(
    world: World,
    budget: Budget,
    horizon_ms: int,
    until_s: float,
    fold: bool = False,
    on_broken: Callable[[Broken], None] = lambda broken: None,
) -> Searched:
    """Search all schedules with these faults. Stop at a moment of the monotonic clock: then the result is not complete.

    fold: let one client stand for all that have done nothing yet. The graph has then fewer states. A world whose servers are
    alike folds these as well. Where a client sends a command that nobody had expected of it, the search begins again.
    on_broken: takes each claim that breaks, as soon as it does.
    """
    collects = gc.isenabled()
    gc.disable()  # a graph has no garbage, and to look for some takes a fifth of the time
    try:
        while True:
            with contextlib.suppress(NewCommand):
                return _Search(SearchGraph(world, budget, horizon_ms, fold), on_broken).until(until_s)
    finally:
        if collects:
            gc.enable()


class _Search:
    """One search, while it is under way."""

    def __init__(self, graph: SearchGraph, on_broken: Callable[[Broken], None]) -> None:
        self.graph, self.on_broken = graph, on_broken
        self.result = Searched(folded=graph.fold, graph=graph)

    def until(self, until_s: float) -> Searched:
        """Search until nothing is left, or the time is over."""
        began_s = time.monotonic()
        graph, result = self.graph, self.result
        begun = begin(graph.world, graph.budget)
        graph.number(begun.state, 0, ScheduleEvent(STEP))
        todo = deque([0])
        looked = 0
        while todo and len(graph) < MOST_STATES:
            if not (looked := (looked + 1) % LOOKS_EVERY) and time.monotonic() > until_s:
                break
            number = todo.popleft()
            state = graph.state(number)
            found = graph.moves_of(state)
            if not number:
                self._note([one for one in begun.found if one.harm is Harm.FAILED], 0)
            graph.begins[number], graph.numbers[number] = len(graph.leads_to), len(found)
            if not found:
                self._ended(number, state, begun.found)
            for move in found:
                after, is_new = graph.number(move.state, number, move.event)
                if is_new:  # what nobody can notice is not counted as an event of its own
                    (todo.appendleft if move.alone and move.event.kind is STEP else todo.append)(after)
                if move.found:
                    graph.found[len(graph.leads_to)] = move.found
                    self._note(move.found, number, move)
                graph.leads_to.append(after)
                graph.ways.append(move.ways)
        result.complete = not todo
        result.states, result.transitions = len(graph), len(graph.leads_to)
        if result.complete:
            self._count()
        result.seconds = time.monotonic() - began_s
        return result

    def _ended(self, number: int, state: State, begun: Sequence[Finding]) -> None:
        """Note the end of a schedule: what it breaks, and what was at stake."""
        about = end_of(self.graph.world, state, self.graph.budget, self.graph.horizon_ms)
        self.graph.ends[number] = found = (*begun, *end(self.graph.world, state, about))
        self._note(found, number)
        self.result.served += state.ghosts.served > 0
        self.result.refused += state.ghosts.gave_up > 0
        if about.waiting and about.is_cut:
            self.graph.cut.add(number)

    def _note(self, found: Iterable[Finding], number: int, move: Move | None = None) -> None:
        for finding in found:
            if finding.claim not in self.result.broken:
                broken = self.result.broken[finding.claim] = Broken(finding, self.graph.path(number, move))
                self.on_broken(broken)

    def _count(self) -> None:
        """Count all schedules, and for each broken claim those that break it. A schedule without an end is not counted."""
        graph, result = self.graph, self.result
        if graph.order is None:
            return
        result.schedules = graph.counted()
        result.cut = graph.counted(lambda number: number in graph.cut)
        for claim, broken in result.broken.items():
            broken.schedules = result.schedules - graph.keeping({claim})


def random_schedules(world: World, budget: Budget, horizon_ms: int, number: int, seed: int) -> list[list[ScheduleEvent]]:
    """Draw random schedules, each to its end, and return each once. No graph is needed, and nothing is folded."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    schedules: dict[tuple[ScheduleEvent, ...], None] = {}
    for _ in range(number):
        state, events = started(world, budget), []
        while found := moves(world, state, budget, horizon_ms):
            move = chance.choice(found)
            events.append(move.event)
            state = move.state
        schedules[tuple(events)] = None
    return [list(events) for events in schedules]
