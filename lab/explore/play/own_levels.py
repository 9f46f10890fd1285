"""Levels for a stage without kept levels, such as a file of one's own: what single faults break, and what they do not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial

from app.lock import Claim, Stage
from lab.explore.code.program import Task
from lab.explore.play.levels import Level, LevelKind
from lab.explore.play.texts import Said, faults, in_both, text
from lab.explore.questions import PAIR, Question, SearchOptions
from lab.story.verdict import promise


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
        return [replace(level, claims=level.question.tests(), own_goal=to_decide(level.question))]
    stage, breaks = level.name.rpartition("-")[0], partial(replace, level, kind=LevelKind.BREAK)
    return [
        breaks(name=f"{stage}-{claim.name}", claims=(claim,), own_goal=to_break(claim)) for claim in broken if claim not in seen
    ]


def to_break(claim: Claim) -> Said:
    """Return the goal of a level in which a claim can be broken."""
    return text("level", "break", promise=in_both(partial(promise, claim.name)))


def to_decide(question: Question) -> Said:
    """Return the goal of a level in which nothing breaks."""
    conditions = text("level", "long_work") if question.task.work_ms else faults(question.budget)
    return text("level", "decide", conditions=conditions)
