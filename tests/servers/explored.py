"""What tests of the explorer share: a question, searched with or without each of its reductions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app.lock import Claim
from lab.explore.code.program import Task
from lab.explore.code.tree import Tree
from lab.explore.decision import Explorer
from lab.explore.questions import Question
from lab.explore.search import search as searching
from lab.explore.search.event import NONE, Budget
from lab.explore.search.search import Searched, search
from lab.explore.search.world import World
from lab.scenario.stages import find_stage

TTL_MS = 3000
WITHIN_S = 300.0

Facts = dict[str, Any]


def question(budget: Budget = NONE, replicas: int = 2, **task: Any) -> Question:
    """Return a question with the default TTL; task: fields of its task."""
    return Question(Task(**({"ttl_ms": TTL_MS} | task)), budget, replicas)


@contextmanager
def exploring(real, name: str | Path, servers: int | None = None) -> Iterator[Explorer]:
    """Explore a stage, by its name or its path."""
    with closing(Explorer(find_stage(str(name)), real, servers)) as explorer:
        yield explorer


class TreeOfMoments(Tree):
    """A tree in which the same step at two moments leads to two nodes, also if the code did not look at the clock."""

    def __init__(self, program, number, at_ms=0):
        super().__init__(program, number, at_ms, folds=False)
        self.moments: dict[int, dict[Any, int]] = {}

    def step(self, node, thread, result, at_ms):
        self._at_any_time = self.moments.setdefault(at_ms, {})
        return super().step(node, thread, result, at_ms)


def without_symmetry(world: World) -> None:
    """Let each of several servers count for itself."""
    world.symmetry = None


def without_unnoticed(world: World) -> None:
    """Let each command have a moment of its own."""
    world.unnoticed = None


def without_timeless(world: World) -> None:
    """Let the same step at two moments be two."""
    world.close()
    world.trees = [TreeOfMoments(world.program, number) for number in range(len(world.trees))]


def without_memory(world: World) -> None:
    """Let each history of a replica be a state of its own, whatever the replica remembers of it."""
    world.close()
    world.trees = [Tree(world.program, number, folds=False) for number in range(len(world.trees))]


# what is switched off: in the world, whether clients are folded, and what is replaced in the search
Switch = tuple[Callable[[World], None] | None, bool, dict[str, Any]]
OF_ONE_SERVER: dict[str, Switch] = {
    "symmetry": (None, False, {}),
    "steps at any time": (without_timeless, True, {}),
    "memory": (without_memory, True, {}),
}


def plain(world: World) -> None:
    """Switch everything off."""
    for one in (without_symmetry, without_unnoticed, without_timeless):
        one(world)


PLAIN: Switch = (plain, False, {})
AS_IT_IS: Switch = (None, True, {})


def searched(explorer: Explorer, asked: Question, switch: Switch = AS_IT_IS, within_s: float = WITHIN_S) -> Searched:
    """Search a question with something switched off."""
    change, fold, replaced = switch

    def find() -> Searched:
        world = explorer.world(asked.task, asked.replicas)
        explorer._worlds.clear()  # a changed world is of no use for others
        world.serves = asked.fits
        if change is not None:
            change(world)
        with ExitStack() as stack:
            stack.callback(world.close)
            for name, value in replaced.items():
                stack.enter_context(patch.object(searching, name, value))
            return search(world, asked.budget, asked.horizon_ms, within_s, fold)

    return explorer.learning(find)


def claims(found: Searched) -> set[Claim]:
    return set(found.broken)


def facts(found: Searched) -> Facts:
    """Return what every search of a question must find: with reductions that count what they fold."""
    return {
        "schedules": found.schedules,
        "served": found.served > 0,
        "broken": {claim.name: (len(one.events), one.schedules) for claim, one in found.broken.items()},
    }


def lengths(found: Searched) -> dict[str, int]:
    """Return of each broken claim how long a shortest schedule is."""
    return {claim.name: len(one.events) for claim, one in found.broken.items()}
