"""Breadth-first search over everything that can happen, within a budget of faults.

A state is where each client is in its tree, what each server holds in its table, what the clock reads, and the ghosts. The first
state that breaks a claim is reached by a shortest schedule. A pass backwards over the graph counts all schedules, and those that
break each claim.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from app.lock import Claim
from lab.explore.budget import Budget
from lab.explore.event import Event
from lab.explore.rules import Finding
from lab.explore.state import Move, State
from lab.explore.symmetry import folded
from lab.explore.world import World


@dataclass
class Broken:
    """A claim that some schedule breaks."""

    claim: Claim
    mechanism: str
    # a shortest schedule
    events: list[Event]
    # how many schedules break it
    schedules: int = 0


@dataclass
class Searched:
    """What a search has found."""

    budget: Budget
    # whether the graph has one move for all clients that have done nothing yet; the numbers of schedules are of all of them
    folded: bool = False
    # whether every schedule was looked at
    complete: bool = False
    schedules: int = 0
    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    broken: dict[Claim, Broken] = field(default_factory=dict)
    # the graph: for the page, and for random schedules
    graph: dict[State, list[Move]] = field(default_factory=dict)
    start: State | None = None


def search(world: World, budget: Budget, horizon_ms: int, until_s: float, fold: bool = False) -> Searched:
    """Search all schedules with these faults. Stop at a moment of the monotonic clock: then the result is not complete.

    fold: let one client stand for all that have done nothing yet. The graph has then fewer states.
    """
    began_s = time.monotonic()
    start = world.start(budget)
    result = Searched(budget, folded=fold, start=start)
    came_from: dict[State, tuple[State, Event] | None] = {start: None}
    queue = deque([start])
    while queue and (len(result.graph) % 256 or time.monotonic() < until_s):
        state = queue.popleft()
        moves = world.moves(state, budget, horizon_ms)
        result.graph[state] = moves = folded(state, moves) if fold else moves
        if not moves and (finding := world.stuck(state, budget, horizon_ms)):
            _note(result, came_from, finding, state, None)
        for move in moves:
            for finding in move.found:
                _note(result, came_from, finding, state, move.event)
            if move.state not in came_from:
                came_from[move.state] = state, move.event
                queue.append(move.state)
    result.complete = not queue
    result.states, result.transitions = len(came_from), sum(map(len, result.graph.values()))
    if result.complete:
        _count(world, result, horizon_ms)
    result.seconds = time.monotonic() - began_s
    return result


def _note(
    result: Searched,
    came_from: dict[State, tuple[State, Event] | None],
    finding: Finding,
    state: State,
    event: Event | None,
) -> None:
    if finding.claim in result.broken:
        return
    events = [event] if event is not None else []
    at: State | None = state
    while at is not None and (before := came_from[at]) is not None:
        at = before[0]
        events.append(before[1])
    result.broken[finding.claim] = Broken(finding.claim, finding.mechanism, events[::-1])


def _count(world: World, result: Searched, horizon_ms: int) -> None:
    """Count all schedules, and for each broken claim those that keep it: what is left breaks it."""
    assert result.start is not None  # noqa: S101 - search sets it
    order = _backwards(result.graph, result.start)
    result.schedules = _schedules(result, order, lambda move: True, lambda state: True)[result.start]
    for claim, broken in result.broken.items():

        def keeps(move: Move, claim: Claim = claim) -> bool:
            return all(finding.claim is not claim for finding in move.found)

        def ends_well(state: State, claim: Claim = claim) -> bool:
            found = world.stuck(state, result.budget, horizon_ms)
            return found is None or found.claim is not claim

        broken.schedules = result.schedules - _schedules(result, order, keeps, ends_well)[result.start]


def _schedules(
    result: Searched, order: Iterable[State], good: Callable[[Move], bool], ends_well: Callable[[State], bool]
) -> dict[State, int]:
    counts: dict[State, int] = {}
    for state in order:
        moves = result.graph[state]
        counts[state] = sum(move.ways * counts[move.state] for move in moves if good(move)) if moves else int(ends_well(state))
    return counts


class Cycle(Exception):  # noqa: N818 - states what was found
    """A schedule returns to a state: the number of schedules has no end."""


def _backwards(graph: dict[State, list[Move]], start: State) -> list[State]:
    """Return the states so that each comes after all that can follow it. Raises Cycle."""
    order: list[State] = []
    status: dict[State, int] = {}
    stack = [start]
    while stack:
        state = stack[-1]
        if status.get(state, 0) == 0:
            status[state] = 1
            for move in graph[state]:
                if (known := status.get(move.state, 0)) == 1:
                    raise Cycle
                if known == 0:
                    stack.append(move.state)
        else:
            stack.pop()
            if status[state] == 1:
                status[state] = 2
                order.append(state)
    return order
