"""What time breaks: a lock that nobody uses must not stay locked, neither for longer than its claims allow nor to the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.lock import Claim
from lab.explore.search.event import Budget
from lab.explore.search.ghosts import NOT_YET, WORKS, About, Ghosts
from lab.explore.search.harm import Finding, Harm, Why
from lab.explore.search.rules_of_faults import attributed, limit_ms, without
from lab.judge.promises import IN_TIME


class Passed(NamedTuple):
    """Time passed, because no client could do anything."""

    before: int
    after: int
    was_ms: int
    now_ms: int
    used: Budget
    # the requests that wait for the lock
    waiting: tuple[int, ...]
    # whether no request uses the lock: none works, and the request that has taken the lock is not paused
    idle: bool


def passed(ghosts: Ghosts, about: About, step: Passed, again: list[int]) -> tuple[Ghosts, list[Finding]]:
    """Return the ghosts after some time, and what it breaks: a lock that nobody uses must not stay locked.

    again: the requests that acquire their own lock again.
    """
    found = [Finding(Claim.reentrant, Harm.REFUSED_TO_ITSELF, client=one) for one in again[:1]]
    if step.idle and step.waiting:
        since_ms = step.was_ms if ghosts.idle_since_ms == NOT_YET else ghosts.idle_since_ms
        found += _idle(ghosts, about, step, step.now_ms - since_ms)
        if _kept_from_them(about, step.before, step.was_ms, step) and not _kept_from_them(about, step.after, step.now_ms, step):
            since_ms = step.now_ms  # how long somebody sleeps counts from when the lock is free
    else:
        since_ms = NOT_YET
    ghosts = without(ghosts, about, step.after, step.now_ms, Why.SLOW)
    # all that a lease excuses from now on, in the hold itself: two states that differ in nothing else are one
    actors = tuple([one._replace(hold=one.hold.at(step.now_ms)) if one.hold else one for one in ghosts.actors])
    return ghosts._replace(idle_since_ms=since_ms, actors=actors), found


def _idle(ghosts: Ghosts, about: About, step: Passed, idle_ms: int) -> Iterator[Finding]:
    """Yield what is broken where nobody has used the lock for so long, and somebody waits."""
    key = _kept_from_them(about, step.before, step.was_ms, step)
    if not key:
        if idle_ms > limit_ms(None, about):
            yield Finding(Claim.loses_no_wakeup, Harm.ASLEEP, client=step.waiting[0])
        return
    claim, bound_ms = attributed(ghosts, about, key, step.used)
    if idle_ms > bound_ms:
        never = about.oracle.free_at_ms(step.before, step.was_ms, key) is None
        harm = Harm.NOT_FREED if claim is Claim.releases_only_its_own else Harm.STUCK if never else Harm.LOCKED
        yield Finding(claim, harm, client=step.waiting[0])


def _kept_from_them(about: About, lock: int, now_ms: int, step: Passed) -> str:
    """Return the key that keeps the lock from all who wait; empty where it is free, or the turn of one of them."""
    taken = sorted(about.known - about.oracle.free(lock, now_ms))
    return taken[0] if taken and not _is_theirs(about, lock, now_ms, step.waiting, taken[0]) else ""


def _is_theirs(about: About, lock: int, now_ms: int, waiting: Sequence[int], key: str) -> bool:
    """Return whether nobody but those who wait keeps the lock taken: it is the turn of one of them, who does not know."""
    return key in about.oracle.free_without(lock, now_ms, {actor // about.at_once for actor in waiting})


class End(NamedTuple):
    """Nothing can happen any more."""

    lock: int
    now_ms: int
    used: Budget
    # the requests that still wait for the lock
    waiting: tuple[int, ...]
    # whether the clock has reached the horizon: what waits would continue
    is_cut: bool
    # whether threads still run in the background of a living replica
    goes_on: bool
    # how many requests there were
    requests: int


def ended(ghosts: Ghosts, about: About, end: End) -> Iterator[Finding]:
    """Yield what is broken at the end of a schedule."""
    taken = sorted(about.known - about.oracle.free(end.lock, end.now_ms))
    if end.waiting and not end.is_cut:
        selfish = [one for one in end.waiting if ghosts.actors[one].phase == WORKS]
        if selfish:
            yield Finding(Claim.reentrant, Harm.REFUSED_TO_ITSELF, client=selfish[0])
        elif taken and not _is_theirs(about, end.lock, end.now_ms, end.waiting, taken[0]):
            yield Finding(attributed(ghosts, about, taken[0], end.used)[0], Harm.STUCK, client=end.waiting[0])
        else:
            yield Finding(Claim.loses_no_wakeup, Harm.STUCK, client=end.waiting[0])
    elif taken and not end.waiting and not end.goes_on:
        claim, bound_ms = attributed(ghosts, about, taken[0], end.used)
        free_ms = about.oracle.free_at_ms(end.lock, end.now_ms, taken[0])
        if free_ms is None or free_ms - end.now_ms > bound_ms:
            harm = Harm.BLOCKED_BY_LEAVER if claim is Claim.waiters_may_leave else Harm.LOCKED
            yield Finding(claim, Harm.NOT_FREED if claim is Claim.releases_only_its_own else harm)
    idle_ms = 0 if ghosts.idle_since_ms == NOT_YET else end.now_ms - ghosts.idle_since_ms
    passed_over = taken and end.waiting and not _is_theirs(about, end.lock, end.now_ms, end.waiting, taken[0])
    few = 2 * ghosts.served < end.requests
    if about.serves and end.waiting and (passed_over or few):
        if not end.is_cut or idle_ms > IN_TIME.in_ms(about.ttl_ms):
            yield Finding(Claim.serves_most_requests, Harm.STUCK, client=end.waiting[0])
    elif about.serves and not end.waiting and few:
        yield Finding(Claim.serves_most_requests, Harm.FEW_SERVED)
