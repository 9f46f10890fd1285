"""What one level asks of its player."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.lock import Claim
from lab.explore.search.budget import Budget

NO_FAULT = Budget()
CLIENTS = 2
TTL_MS = 3000


class LevelKind(StrEnum):
    """The three kinds of level."""

    # a claim can be broken: break it
    BREAK = "break it"
    # decide first whether it can be broken at all
    DECIDE = "can it be broken?"
    # moves that broke another stage: predict what they do here, then play them
    SAME_MOVES = "the same moves"


@dataclass(frozen=True)
class Level:
    """One level."""

    # of its page and its address
    name: str
    # a stage, or the path of a stage's file
    stage: str
    kind: LevelKind
    # an order or a question, in one sentence
    goal: str
    # the level is won when one of these breaks
    claims: tuple[Claim, ...]
    budget: Budget = NO_FAULT
    work_ms: int = 0
    ttl_ms: int = TTL_MS
    # SAME_MOVES: the level whose shortest schedule is played here
    moves_of: str = ""
    # of a level that is made for a lock, its goal in Chinese; that of a kept level is in the catalogue
    goal_in_chinese: str = ""
    # whether the page begins with the lines of code that matter, and the rest is folded
    short_code: bool = False
    # what the level teaches, shown when it is over
    lesson: str = ""
