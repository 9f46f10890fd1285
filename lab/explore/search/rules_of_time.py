"""What time breaks: a lock that nobody uses must not stay locked, neither for longer than its claims allow nor to the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from app.lock import Claim
from lab.explore.search.event import Budget
from lab.explore.search.ghosts import NOT_YET, WORKS, About, Consequences
from lab.explore.search.harm import Harm, Why
from lab.explore.search.rules_of_faults import attributed, freed, limit_ms
from lab.judge.promises import IN_TIME


class Passed(NamedTuple):
    """Time passed, because no client could do anything."""

    before: int
    after: int
    was_ms: int
    used: Budget
    # the requests that wait for the lock, and those of them that acquire their own lock again
    waiting: tuple[int, ...]
    again: list[int]
    # whether no request uses the lock: none works, and the request that has taken the lock is not paused
    idle: bool


def passed(then: Consequences, step: Passed) -> None:
    """Let some time pass: a lock that nobody uses must not stay locked."""
    about, since_ms = then.about, NOT_YET
    if step.again:
        then.breaks(Claim.reentrant, Harm.REFUSED_TO_ITSELF, step.again[0])
    if step.idle and step.waiting:
        since_ms = step.was_ms if then.ghosts.idle_since_ms == NOT_YET else then.ghosts.idle_since_ms
        key = _kept_from_them(about, step.before, step.was_ms, step.waiting)
        _idle(then, step, key, then.now_ms - since_ms)
        if key and not _kept_from_them(about, step.after, then.now_ms, step.waiting):
            since_ms = then.now_ms  # how long somebody sleeps counts from when the lock is free
    freed(then, step.after, Why.SLOW)
    # all that a lease excuses from now on, in the hold itself: two states that differ in nothing else are one
    actors = tuple([one._replace(hold=one.hold.at(then.now_ms)) if one.hold else one for one in then.actors])
    then.set(idle_since_ms=since_ms, actors=actors)


def _idle(then: Consequences, step: Passed, key: str, idle_ms: int) -> None:
    """Note what is broken where nobody has used the lock for so long, and somebody waits. key: what keeps it from them."""
    if not key:
        if idle_ms > limit_ms(None, then.about):
            then.breaks(Claim.loses_no_wakeup, Harm.ASLEEP, step.waiting[0])
        return
    claim, bound_ms = attributed(then.ghosts, then.about, key, step.used)
    if idle_ms > bound_ms:
        never = then.about.oracle.free_at_ms(step.before, step.was_ms, key) is None
        harm = Harm.NOT_FREED if claim is Claim.releases_only_its_own else Harm.STUCK if never else Harm.LOCKED
        then.breaks(claim, harm, step.waiting[0])


def _kept_from_them(about: About, lock: int, now_ms: int, waiting: Sequence[int]) -> str:
    """Return the key that keeps the lock from all who wait; empty where it is free, or the turn of one of them."""
    taken = sorted(about.known - about.oracle.free(lock, now_ms))
    # nobody but those who wait may keep it taken: it is the turn of one of them, who does not know
    free = taken and about.oracle.free_without(lock, now_ms, {actor // about.at_once for actor in waiting})
    return taken[0] if taken and taken[0] not in free else ""


class End(NamedTuple):
    """Nothing can happen any more."""

    lock: int
    used: Budget
    # the requests that still wait for the lock
    waiting: tuple[int, ...]
    # whether the clock has reached the horizon: what waits would continue
    is_cut: bool
    # whether threads still run in the background of a living replica
    goes_on: bool
    # how many requests there were
    requests: int


def ended(then: Consequences, end: End) -> None:
    """Let a schedule end."""
    about, ghosts, lock = then.about, then.ghosts, end.lock
    taken = sorted(about.known - about.oracle.free(lock, then.now_ms))
    kept = _kept_from_them(about, lock, then.now_ms, end.waiting) if end.waiting else ""
    if end.waiting and not end.is_cut:
        selfish = [one for one in end.waiting if then.actors[one].phase == WORKS]
        if selfish:
            then.breaks(Claim.reentrant, Harm.REFUSED_TO_ITSELF, selfish[0])
        else:
            claim = attributed(ghosts, about, kept, end.used)[0] if kept else Claim.loses_no_wakeup
            then.breaks(claim, Harm.STUCK, end.waiting[0])
    elif taken and not end.waiting and not end.goes_on:
        claim, bound_ms = attributed(ghosts, about, taken[0], end.used)
        free_ms = about.oracle.free_at_ms(lock, then.now_ms, taken[0])
        if free_ms is None or free_ms - then.now_ms > bound_ms:
            harm = Harm.BLOCKED_BY_LEAVER if claim is Claim.waiters_may_leave else Harm.LOCKED
            then.breaks(claim, Harm.NOT_FREED if claim is Claim.releases_only_its_own else harm)
    few = 2 * ghosts.served < end.requests
    if about.serves and end.waiting and (kept or few):
        idle_ms = 0 if ghosts.idle_since_ms == NOT_YET else then.now_ms - ghosts.idle_since_ms
        if not end.is_cut or idle_ms > IN_TIME.in_ms(about.ttl_ms):
            then.breaks(Claim.serves_most_requests, Harm.STUCK, end.waiting[0])
    elif about.serves and not end.waiting and few:
        then.breaks(Claim.serves_most_requests, Harm.FEW_SERVED)
