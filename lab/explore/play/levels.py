"""The levels: what one asks of its player, and the kept ones in teaching order, a way up the ladder."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.lock import Claim
from lab.explore.play.texts import Said
from lab.explore.questions import TTL_MS
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
    ttl_ms: int = TTL_MS
    # SAME_MOVES: the level whose shortest schedule is played here
    moves_of: str = ""
    # whether the page begins with the lines of code that matter, and the rest is folded
    short_code: bool = False
    # what the level teaches, shown when it is over
    lesson: str = ""


PAUSE, CRASH, RESEND, LOST_REPLY = Budget(pauses=1), Budget(crashes=1), Budget(resends=1), Budget(lost_replies=1)
THEFT = (Claim.releases_only_its_own, Claim.releases_atomically)
LOST = (Claim.exclusive, Claim.held_to_the_end, Claim.survives_a_freeze, Claim.survives_a_late_freeze, *THEFT)
FREED = (Claim.freed_after_crash, Claim.acquires_atomically)

LEVELS = (
    Level(
        "none",
        "none",
        LevelKind.BREAK,
        "Make one of the two increments disappear.",
        (Claim.exclusive,),
        short_code=True,
        lesson="Both clients read the same number. The second write overwrote the first. No fault was needed.",
    ),
    Level(
        "incr",
        "incr",
        LevelKind.DECIDE,
        "Can an increment disappear if one command reads and writes?",
        LOST,
        short_code=True,
        lesson="Nothing can happen inside one command. Work that is one command needs no lock.",
    ),
    Level(
        "setnx-crash",
        "setnx",
        LevelKind.BREAK,
        "Make B wait for the lock for ever.",
        FREED,
        CRASH,
        short_code=True,
        lesson="Only the holder deletes the key. A holder that dies never does.",
    ),
    Level(
        "setnx-lost-reply",
        "setnx",
        LevelKind.BREAK,
        "One reply is lost, and no process dies. Make a client wait for the lock for ever.",
        (Claim.acquires_atomically, Claim.freed_after_a_failed_release),
        LOST_REPLY,
        short_code=True,
        lesson="Redis has set the key, and its client does not know. The client raises an error, and nobody deletes the key.",
    ),
    Level(
        "setnx_expire-crash",
        "setnx_expire",
        LevelKind.BREAK,
        "The code sets a TTL. Make B wait for the lock for ever even so.",
        FREED,
        CRASH,
        lesson="The key and its TTL are two commands. A crash between them leaves a key without a TTL.",
    ),
    Level(
        "ttl-same-crash",
        "ttl",
        LevelKind.SAME_MOVES,
        "Under setnx_expire, these moves made B wait for ever. Do they still, if one command sets the key and its TTL?",
        FREED,
        CRASH,
        moves_of="setnx_expire-crash",
        lesson="The key never exists without its TTL: when the time is over, B gets the lock.",
    ),
    Level(
        "ttl-pause",
        "ttl",
        LevelKind.BREAK,
        "Make A delete B’s lock, or B delete A’s.",
        THEFT,
        PAUSE,
        lesson="The release deletes the key, and does not ask whose it is.",
    ),
    Level(
        "uuid-same-pause",
        "uuid",
        LevelKind.SAME_MOVES,
        "Under ttl, these moves deleted another client’s lock. Do they still, if the release compares the owner first?",
        THEFT,
        PAUSE,
        moves_of="ttl-pause",
        lesson="The release reads the key, finds the token of another client, and deletes nothing.",
    ),
    Level(
        "uuid-pause",
        "uuid",
        LevelKind.BREAK,
        "The release compares the owner first. Make a client delete the other client’s lock even so.",
        THEFT,
        PAUSE,
        lesson="Comparing and deleting are two commands. Between them, the lock can expire and get another owner.",
    ),
    Level(
        "lua-same-pause",
        "lua",
        LevelKind.SAME_MOVES,
        "Under uuid, these moves came between comparing and deleting. What do they do if one script does both?",
        THEFT,
        PAUSE,
        moves_of="uuid-pause",
        lesson="Nothing can come between comparing and deleting: A has finished before it can be paused.",
    ),
    Level(
        "lua-release",
        "lua",
        LevelKind.DECIDE,
        "One script compares and deletes. Can a client still delete another client’s lock?",
        THEFT,
        PAUSE,
        lesson="The release is sound. That does not make the lock sound: see the next level.",
    ),
    Level(
        "lua-work",
        "lua",
        LevelKind.BREAK,
        "The work takes 5 seconds, and the TTL is 3 seconds. Lose an increment without any fault.",
        LOST,
        work_ms=5000,
        lesson="The lock expires under a holder that is still at work. Time alone is enough.",
    ),
    Level(
        "watchdog-work",
        "watchdog",
        LevelKind.DECIDE,
        "The work takes 5 seconds, and a thread renews the TTL of 3 seconds. Can an increment be lost without a fault?",
        LOST,
        work_ms=5000,
        lesson="While the process runs, its renewal runs as well.",
    ),
    Level(
        "watchdog-pause",
        "watchdog",
        LevelKind.DECIDE,
        "A thread renews the lock. Can one pause lose an increment?",
        LOST,
        PAUSE,
        lesson="A process that is paused renews nothing. When it resumes, it works on without the lock.",
    ),
    Level(
        "watchdog_abort-pause",
        "watchdog_abort",
        LevelKind.BREAK,
        "The client checks its lock just before it writes. Lose an increment even so.",
        LOST,
        PAUSE,
        lesson="Between the last check and the write there is always a moment, and a pause fits into it.",
    ),
    Level(
        "fencing-same-pause",
        "fencing",
        LevelKind.SAME_MOVES,
        "Under watchdog_abort, these moves lost an increment. Do they still, if the resource refuses old numbers?",
        LOST,
        PAUSE,
        moves_of="watchdog_abort-pause",
        lesson="The late write carries an old number. The resource refuses it, and nothing is lost.",
    ),
    Level(
        "fencing-pause",
        "fencing",
        LevelKind.DECIDE,
        "The resource refuses each write with an old number. Can one pause lose an increment?",
        LOST,
        PAUSE,
        lesson="A lock alone cannot survive a pause. A lock and a resource that checks its number can.",
    ),
    Level(
        "uuid-resend",
        "uuid",
        LevelKind.BREAK,
        "A reply is lost, and the client sends its command again. Make a client wait for a lock that nobody uses.",
        (Claim.survives_a_lost_reply,),
        RESEND,
        lesson="The first command got the lock, and its reply was lost. The second finds the key, and waits for itself.",
    ),
)
