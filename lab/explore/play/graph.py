"""Find a goal in the graph of a search: the moves that reach it, and the distance of each state from it."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Collection, Iterator

from app.lock import Claim, Stage
from lab.explore.decision import Explorer
from lab.explore.questions import PAIR, Question
from lab.explore.search.event import ScheduleEvent
from lab.explore.search.search import Searched, search
from lab.explore.store.real_redis import RealRedis

NEVER = -1  # the distance of a state from which the goal cannot be reached


@contextlib.contextmanager
def searched(stage: Stage, question: Question, real: RealRedis, within_s: float) -> Iterator[Searched]:
    """Search a level. While the block runs, its world answers questions. within_s: seconds of processor time."""
    with contextlib.closing(Explorer(stage, real)) as explorer:

        def found() -> Searched:
            world = explorer.world(question.task, PAIR)
            world.serves = question.fits
            return search(world, question.budget, question.horizon_ms, within_s)

        yield explorer.learning(found)


class Graph:
    """The graph of a complete search, with a goal. States are numbers; 0 is the start."""

    def __init__(self, result: Searched, goal: Collection[Claim]) -> None:
        """Take the search, and the claims of the goal: one of them must break."""
        graph = result.graph
        assert graph is not None  # noqa: S101 - the search was just made
        self.graph, self.result, self.goal, self.world = graph, result, goal, graph.world
        everywhere = range(len(graph))
        self.states = [graph.state(number) for number in everywhere]
        # by state: its moves, their next states, and their findings; at the end of a schedule, also the findings of its end
        self.moves = [graph.moves_of(state) for state in self.states]
        self.leads_to = [[graph.leads_to[place] for place in graph.places(number)] for number in everywhere]
        self.broken = [
            [tuple(dict.fromkeys((*move.findings, *graph.ends.get(after, ())))) for move, after in zip(*both, strict=True)]
            for both in zip(self.moves, self.leads_to, strict=True)
        ]
        self.distances = self._distances()  # for each state from which the goal can be reached: the number of events to the goal

    def reaches(self, state: int, number: int) -> bool:
        """Return whether a move of a state breaks a claim of the goal."""
        return any(finding.claim in self.goal for finding in self.broken[state][number])

    def _distances(self) -> dict[int, int]:
        """Return the distances. Begin with the states in which one move reaches the goal, and go backwards over the graph."""
        before: dict[int, list[int]] = {}
        distances: dict[int, int] = {}
        for state, leads_to in enumerate(self.leads_to):
            for number, after in enumerate(leads_to):
                before.setdefault(after, []).append(state)
                if self.reaches(state, number):
                    distances[state] = 1
        queue = deque(distances)
        while queue:
            state = queue.popleft()
            for earlier in before.get(state, ()):
                if earlier not in distances:
                    distances[earlier] = distances[state] + 1
                    queue.append(earlier)
        return distances

    def shortest(self) -> list[ScheduleEvent]:
        """Return a shortest schedule that reaches the goal; empty if there is none."""
        return min((broken.events for claim, broken in self.result.broken.items() if claim in self.goal), key=len, default=[])

    def breaking(self) -> int:
        """Return the number of schedules that reach the goal."""
        return self.result.schedules - self.graph.keeping(self.goal)
