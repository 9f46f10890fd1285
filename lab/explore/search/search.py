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
from collections.abc import Callable, Iterable

from lab.explore.search.budget import Budget
from lab.explore.search.event import STEP, ScheduleEvent
from lab.explore.search.graph import SearchGraph
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.moves import begin, end, end_of, moves, started
from lab.explore.search.searched import Broken, Searched
from lab.explore.search.state import Move, State
from lab.explore.search.unnoticed import NewCommand
from lab.explore.search.world import World


def count(result: Searched, graph: SearchGraph) -> None:
    """Count all schedules, and for each broken claim those that keep it: what is left breaks it."""
    order = _backwards(graph)
    if order is None:
        return

    def counted(ends: Callable[[int], bool], keeps: Callable[[int], bool] = lambda place: True) -> int:
        counts = [0] * len(graph)
        for number in order:
            places = graph.places(number)
            counts[number] = (
                sum([graph.ways[place] * counts[graph.leads_to[place]] for place in places if keeps(place)])
                if places
                else int(ends(number))
            )
        return counts[0]

    result.schedules = counted(lambda number: True)
    result.witness.cut = counted(lambda number: number in graph.cut)
    for claim, broken in result.broken.items():
        kept = counted(
            lambda number, claim=claim: all(one.claim is not claim for one in graph.ends[number]),  # type: ignore[misc] # a default binds it
            lambda place, claim=claim: all(one.claim is not claim for one in graph.found.get(place, ())),  # type: ignore[misc] # as above
        )
        broken.schedules = result.schedules - kept


def _backwards(graph: SearchGraph) -> list[int] | None:
    """Return the numbers of the states so that each comes after all that can follow it; None where a schedule has no end."""
    order: list[int] = []
    status = bytearray(len(graph))
    stack = [0]
    while stack:
        number = stack[-1]
        if status[number] == 0:
            status[number] = 1
            for place in graph.places(number):
                after = graph.leads_to[place]
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
                return _searched(world, budget, horizon_ms, until_s, fold, on_broken)
    finally:
        if collects:
            gc.enable()


def _searched(
    world: World, budget: Budget, horizon_ms: int, until_s: float, fold: bool, on_broken: Callable[[Broken], None]
) -> Searched:
    began_s = time.monotonic()
    graph = SearchGraph(world, budget, horizon_ms, fold)
    result = Searched(budget, horizon_ms, folded=fold, graph=graph, on_broken=on_broken)
    begun = begin(world, budget)
    graph.number(begun.state, 0, ScheduleEvent(STEP))
    todo = deque([0])
    looked = 0
    while todo and len(graph) < MOST_STATES:
        if not (looked := (looked + 1) % LOOKS_EVERY) and time.monotonic() > until_s:
            break
        number = todo.popleft()
        state = graph.state(number)
        found = graph.moves_of(state)
        if not number and begun.found:
            _note(result, graph, [one for one in begun.found if one.harm is Harm.FAILED], 0, None)
        graph.begins[number], graph.numbers[number] = len(graph.leads_to), len(found)
        if not found:
            _ended(result, graph, number, state)
        for move in found:
            after, is_new = graph.number(move.state, number, move.event)
            if is_new:  # what nobody can notice is not counted as an event of its own
                (todo.appendleft if move.alone and move.event.kind is STEP else todo.append)(after)
            if move.found:
                graph.found[len(graph.leads_to)] = move.found
                _note(result, graph, move.found, number, move)
            graph.leads_to.append(after)
            graph.ways.append(move.ways)
    result.complete = not todo
    result.states, result.transitions = len(graph), len(graph.leads_to)
    if result.complete:
        count(result, graph)
    result.seconds = time.monotonic() - began_s
    return result


def _ended(result: Searched, graph: SearchGraph, number: int, state: State) -> None:
    """Note the end of a schedule: what it breaks, and what was at stake."""
    found = [*begin(graph.world, graph.budget).found, *end(graph.world, state, graph.budget, graph.horizon_ms)]
    graph.ends[number] = tuple(found)
    _note(result, graph, found, number, None)
    witness, about = result.witness, end_of(graph.world, state, graph.budget, graph.horizon_ms)
    witness.ends += 1
    witness.served += state.ghosts.served > 0
    witness.refused += state.ghosts.gave_up > 0
    if about.waiting and about.is_cut:
        graph.cut.add(number)


def _note(result: Searched, graph: SearchGraph, found: Iterable[Finding], number: int, move: Move | None) -> None:
    for finding in found:
        if finding.claim not in result.broken:
            broken = result.broken[finding.claim] = Broken(finding, graph.path(number, move))
            if result.on_broken is not None:
                result.on_broken(broken)


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
