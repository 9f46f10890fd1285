"""The graph of a search, and where in it a goal is: which moves reach it, and how far each state is from it."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from app.lock import Claim
from lab.explore.event import Event
from lab.explore.rules import Finding
from lab.explore.search import Searched
from lab.explore.state import Move, State
from lab.explore.world import World

NEVER = -1  # the distance of a state from which the goal cannot be reached


@dataclass
class Graph:
    """A search that is complete, seen from its goal."""

    world: World
    found: Searched
    horizon_ms: int
    # the goal: one of these breaks
    goal: Collection[Claim]
    # of each state, in the order of its moves: what the move breaks
    broken: dict[State, list[tuple[Finding, ...]]] = field(init=False)
    # how many events each state is from the goal; a state that never gets there is not in it
    distances: dict[State, int] = field(init=False)

    def __post_init__(self) -> None:
        self.broken = {state: [self._breaks(move) for move in moves] for state, moves in self.found.graph.items()}
        self.distances = self._distances()

    @property
    def start(self) -> State:
        """Return the state in which the search began."""
        assert self.found.start is not None  # noqa: S101 - search sets it
        return self.found.start

    def _breaks(self, move: Move) -> tuple[Finding, ...]:
        """Return what a move breaks: also that clients wait for ever in the state to which it leads."""
        over = not self.found.graph[move.state]
        stuck = self.world.stuck(move.state, self.found.budget, self.horizon_ms) if over else None
        return tuple(dict.fromkeys((*move.found, stuck) if stuck else move.found))

    def reaches(self, state: State, number: int) -> bool:
        """Return whether a move of a state breaks a claim of the goal."""
        return any(finding.claim in self.goal for finding in self.broken[state][number])

    def _distances(self) -> dict[State, int]:
        """Return the distances, backwards over the graph: first the states in which one move reaches the goal."""
        before: dict[State, list[State]] = {}
        distances: dict[State, int] = {}
        for state, moves in self.found.graph.items():
            for number, move in enumerate(moves):
                before.setdefault(move.state, []).append(state)
                if self.reaches(state, number):
                    distances[state] = 1
        queue = deque(distances)
        while queue:
            state = queue.popleft()
            for one in before.get(state, ()):
                if one not in distances:
                    distances[one] = distances[state] + 1
                    queue.append(one)
        return distances

    def shortest(self) -> list[Event]:
        """Return a shortest schedule that reaches the goal; empty if there is none."""
        events: list[Event] = []
        state, left = self.start, self.distances.get(self.start, 0)
        while left:
            move = next(
                move
                for number, move in enumerate(self.found.graph[state])
                if (self.reaches(state, number) if left == 1 else self.distances.get(move.state) == left - 1)
            )
            events.append(move.event)
            state, left = move.state, left - 1
        return events

    def breaking(self) -> int:
        """Return how many schedules reach the goal: all but those that never do."""
        kept: dict[State, int] = {}
        stack = [self.start]
        while stack:
            state = stack[-1]
            if self.found.graph[state]:
                next_states = [
                    move.state for number, move in enumerate(self.found.graph[state]) if not self.reaches(state, number)
                ]
            else:
                next_states = []
            unknown = [one for one in next_states if one not in kept]
            stack += unknown
            if not unknown:
                stack.pop()
                kept[state] = sum(kept[one] for one in next_states) if self.found.graph[state] else 1
        return self.found.schedules - kept[self.start]
