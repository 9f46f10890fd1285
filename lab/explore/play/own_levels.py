"""Levels for a stage without kept levels, such as a file of one's own: what single faults break, and what they do not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial

from app.lock import Claim, Stage
from lab.explore.code.program import Task
from lab.explore.play.levels import Level, LevelKind
from lab.explore.play.texts import faults, promised, text
from lab.explore.questions import PAIR, SearchOptions


def own_levels(stage: Stage) -> Iterator[Level]:
    """Yield a level for each search that a page can show: two requests, with long work, with one fault, or with neither."""
    for question in SearchOptions().questions(stage):
        task = Task(question.task.ttl_ms, question.task.work_ms)
        is_single = sum(question.budget) + bool(task.work_ms) <= 1
        if question.task._replace(nap_ms=task.nap_ms) == task and question.replicas == PAIR and is_single:
            named = (name for name, number in question.budget._asdict().items() if number)
            about = "work" if task.work_ms else next(named, "no_fault")
            yield Level(f"{stage.name}-{about}", stage.lookup, LevelKind.DECIDE, (), replace(question, task=task))


def asked(level: Level, broken: Collection[Claim], seen: Collection[Claim]) -> list[Level]:
    """Return what a level asks when it was searched: to break each claim that is not seen yet, or whether there is one."""
    if level.claims:
        return [level]
    if not broken:
        conditions = text("level", "long_work") if level.question.task.work_ms else faults(level.question.budget)
        return [replace(level, claims=level.question.tests(), own_goal=text("level", "decide", conditions=conditions))]
    stage, breaks = level.name.rpartition("-")[0], partial(replace, level, kind=LevelKind.BREAK)
    return [
        breaks(name=f"{stage}-{claim.name}", claims=(claim,), own_goal=text("level", "break", promise=promised(claim)))
        for claim in broken
        if claim not in seen
    ]
