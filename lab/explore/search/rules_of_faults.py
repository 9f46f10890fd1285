"""What each fault does to the ghosts, and which claim is broken where several could be.

Each fault is charged to the state of the lock that it left.
"""

from __future__ import annotations

from app.lock import Claim
from lab.explore.search.event import NONE, Budget
from lab.explore.search.ghosts import ASKS, OVER, RELEASES, About, Consequences, Ghosts, Left
from lab.explore.search.harm import OUTLASTED, Finding, Harm, Why
from lab.explore.search.state import Fault, State
from lab.explore.search.world import World
from lab.judge.promises import IN_TIME, PROMISES

AT_ONCE = PROMISES[Claim.freed_after_failure.name].bound
AFTER_A_LOST_REPLY = PROMISES[Claim.survives_a_lost_reply.name].bound
AFTER_A_LOST_RELEASE = PROMISES[Claim.freed_after_a_lost_release.name].bound


def struck(then: Consequences, world: World, state: State, fault: Fault) -> None:
    """Let a fault change the ghosts. One that strikes a replica hits all of its requests."""
    requests = range(fault.actor, fault.actor + then.about.task.at_once)
    match fault.name:
        case "restarts":
            freed(then, state.lock, Why.VOTE_LOST if then.about.servers > 1 else Why.STORE_LOST_IT)
        case "pauses":
            writing = world.node(state, fault.actor // then.about.task.at_once).writing
            for actor in requests:
                paused(then, actor, actor - fault.actor in writing)
        case "crashes":
            for actor in requests:
                crashed(then, actor)
        case _:
            faulted(then, fault.actor, fault.name, fault.in_vain)


def paused(then: Consequences, actor: int, writing: bool) -> None:
    """Pause the replica of a request. ``writing``: the request has looked at its lock for the last time."""
    mine = then.actors[actor]
    if mine.hold is not None:  # the lease outlived an earlier pause: what follows from a later one is not due to the earlier
        then.of_actor(actor, hold=mine.hold._replace(paused_late=writing, paused=not writing))
    elif mine.phase == ASKS:  # it can keep others waiting that stand behind it
        faulted(then, actor, "pauses")
        then.of_actor(actor, gone=Why.PAUSED if mine.gone is Why.ENTITLED else mine.gone)


def faulted(then: Consequences, actor: int, fault: str, in_vain: bool = False) -> None:
    """Let a fault hit a request. It is kept with the lock that the request has taken, if it has."""
    mine = then.actors[actor]
    left = Left(fault, mine.phase, in_vain)
    then.set(doubled=then.ghosts.doubled or (fault == "resends" and not in_vain))
    if mine.hold is not None and fault == "lost_replies":
        then.of_actor(actor, hold=mine.hold._replace(unrenewed=True))
    owned = [(key, owner) for key, owner in then.ghosts.owners if owner.actor == actor]
    for key, owner in owned:
        then.owned_by(key, owner._replace(left=(*owner.left, left)))
    if not owned or left.phase == ASKS:  # what it has taken can be the lock of its thread's request before, that has passed on
        then.set(left=(*then.ghosts.left, left))


def crashed(then: Consequences, actor: int) -> None:
    """Let the replica of a request die."""
    if then.actors[actor].phase != OVER:
        faulted(then, actor, "crashes")
        then.over(actor)


def freed(then: Consequences, after: int, why: Why) -> None:
    """Let what no request has done free the lock: its owner may not know."""
    for key in then.about.oracle.free(after, then.now_ms) if then.ghosts.owners else ():
        owner = then.ghosts.owner(key)
        if owner is None:
            continue
        then.owned_by(key, None)
        its = then.actors[owner.actor]
        if its.hold is None and its.phase == ASKS:
            then.of_actor(owner.actor, gone=why)
        elif its.hold is not None and why is not Why.SLOW and its.hold.is_entitled(then.now_ms):
            then.of_actor(owner.actor, hold=its.hold._replace(why=why))


def limit_ms(left: Left | None, about: About) -> float:
    """Return for how long a lock that nobody uses may stay locked."""
    if left is None or left.fault == "failures":
        return AT_ONCE.in_ms(about.task.ttl_ms)
    if left.fault == "resends":
        return AFTER_A_LOST_REPLY.in_ms(about.task.ttl_ms)
    if left.fault == "lost_replies" and left.phase == RELEASES and not left.in_vain:
        return AFTER_A_LOST_RELEASE.in_ms(about.task.ttl_ms)
    return IN_TIME.in_ms(about.task.ttl_ms)


def attributed(ghosts: Ghosts, about: About, key: str, used: Budget) -> tuple[Claim, float]:
    """Return which claim breaks where a lock stays locked, and for how long it may: the fault decides that left it so."""
    owner = ghosts.owner(key)
    left = (*(owner.left if owner is not None else ()), *ghosts.left)
    if used.restarts:
        return Claim.survives_store_restart, limit_ms(Left("restarts", ASKS), about)
    if not left:
        return (Claim.waiters_may_leave if ghosts.gave_up else Claim.releases_only_its_own), limit_ms(None, about)
    first = next((one for one in left if one.fault != "failures"), left[0])  # it decides more than a failure of the work
    return claim_of(first), max(limit_ms(one, about) for one in left)


def claim_of(left: Left) -> Claim:
    """Return the claim that a fault puts to the test, where it leaves a lock behind."""
    match left.fault:
        case "failures":
            return Claim.freed_after_failure
        case "resends":
            return Claim.survives_a_lost_reply
        case _ if left.phase == ASKS:
            return Claim.acquires_atomically
        case "crashes":
            return Claim.freed_after_crash
        case _ if left.phase == RELEASES and not left.in_vain:
            return Claim.freed_after_a_lost_release
        case _:
            return Claim.freed_after_a_failed_release


def charged(finding: Finding, ghosts: Ghosts, about: About, used: Budget) -> Finding:
    """Return the finding with the claim that it breaks: a fault is the cause where the store lost data, or counted twice."""
    if finding.harm is Harm.LOST and finding.why in OUTLASTED and used == NONE and about.task.work_ms < about.task.ttl_ms:
        finding = finding._replace(claim=Claim.reentrant if about.task.nested else Claim.exclusive)
    if ghosts.doubled and finding.claim in (Claim.exclusive, Claim.reentrant):
        return finding._replace(claim=Claim.survives_a_lost_reply)
    if not used.restarts or finding.claim is Claim.fence_outlives_restart:
        return finding
    return finding._replace(claim=Claim.survives_amnesia if about.servers > 1 else Claim.survives_store_restart)
