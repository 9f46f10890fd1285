"""Levels for a stage without kept levels, such as a file of one's own: what single faults break, and what they do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from app.lock import Claim, Stage
from lab.explore.code.program import Task
from lab.explore.play.graph import searched
from lab.explore.play.levels import Level, LevelKind
from lab.explore.play.texts import Said, faults, in_both, text
from lab.explore.questions import PAIR, TTL_MS, Question, by_default
from lab.explore.search.event import Budget
from lab.explore.search.search import Searched
from lab.explore.store.real_redis import RealRedis
from lab.story.verdict import promise

SEARCH_S = 20.0


def own_levels(stage: Stage, real: RealRedis, left_out: Callable[[Stage, Budget], None]) -> Iterator[Level]:
    """Yield a level for each claim that work or one fault breaks, and one for each budget in which nothing breaks.

    left_out: is called with each budget whose search takes too long.
    """
    seen: set[Claim] = set()
    for question in _plain(stage):
        found = _searched(stage, question, real)
        if found is None:
            left_out(stage, question.budget)
            continue
        for claim in found.broken:
            if claim not in seen:
                seen.add(claim)
                yield _level(stage, question, LevelKind.BREAK, to_break(claim), (claim,))
        if not found.broken:
            claims = question.tests()
            yield _level(stage, question, LevelKind.DECIDE, to_decide(question), claims)


def to_break(claim: Claim) -> Said:
    """Return the goal of a level in which a claim can be broken."""
    return text("level", "break", promise=in_both(partial(promise, claim.name)))


def to_decide(question: Question) -> Said:
    """Return the goal of a level in which nothing breaks."""
    conditions = text("level", "long_work") if question.task.work_ms else faults(question.budget)
    return text("level", "decide", conditions=conditions)


def _plain(stage: Stage) -> Iterator[Question]:
    """Yield the searches that a page can show: two requests that wait for as long as it takes, and long work or one fault."""
    for question in by_default(stage, TTL_MS):
        task = Task(TTL_MS, question.task.work_ms)
        is_single = sum(question.budget) + bool(task.work_ms) <= 1
        if question.task._replace(nap_ms=task.nap_ms) == task and question.replicas == PAIR and is_single:
            yield replace(question, task=task)


def _level(stage: Stage, question: Question, kind: LevelKind, goal: Said, claims: tuple[Claim, ...]) -> Level:
    work_ms, budget = question.task.work_ms, question.budget
    fault = "work" if work_ms else next((name for name, number in budget._asdict().items() if number), "no_fault")
    about = claims[0].name if kind is LevelKind.BREAK else fault
    return Level(f"{stage.name}-{about}", stage.lookup, kind, claims, budget, work_ms, own_goal=goal)


def _searched(stage: Stage, question: Question, real: RealRedis) -> Searched | None:
    """Return a search that is complete; None where it takes too long."""
    with searched(stage, question, real, SEARCH_S) as found:
        return found if found.complete else None
