"""What time breaks: a lock that nobody uses must not stay locked, neither for longer than its claims allow nor to the end."""

from __future__ import annotations

from app.lock import Claim
from lab.explore.search.event import Budget
from lab.explore.search.ghosts import NOT_YET, WORKS, About, Consequences
from lab.explore.search.harm import Harm, Why
from lab.explore.search.rules_of_faults import attributed, freed, limit_ms
from lab.explore.search.state import DEAD, PAUSED, State
from lab.explore.search.world import World
from lab.judge.promises import IN_TIME


def passed(then: Consequences, world: World, before: State, after: State, used: Budget) -> None:
    """Let some time pass, because no client could do anything: a lock that nobody uses must not stay locked."""
    waiting, since_ms = world.waiting(before), NOT_YET
    if again := world.asking_again(before):
        then.breaks(Claim.reentrant, Harm.REFUSED_TO_ITSELF, again[0])
    if waiting and _is_idle(world, before):
        since_ms = before.now_ms if then.ghosts.idle_since_ms == NOT_YET else then.ghosts.idle_since_ms
        key = next(iter(_taken(then.about, before)), "")
        _idle(then, before, waiting[0], key, after.now_ms - since_ms, used)
        if key and not _taken(then.about, after):
            since_ms = after.now_ms  # how long somebody sleeps counts from when the lock is free
    freed(then, after.lock, Why.SLOW)
    # all that a lease excuses from now on, in the hold itself: two states that differ in nothing else are one
    actors = tuple([one._replace(hold=one.hold.at(after.now_ms)) if one.hold else one for one in then.actors])
    then.set(idle_since_ms=since_ms, actors=actors)


def _is_idle(world: World, state: State) -> bool:
    """Return whether no request uses the lock: none works, and the request that has taken the lock is not paused."""
    at_once = world.task.at_once
    for actor, one in enumerate(state.ghosts.actors):
        if one.phase == WORKS and state.modes[actor // at_once] != DEAD:
            return False
    if world.about.servers > 1 and PAUSED in state.modes:  # whose the votes are, is not known before most of them are given
        return False
    return not any(state.modes[owner.actor // at_once] == PAUSED for _, owner in state.ghosts.owners)


def _idle(then: Consequences, before: State, waiter: int, key: str, idle_ms: int, used: Budget) -> None:
    """Note what is broken where nobody has used the lock for so long, and somebody waits. key: what keeps it from them."""
    if not key:
        if idle_ms > limit_ms(None, then.about):
            then.breaks(Claim.loses_no_wakeup, Harm.ASLEEP, waiter)
        return
    claim, bound_ms = attributed(then.ghosts, then.about, key, used)
    if idle_ms > bound_ms:
        never = then.about.oracle.free_at_ms(before.lock, before.now_ms, key) is None
        harm = Harm.NOT_FREED if claim is Claim.releases_only_its_own else Harm.STUCK if never else Harm.LOCKED
        then.breaks(claim, harm, waiter)


def _taken(about: About, state: State) -> list[str]:
    return sorted(about.known - about.oracle.free(state.lock, state.now_ms))


def ended(then: Consequences, world: World, state: State, used: Budget, is_cut: bool) -> None:
    """Let a schedule end. is_cut: the clock has reached the horizon, and what waits would continue."""
    about, ghosts, waiting, taken = then.about, then.ghosts, world.waiting(state), _taken(then.about, state)
    kept = taken[0] if taken and waiting else ""
    goes_on = any(not world.node(state, client).own[thread] for client, thread, _ in world.threads(state))  # in the background
    if waiting and not is_cut:
        selfish = [one for one in waiting if then.actors[one].phase == WORKS]
        if selfish:
            then.breaks(Claim.reentrant, Harm.REFUSED_TO_ITSELF, selfish[0])
        else:
            claim = attributed(ghosts, about, kept, used)[0] if kept else Claim.loses_no_wakeup
            then.breaks(claim, Harm.STUCK, waiting[0])
    elif taken and not waiting and not goes_on:
        claim, bound_ms = attributed(ghosts, about, taken[0], used)
        free_ms = about.oracle.free_at_ms(state.lock, state.now_ms, taken[0])
        if free_ms is None or free_ms - state.now_ms > bound_ms:
            harm = Harm.BLOCKED_BY_LEAVER if claim is Claim.waiters_may_leave else Harm.LOCKED
            then.breaks(claim, Harm.NOT_FREED if claim is Claim.releases_only_its_own else harm)
    few = 2 * ghosts.served < world.actors * world.task.in_turn
    if about.serves and waiting and (kept or few):
        idle_ms = 0 if ghosts.idle_since_ms == NOT_YET else state.now_ms - ghosts.idle_since_ms
        if not is_cut or idle_ms > IN_TIME.in_ms(about.task.ttl_ms):
            then.breaks(Claim.serves_most_requests, Harm.STUCK, waiting[0])
    elif about.serves and not waiting and few:
        then.breaks(Claim.serves_most_requests, Harm.FEW_SERVED)
