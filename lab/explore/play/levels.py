"""Define the levels: their goals, the book's levels in the order in which they are taught, and levels for a user's own lock."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from app.lock import Claim, Stage
from lab.explore.code.program import Task
from lab.explore.questions import PAIR, TTL_MS, Question, SearchOptions
from lab.explore.search.event import NONE, Budget
from lab.language import Language
from lab.story import say
from lab.story.verdict import promise


class LevelKind(StrEnum):
    """The three kinds of level."""

    # a claim can be broken: break it
    BREAK = "BREAK"
    # decide first whether it can be broken at all
    DECIDE = "DECIDE"
    # moves that broke another stage: predict their result here, then play them
    SAME_MOVES = "SAME_MOVES"


@dataclass(frozen=True)
class Level:
    """One level."""

    # the name of its page, also in its address
    name: str
    # a stage, or the path of a stage's file
    stage: str
    kind: LevelKind
    # the level is won when one of these breaks; empty if its search decides which
    claims: tuple[Claim, ...]
    # the search whose graph is in its page
    question: Question
    # SAME_MOVES: the level whose shortest schedule is played here
    moves_of: str = ""
    # whether it was made for a user's lock; the goals and lessons of all other levels are in the words of the lab
    is_own: bool = False

    def goal(self, language: Language) -> str:
        """Return the goal of the level in one sentence, as an order or a question."""
        text = partial(say.text, "level", language=language)
        if not self.is_own:
            return say.text("goal", self.name, language)
        if self.kind is LevelKind.BREAK:
            return text("break", promise=promise(self.claims[0].name, language))
        long_work = self.question.task.work_ms > 0
        return text("decide", conditions=text("long_work") if long_work else self.faults(language))

    def lesson(self, language: Language) -> str:
        """Return the lesson that is shown when the level is over."""
        return "" if self.is_own else say.text("lesson", self.name, language)

    def faults(self, language: Language) -> str:
        """Return the faults of the level in words."""
        return say.faults(self.question.budget._asdict(), language)

    @property
    def short_code(self) -> bool:
        """Return whether the page begins with the lines of code that matter, and the rest is folded."""
        return self.stage in FIRST


FIRST = "none", "incr", "setnx"

PAUSE, CRASH, RESEND, LOST_REPLY = Budget(pauses=1), Budget(crashes=1), Budget(resends=1), Budget(lost_replies=1)
THEFT = (Claim.releases_only_its_own, Claim.releases_atomically)
LOST = (Claim.exclusive, Claim.held_to_the_end, Claim.survives_a_freeze, Claim.survives_a_late_freeze, *THEFT)
FREED = (Claim.freed_after_crash, Claim.acquires_atomically)


def _kept(
    name: str,
    claims: tuple[Claim, ...],
    budget: Budget,
    kind: LevelKind = LevelKind.BREAK,
    work_ms: int = 0,
    moves_of: str = "",
) -> Level:
    return Level(name, name.partition("-")[0], kind, claims, Question(Task(TTL_MS, work_ms), budget), moves_of)


LEVELS = (
    _kept("none", (Claim.exclusive,), NONE),
    _kept("incr", LOST, NONE, LevelKind.DECIDE),
    _kept("setnx-crash", FREED, CRASH),
    _kept("setnx-lost-reply", (Claim.acquires_atomically, Claim.freed_after_a_failed_release), LOST_REPLY),
    _kept("setnx_expire-crash", FREED, CRASH),
    _kept("ttl-same-crash", FREED, CRASH, LevelKind.SAME_MOVES, moves_of="setnx_expire-crash"),
    _kept("ttl-pause", THEFT, PAUSE),
    _kept("uuid-same-pause", THEFT, PAUSE, LevelKind.SAME_MOVES, moves_of="ttl-pause"),
    _kept("uuid-pause", THEFT, PAUSE),
    _kept("lua-same-pause", THEFT, PAUSE, LevelKind.SAME_MOVES, moves_of="uuid-pause"),
    _kept("lua-release", THEFT, PAUSE, LevelKind.DECIDE),
    _kept("lua-work", LOST, NONE, work_ms=5000),
    _kept("watchdog-work", LOST, NONE, LevelKind.DECIDE, work_ms=5000),
    _kept("watchdog-pause", LOST, PAUSE, LevelKind.DECIDE),
    _kept("watchdog_abort-pause", LOST, PAUSE),
    _kept("fencing-same-pause", LOST, PAUSE, LevelKind.SAME_MOVES, moves_of="watchdog_abort-pause"),
    _kept("fencing-pause", LOST, PAUSE, LevelKind.DECIDE),
    _kept("uuid-resend", (Claim.survives_a_lost_reply,), RESEND),
)


def own_levels(stage: Stage) -> Iterator[Level]:
    """Yield a level for each default search that a page can show: two requests, and at most long work or one fault."""
    for question in SearchOptions().questions(stage):
        task = Task(question.task.ttl_ms, question.task.work_ms)
        is_single = sum(question.budget) + bool(task.work_ms) <= 1
        if question.task._replace(nap_ms=task.nap_ms) == task and question.replicas == PAIR and is_single:
            faults = (name for name, number in question.budget._asdict().items() if number)
            name = f"{stage.name}-{'work' if task.work_ms else next(faults, 'no_fault')}"
            yield Level(name, stage.lookup, LevelKind.DECIDE, (), replace(question, task=task), is_own=True)


def levels_to_play(level: Level, broken: Collection[Claim], seen: Collection[Claim]) -> list[Level]:
    """Return a level with claims as it is; otherwise one for each broken claim not in ``seen``, or one that asks for all."""
    if level.claims:
        return [level]
    if not broken:
        return [replace(level, claims=level.question.tests())]
    stage, breaks = level.name.rpartition("-")[0], partial(replace, level, kind=LevelKind.BREAK)
    return [breaks(name=f"{stage}-{claim.name}", claims=(claim,)) for claim in broken if claim not in seen]
