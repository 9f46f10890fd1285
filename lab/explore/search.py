"""Breadth-first search over everything that can happen, within a budget of faults.

A state is where each client is in its tree, what each server holds in its table, what the clock reads, and the ghosts. The first
state that breaks a claim is reached by a shortest schedule. A pass backwards over the graph counts all schedules, and those that
break each claim.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.lock import Claim
from lab.explore.alike import with_numbers
from lab.explore.budget import Budget
from lab.explore.event import STEP, Event
from lab.explore.likeness import Like, Likeness, names_between
from lab.explore.rules import Finding
from lab.explore.state import Move, State
from lab.explore.symmetry import folded
from lab.explore.unnoticed import NewCommand
from lab.explore.world import World

PAIR = 2  # of so few clients, it takes longer to compare the names than to search both
MOST_STATES = 100_000  # of some 1.8 kB each: a search with more would need more than 300 MB
MOST_OF_SEVERAL = 120_000  # of several servers: 110 000 were measured to need 275 MB, Python included


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
    """Search as ``_searched`` does; again where a client sends a command that nobody had expected of it."""
    collects = gc.isenabled()
    gc.disable()  # a graph has no garbage, and to look for some takes a fifth of the time
    try:
        while True:
            with contextlib.suppress(NewCommand):
                return _searched(world, budget, horizon_ms, until_s, fold)
    finally:
        if collects:
            gc.enable()


def _searched(world: World, budget: Budget, horizon_ms: int, until_s: float, fold: bool) -> Searched:
    """Search all schedules with these faults. Stop at a moment of the monotonic clock: then the result is not complete.

    fold: let one client stand for all that have done nothing yet. The graph has then fewer states. With more than two clients,
    one state stands for all that differ from it in the names of the clients only. A world whose servers are alike folds these
    as well.
    """
    began_s = time.monotonic()
    start = world.start(budget)
    result = Searched(budget, folded=fold, start=start)
    likeness = Likeness(world.trees, world.lock, world.counter) if fold and world.merge and len(start.nodes) > PAIR else None
    most = most_states(world)

    def like(state: State) -> Like:
        return likeness.of(state) if likeness else Like(state, ())

    numbers, orders = {like(start).key: 0}, [like(start).order]
    one_of: dict[Any, Any] = {}  # of objects that are equal, one is enough: memory is what ends first
    seen = _Seen([start], [(0, Event(STEP))], [()], [()])
    states = seen.states
    todo = deque([0])
    about = world, budget, horizon_ms
    while todo and len(states) < most and (len(result.graph) % 256 or time.monotonic() < until_s):
        number = todo.popleft()
        state = states[number]
        moves = world.moves(state, budget, horizon_ms)
        moves = world.alike.folded(state, moves) if world.alike is not None else moves
        result.graph[state] = moves = folded(state, moves) if fold else moves
        if not moves and (finding := world.stuck(state, budget, horizon_ms)):
            seen.stuck[number] = finding.claim
            _note(result, seen, finding, number, None, about)
        leads_to = []
        for place, move in enumerate(moves):
            which, order = like(move.state)
            after = numbers.get(which)
            if after is None:
                new = move.state._replace(ghosts=one_of.setdefault(move.state.ghosts, move.state.ghosts))
                after = numbers[which if likeness else new] = len(states)
                orders.append(order)
                seen.add(new, number, move.event)
                # what nobody can notice is not counted as an event of its own
                (todo.appendleft if move.alone and move.event.kind is STEP else todo.append)(after)
            names = names_between(orders[after], order)
            moves[place] = move._replace(state=states[after], event=one_of.setdefault(move.event, move.event), names=names)
            leads_to.append(after)
            for finding in move.found:
                _note(result, seen, finding, number, moves[place], about)
        seen.moves[number], seen.leads_to[number] = moves, leads_to
    result.complete = not todo
    result.states, result.transitions = len(numbers), sum(map(len, seen.leads_to))
    if result.complete:
        _count(result, seen)
    result.seconds = time.monotonic() - began_s
    return result


def most_states(world: World) -> int:
    """Return how many states a search may have."""
    return MOST_STATES if world.program.votes.servers == 1 else MOST_OF_SEVERAL


@dataclass
class _Seen:
    """The same graph, with a number for each state in the order in which they were met."""

    states: list[State]
    # the state from which a state was reached first, and by which event; of the first state without a meaning
    came_from: list[tuple[int, Event]]
    # what can happen in each state, and where each of it leads
    moves: list[Sequence[Move]]
    leads_to: list[Sequence[int]]
    # the states in which nothing can happen any more although a client waits, and what that breaks
    stuck: dict[int, Claim] = field(default_factory=dict)

    def add(self, state: State, before: int, event: Event) -> None:
        """Take a state that was met for the first time."""
        self.states.append(state)
        self.came_from.append((before, event))
        self.moves.append(())
        self.leads_to.append(())


def _note(
    result: Searched, seen: _Seen, finding: Finding, number: int, move: Move | None, about: tuple[World, Budget, int]
) -> None:
    if finding.claim in result.broken:
        return
    path = [(move.event, move.state)] if move is not None else []
    while number:
        before, event = seen.came_from[number]
        path.append((event, seen.states[number]))
        number = before
    result.broken[finding.claim] = Broken(finding.claim, finding.mechanism, with_numbers(about[0], path[::-1], *about[1:]))


def _count(result: Searched, seen: _Seen) -> None:
    """Count all schedules, and for each broken claim those that keep it: what is left breaks it."""
    order = _backwards(seen.leads_to)

    def keeping(claim: Claim | None) -> int:
        counts = [0] * len(seen.states)
        for number in order:
            leads_to = seen.leads_to[number]
            if leads_to:
                counts[number] = sum(
                    move.ways * counts[after]
                    for move, after in zip(seen.moves[number], leads_to, strict=True)
                    if not move.found or all(finding.claim is not claim for finding in move.found)
                )
            else:
                counts[number] = int(claim is None or seen.stuck.get(number) is not claim)
        return counts[0]

    result.schedules = keeping(None)
    for claim, broken in result.broken.items():
        broken.schedules = result.schedules - keeping(claim)


class Cycle(Exception):  # noqa: N818 - states what was found
    """A schedule returns to a state: the number of schedules has no end."""


def _backwards(leads_to: Sequence[Sequence[int]]) -> list[int]:
    """Return the numbers of the states so that each comes after all that can follow it. Raises Cycle."""
    order: list[int] = []
    status = [0] * len(leads_to)
    stack = [0]
    while stack:
        number = stack[-1]
        if status[number] == 0:
            status[number] = 1
            for after in leads_to[number]:
                if status[after] == 1:
                    raise Cycle
                if status[after] == 0:
                    stack.append(after)
        else:
            stack.pop()
            if status[number] == 1:
                status[number] = 2
                order.append(number)
    return order
