"""What each fault does to the ghosts, and which claim is broken where several could be.

Each fault is charged to the state of the lock that it left.
"""

from __future__ import annotations

from app.lock import Claim
from lab.explore.search.event import NONE, Budget
from lab.explore.search.ghosts import ASKS, NOT_YET, OVER, RELEASES, About, Ghosts, Left
from lab.explore.search.harm import OUTLASTED, Finding, Harm, Why
from lab.judge.promises import IN_TIME, PROMISES

AT_ONCE = PROMISES[Claim.freed_after_failure.name].bound
AFTER_A_LOST_REPLY = PROMISES[Claim.survives_a_lost_reply.name].bound
AFTER_A_LOST_RELEASE = PROMISES[Claim.freed_after_a_lost_release.name].bound


def paused(ghosts: Ghosts, actor: int, writing: bool) -> Ghosts:
    """Return the ghosts after a pause. ``writing``: the request has looked at its lock for the last time."""
    hold = ghosts.actors[actor].hold
    if hold is None and ghosts.actors[actor].phase != ASKS:
        return ghosts
    if hold is None:  # it can keep others waiting that stand behind it
        ghosts = faulted(ghosts, actor, "pauses")
        return ghosts if ghosts.actors[actor].gone is not Why.ENTITLED else ghosts.of_actor(actor, gone=Why.PAUSED)
    # the lease outlived an earlier pause: what follows from a later one is not due to the earlier
    return ghosts.of_actor(actor, hold=hold._replace(paused_late=writing, paused=not writing))


def faulted(ghosts: Ghosts, actor: int, fault: str, in_vain: bool = False) -> Ghosts:
    """Return the ghosts after a fault hit a request. It is kept with the lock that the request has taken, if it has."""
    left = Left(fault, ghosts.actors[actor].phase, in_vain)
    ghosts = ghosts._replace(doubled=ghosts.doubled or (fault == "resends" and not in_vain))
    hold = ghosts.actors[actor].hold
    if hold is not None and fault == "lost_replies":
        ghosts = ghosts.of_actor(actor, hold=hold._replace(unrenewed=True))
    owned = [(key, owner) for key, owner in ghosts.owners if owner.actor == actor]
    for key, owner in owned:
        ghosts = ghosts.owned_by(key, owner._replace(left=(*owner.left, left)))
    # what it has taken can be the lock of its thread's request before, that has passed to another
    return ghosts if owned and left.phase != ASKS else ghosts._replace(left=(*ghosts.left, left))


def crashed(ghosts: Ghosts, actor: int) -> Ghosts:
    """Return the ghosts after the replica of a request has died."""
    if ghosts.actors[actor].phase == OVER:
        return ghosts
    ghosts = faulted(ghosts, actor, "crashes")
    return ghosts.of_actor(actor, hold=None, phase=OVER, gone=Why.ENTITLED, changed_ms=NOT_YET, released_own=NOT_YET, writes=0)


def restarted(ghosts: Ghosts, about: About, after: int, now_ms: int) -> Ghosts:
    """Return the ghosts after the store has lost its data, or one of several servers."""
    return without(ghosts, about, after, now_ms, Why.VOTE_LOST if about.servers > 1 else Why.STORE_LOST_IT)


def without(ghosts: Ghosts, about: About, after: int, now_ms: int, why: Why) -> Ghosts:
    """Return the ghosts after what no request has done freed the lock: its owner may not know."""
    if not ghosts.owners:
        return ghosts
    for key in about.oracle.free(after, now_ms):
        owner = ghosts.owner(key)
        if owner is None:
            continue
        ghosts = ghosts.owned_by(key, None)
        hold = ghosts.actors[owner.actor].hold
        if hold is None:
            if ghosts.actors[owner.actor].phase == ASKS:
                ghosts = ghosts.of_actor(owner.actor, gone=why)
        elif why is not Why.SLOW and hold.is_entitled(now_ms):
            ghosts = ghosts.of_actor(owner.actor, hold=hold._replace(why=why))
    return ghosts


def limit_ms(left: Left | None, about: About) -> float:
    """Return for how long a lock that nobody uses may stay locked."""
    if left is None or left.fault == "failures":
        return AT_ONCE.in_ms(about.ttl_ms)
    if left.fault == "resends":
        return AFTER_A_LOST_REPLY.in_ms(about.ttl_ms)
    if left.fault == "lost_replies" and left.phase == RELEASES and not left.in_vain:
        return AFTER_A_LOST_RELEASE.in_ms(about.ttl_ms)
    return IN_TIME.in_ms(about.ttl_ms)


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
    if finding.harm is Harm.LOST and finding.why in OUTLASTED and used == NONE and not about.outlasts:
        finding = finding._replace(claim=Claim.reentrant if about.nested else Claim.exclusive)
    if ghosts.doubled and finding.claim in (Claim.exclusive, Claim.reentrant):
        return finding._replace(claim=Claim.survives_a_lost_reply)
    if not used.restarts or finding.claim is Claim.fence_outlives_restart:
        return finding
    return finding._replace(claim=Claim.survives_amnesia if about.servers > 1 else Claim.survives_store_restart)
