"""Helpers of the explorer's tests: search a question with all reductions, or with some of them switched off."""

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
    """Yield the explorer of a stage, which is given by its name or its path."""
    with closing(Explorer(find_stage(str(name)), real, servers)) as explorer:
        yield explorer


def without_symmetry(world: World) -> None:
    """Treat equal servers as different."""
    world.symmetry = None


def without_unnoticed(world: World) -> None:
    """Order all commands, also if no client can notice their order."""
    world.unnoticed = None


def without_memory(world: World) -> None:
    """Treat each history of a replica as a state of its own, also if the replica remembers the same after both."""
    world.close()
    world.trees = [Tree(world.program, number, folds=False) for number in range(len(world.trees))]


# how reductions are switched off: a change of the world, whether clients are folded, and names to replace in the search
Switch = tuple[Callable[[World], None] | None, bool, dict[str, Any]]
OF_ONE_SERVER: dict[str, Switch] = {
    "symmetry": (None, False, {}),
    "memory": (without_memory, True, {}),
}


def plain(world: World) -> None:
    """Switch everything off."""
    for one in (without_symmetry, without_unnoticed, without_memory):
        one(world)


PLAIN: Switch = (plain, False, {})
AS_IT_IS: Switch = (None, True, {})


def searched(explorer: Explorer, asked: Question, switch: Switch = AS_IT_IS, within_s: float = WITHIN_S) -> Searched:
    """Search a question with some reductions switched off."""
    change, fold, replaced = switch

    def find() -> Searched:
        world = explorer.world(asked.task, asked.replicas)
        explorer._worlds.clear()  # no other search may use a changed world
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
    """Return the facts that are equal with and without a reduction, if it counts the schedules that it folds."""
    return {
        "schedules": found.schedules,
        "served": found.served > 0,
        "broken": {claim.name: (len(one.events), one.schedules) for claim, one in found.broken.items()},
    }


def lengths(found: Searched) -> dict[str, int]:
    """Return the length of a shortest schedule for each broken claim."""
    return {claim.name: len(one.events) for claim, one in found.broken.items()}
