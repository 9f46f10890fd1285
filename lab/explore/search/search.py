"""Breadth-first search over everything that can happen, within a budget of faults.

A state is where each replica is in its tree, what each server holds in its table, what the clock reads, and the ghosts. The first
state that breaks a claim is reached by a shortest schedule. A pass backwards over the graph counts all schedules, and those that
break each claim. Of the graph, numbers are kept: a state is a row of small numbers, and its moves are found again when needed.
"""

from __future__ import annotations

import contextlib
import gc
import random
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

from app.lock import Claim
from lab.explore.search.alike import NotAlike
from lab.explore.search.budget import Budget
from lab.explore.search.counting import count
from lab.explore.search.event import STEP, Event
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.likeness import FEW, Likeness, NewName
from lab.explore.search.moves import end, end_of, judged, moves
from lab.explore.search.state import Did, Move, State
from lab.explore.search.symmetry import folded
from lab.explore.search.unnoticed import NewCommand
from lab.explore.search.world import World

MOST_STATES = 500_000  # of some 380 bytes each: a search with more would need more than 300 MB
LOOKS_EVERY = 8  # states, at the clock of the machine


@dataclass
class Broken:
    """A claim that some schedule breaks."""

    finding: Finding
    # a shortest schedule
    events: list[Event]
    # how many schedules break it
    schedules: int = 0


@dataclass
class Witness:
    """What was at stake in a search: of all states in which schedules end, those in which something has happened."""

    ends: int = 0
    # in which somebody was served; in which somebody gave up
    served: int = 0
    refused: int = 0
    # how many schedules the horizon has cut, with somebody still waiting
    cut: int = 0


@dataclass
class Searched:
    """What a search has found."""

    budget: Budget
    horizon_ms: int
    # whether the graph has one move for all clients that have done nothing yet; the numbers of schedules are of all of them
    folded: bool = False
    # whether every schedule was looked at
    complete: bool = False
    schedules: int = 0
    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    broken: dict[Claim, Broken] = field(default_factory=dict)
    witness: Witness = field(default_factory=Witness)
    graph: Graph | None = None
    on_broken: Callable[[Broken], None] | None = None


class Graph:
    """The graph of a search. A state is numbered in the order in which it was met first; 0 is the start."""

    _row = Struct(f"<{len(State._fields)}I")

    def __init__(self, world: World, budget: Budget, horizon_ms: int, fold: bool) -> None:
        self.world, self.budget, self.horizon_ms, self.fold = world, budget, horizon_ms, fold
        self.likeness = Likeness(world) if fold and len(world.trees) > FEW else None
        # of each field of a state, its values
        self._known: list[dict[Any, int]] = [{} for _ in State._fields]
        self._values: list[list[Any]] = [[] for _ in State._fields]
        self.keys: list[bytes] = []
        self._states: dict[int, State] = {}  # where the key is not the state as a row
        self._numbers: dict[bytes, int] = {}
        # the state from which a state was reached first, and by which event
        self.came_from, self._by_event = array("i"), array("i")
        self._events: list[Event] = []
        self._event_numbers: dict[Event, int] = {}
        # of each state, where its moves begin, and how many there are; of each move, where it leads, and for how many it stands
        self.begins, self.numbers = array("q"), array("H")
        self.leads_to, self.ways = array("i"), array("H")
        self.found: dict[int, tuple[Finding, ...]] = {}  # by move, what it breaks
        self.ends: dict[int, tuple[Finding, ...]] = {}  # by state in which nothing can happen any more, what that breaks
        self.cut: set[int] = set()  # of those, the states in which somebody still waits at the horizon

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, state: State, before: int, event: Event) -> tuple[int, bool]:
        """Return the number of a state, and whether it is new."""
        key = self.key(state)
        number = len(self.keys)
        found = self._numbers.setdefault(key, number)
        if found < number:
            return found, False
        self.keys.append(key)
        if self.likeness is not None:
            self._states[number] = state
        self.came_from.append(before)
        if event not in self._event_numbers:
            self._event_numbers[event] = len(self._events)
            self._events.append(event)
        self._by_event.append(self._event_numbers[event])
        self.begins.append(0)
        self.numbers.append(0)
        return number, True

    def key(self, state: State) -> bytes:
        """Return what is equal for states that are one in this graph."""
        if self.likeness is not None and (key := self.likeness.key(state)) is not None:
            return key
        return self._row.pack(*[self._part(place, part) for place, part in enumerate(state)])

    def _part(self, place: int, part: Any) -> int:
        known = self._known[place]
        number = known.get(part)
        if number is None:
            number = known[part] = len(known)
            self._values[place].append(part)
        return number

    def state(self, number: int) -> State:
        """Return the state of a number."""
        if self.likeness is not None:
            return self._states[number]
        return State(*[values[part] for values, part in zip(self._values, self._row.unpack(self.keys[number]), strict=True)])

    def forget(self, number: int) -> None:
        """Forget what a state is, once its moves are known: its key is enough to find it again."""
        self._states.pop(number, None)

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

    def path(self, number: int, last: Move | None) -> list[Event]:
        """Return the events of the first way to a state, and of a move from there."""
        states, events = [number], [last.event] if last is not None else []
        while number:
            events.append(self._events[self._by_event[number]])
            number = self.came_from[number]
            states.append(number)
        return events[::-1] if self.world.alike is None else self._with_numbers(states[-2::-1], last)

    def _with_numbers(self, states: Sequence[int], last: Move | None) -> list[Event]:
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
            with contextlib.suppress(NewCommand, NewName):
                return _searched(world, budget, horizon_ms, until_s, fold, on_broken)
    finally:
        if collects:
            gc.enable()


def _searched(
    world: World, budget: Budget, horizon_ms: int, until_s: float, fold: bool, on_broken: Callable[[Broken], None]
) -> Searched:
    began_s = time.monotonic()
    graph = Graph(world, budget, horizon_ms, fold)
    result = Searched(budget, horizon_ms, folded=fold, graph=graph, on_broken=on_broken)
    begun = begin(world, budget)
    graph.number(begun.state, 0, Event(STEP))
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
        graph.forget(number)
    result.complete = not todo
    result.states, result.transitions = len(graph), len(graph.leads_to)
    if result.complete:
        count(result, graph)
    result.seconds = time.monotonic() - began_s
    return result


def begin(world: World, budget: Budget) -> Move:
    """Return how each replica has run to its first operation, and what that breaks: a lock may grant before it asks anybody.

    What it breaks is noted where a schedule ends: a later loss makes the better story, if there is one.
    """
    state = world.start(budget)
    marks = tuple([(client, number, mark) for client, tree in enumerate(world.trees) for number, mark in tree.nodes[0].marks])
    return judged(world, state, Did(Event(STEP), state, marks=marks), budget)


def started(world: World, budget: Budget) -> State:
    """Return the state in which each replica has run to its first operation."""
    return begin(world, budget).state


def _ended(result: Searched, graph: Graph, number: int, state: State) -> None:
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


def _note(result: Searched, graph: Graph, found: Iterable[Finding], number: int, move: Move | None) -> None:
    for finding in found:
        if finding.claim not in result.broken:
            broken = result.broken[finding.claim] = Broken(finding, graph.path(number, move))
            if result.on_broken is not None:
                result.on_broken(broken)


def random_schedules(world: World, budget: Budget, horizon_ms: int, number: int, seed: int) -> list[list[Event]]:
    """Draw random schedules, each to its end, and return each once. No graph is needed, and nothing is folded."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    schedules: dict[tuple[Event, ...], None] = {}
    for _ in range(number):
        state, events = started(world, budget), []
        while found := moves(world, state, budget, horizon_ms):
            move = chance.choice(found)
            events.append(move.event)
            state = move.state
        schedules[tuple(events)] = None
    return [list(events) for events in schedules]
