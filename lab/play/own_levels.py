"""Levels for a stage without kept levels, such as a file of one's own: what single faults break, and what they do not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing

from app.lock import Claim, Stage
from lab.explore.budget import Budget
from lab.explore.decision import Question, questions, tested
from lab.explore.program import Program
from lab.explore.search import Cycle, Searched, search
from lab.explore.server_table import RealRedis, ServerTable
from lab.explore.votes import servers_of
from lab.explore.world import World
from lab.play.level import CLIENTS, TTL_MS, Kind, Level

SEARCH_S = 20.0


def own_levels(stage: Stage, real: RealRedis, left_out: Callable[[str], None]) -> Iterator[Level]:
    """Yield a level for each claim that work or one fault breaks, and one for each budget in which nothing breaks.

    left_out: is called with each budget whose search takes too long.
    """
    seen: set[Claim] = set()
    for question in questions(CLIENTS, TTL_MS, None, None):
        if sum(question.budget) > 1:
            return
        found = _searched(stage, question, real)
        if found is None:
            left_out(f"{stage.name} with {question.budget}: its search takes too long")
            continue
        for broken in found.broken.values():
            if broken.claim not in seen:
                seen.add(broken.claim)
                yield _level(stage, question, Kind.BREAK, f"Break this promise: “{broken.claim.value}”", (broken.claim,))
        if not found.broken:
            claims = tuple(tested(question.budget, question.work_ms, TTL_MS, servers_of(stage)))
            work = "work longer than the TTL" if question.work_ms else str(question.budget)
            yield _level(stage, question, Kind.DECIDE, f"Can this lock be broken with {work}?", claims)


def _level(stage: Stage, question: Question, kind: Kind, goal: str, claims: tuple[Claim, ...]) -> Level:
    about = claims[0].name if kind is Kind.BREAK else _named(question.budget, question.work_ms)
    return Level(f"{stage.name}-{about}", stage.lookup, kind, goal, claims, question.budget, question.work_ms)


def _named(budget: Budget, work_ms: int) -> str:
    return "work" if work_ms else str(budget).replace(" ", "_")


def _searched(stage: Stage, question: Question, real: RealRedis) -> Searched | None:
    """Return a search that is complete; None where it takes too long, or a schedule returns to where it was."""
    program = Program(stage, TTL_MS, question.work_ms, real)
    with closing(World(program, CLIENTS, ServerTable(real), ServerTable(real))) as world:
        try:
            found = search(world, question.budget, question.horizon_ms, time.monotonic() + SEARCH_S)
        except Cycle:
            return None
        return found if found.complete else None
