"""The levels: what one asks of its player, and the kept ones in teaching order, a way up the ladder."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.lock import Claim
from lab.explore.code.program import Task
from lab.explore.play.texts import Said
from lab.explore.questions import TTL_MS, Question
from lab.explore.search.event import NONE, Budget


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
    # an order or a question, in one sentence; the Chinese of a text alone is in the catalogue
    goal: str | Said
    # the level is won when one of these breaks
    claims: tuple[Claim, ...]
    budget: Budget = NONE
    work_ms: int = 0
    # SAME_MOVES: the level whose shortest schedule is played here
    moves_of: str = ""
    # what the level teaches, shown when it is over
    lesson: str = ""

    @property
    def question(self) -> Question:
        """The search whose graph its page has."""
        return Question(Task(TTL_MS, self.work_ms), self.budget)

    @property
    def short_code(self) -> bool:
        """Whether the page begins with the lines of code that matter, and the rest is folded."""
        return self.stage in FIRST


FIRST = "none", "incr", "setnx"


PAUSE, CRASH, RESEND, LOST_REPLY = Budget(pauses=1), Budget(crashes=1), Budget(resends=1), Budget(lost_replies=1)
THEFT = (Claim.releases_only_its_own, Claim.releases_atomically)
LOST = (Claim.exclusive, Claim.held_to_the_end, Claim.survives_a_freeze, Claim.survives_a_late_freeze, *THEFT)
FREED = (Claim.freed_after_crash, Claim.acquires_atomically)


def _kept(
    name: str, goal: str, claims: tuple[Claim, ...], budget: Budget, lesson: str, kind: LevelKind = LevelKind.BREAK, **others: Any
) -> Level:
    return Level(name, name.partition("-")[0], kind, goal, claims, budget, lesson=lesson, **others)


LEVELS = (
    _kept(
        "none",
        "Make one of the two increments disappear.",
        (Claim.exclusive,),
        NONE,
        "Both clients read the same number. The second write overwrote the first. No fault was needed.",
    ),
    _kept(
        "incr",
        "Can an increment disappear if one command reads and writes?",
        LOST,
        NONE,
        "Nothing can happen inside one command. Work that is one command needs no lock.",
        LevelKind.DECIDE,
    ),
    _kept(
        "setnx-crash",
        "Make B wait for the lock for ever.",
        FREED,
        CRASH,
        "Only the holder deletes the key. A holder that dies never does.",
    ),
    _kept(
        "setnx-lost-reply",
        "One reply is lost, and no process dies. Make a client wait for the lock for ever.",
        (Claim.acquires_atomically, Claim.freed_after_a_failed_release),
        LOST_REPLY,
        "Redis has set the key, and its client does not know. The client raises an error, and nobody deletes the key.",
    ),
    _kept(
        "setnx_expire-crash",
        "The code sets a TTL. Make B wait for the lock for ever even so.",
        FREED,
        CRASH,
        "The key and its TTL are two commands. A crash between them leaves a key without a TTL.",
    ),
    _kept(
        "ttl-same-crash",
        "Under setnx_expire, these moves made B wait for ever. Do they still, if one command sets the key and its TTL?",
        FREED,
        CRASH,
        "The key never exists without its TTL: when the time is over, B gets the lock.",
        LevelKind.SAME_MOVES,
        moves_of="setnx_expire-crash",
    ),
    _kept(
        "ttl-pause",
        "Make A delete B’s lock, or B delete A’s.",
        THEFT,
        PAUSE,
        "The release deletes the key, and does not ask whose it is.",
    ),
    _kept(
        "uuid-same-pause",
        "Under ttl, these moves deleted another client’s lock. Do they still, if the release compares the owner first?",
        THEFT,
        PAUSE,
        "The release reads the key, finds the token of another client, and deletes nothing.",
        LevelKind.SAME_MOVES,
        moves_of="ttl-pause",
    ),
    _kept(
        "uuid-pause",
        "The release compares the owner first. Make a client delete the other client’s lock even so.",
        THEFT,
        PAUSE,
        "Comparing and deleting are two commands. Between them, the lock can expire and get another owner.",
    ),
    _kept(
        "lua-same-pause",
        "Under uuid, these moves came between comparing and deleting. What do they do if one script does both?",
        THEFT,
        PAUSE,
        "Nothing can come between comparing and deleting: A has finished before it can be paused.",
        LevelKind.SAME_MOVES,
        moves_of="uuid-pause",
    ),
    _kept(
        "lua-release",
        "One script compares and deletes. Can a client still delete another client’s lock?",
        THEFT,
        PAUSE,
        "The release is sound. That does not make the lock sound: see the next level.",
        LevelKind.DECIDE,
    ),
    _kept(
        "lua-work",
        "The work takes 5 seconds, and the TTL is 3 seconds. Lose an increment without any fault.",
        LOST,
        NONE,
        "The lock expires under a holder that is still at work. Time alone is enough.",
        work_ms=5000,
    ),
    _kept(
        "watchdog-work",
        "The work takes 5 seconds, and a thread renews the TTL of 3 seconds. Can an increment be lost without a fault?",
        LOST,
        NONE,
        "While the process runs, its renewal runs as well.",
        LevelKind.DECIDE,
        work_ms=5000,
    ),
    _kept(
        "watchdog-pause",
        "A thread renews the lock. Can one pause lose an increment?",
        LOST,
        PAUSE,
        "A process that is paused renews nothing. When it resumes, it works on without the lock.",
        LevelKind.DECIDE,
    ),
    _kept(
        "watchdog_abort-pause",
        "The client checks its lock just before it writes. Lose an increment even so.",
        LOST,
        PAUSE,
        "Between the last check and the write there is always a moment, and a pause fits into it.",
    ),
    _kept(
        "fencing-same-pause",
        "Under watchdog_abort, these moves lost an increment. Do they still, if the resource refuses old numbers?",
        LOST,
        PAUSE,
        "The late write carries an old number. The resource refuses it, and nothing is lost.",
        LevelKind.SAME_MOVES,
        moves_of="watchdog_abort-pause",
    ),
    _kept(
        "fencing-pause",
        "The resource refuses each write with an old number. Can one pause lose an increment?",
        LOST,
        PAUSE,
        "A lock alone cannot survive a pause. A lock and a resource that checks its number can.",
        LevelKind.DECIDE,
    ),
    _kept(
        "uuid-resend",
        "A reply is lost, and the client sends its command again. Make a client wait for a lock that nobody uses.",
        (Claim.survives_a_lost_reply,),
        RESEND,
        "The first command got the lock, and its reply was lost. The second finds the key, and waits for itself.",
    ),
)
