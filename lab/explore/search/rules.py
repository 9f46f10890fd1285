"""What each event does to the ghosts, and which claim it breaks.

Whose the lock is, is not read out of the names of keys. Two questions are asked of the store's state (``Oracle``): which keys
would a fresh client be granted now, if it ran alone; and, where it would not, when would it be, if nobody did anything. A request
*takes* the lock with the command after which a fresh client would not get it any more. So the rules are the same for strings,
hashes, lists, sets, sorted sets, streams, second keys, and leases in fields.

The rules are the same for a search in the tables and for a replay on a real server.
"""

from __future__ import annotations

from app.lock import Claim
from lab.explore.code.operation import WRONG_ANSWER, Ended, Granted, Mark, Releasing, WriteDone
from lab.explore.search.ghosts import ASKS, NOT_YET, OVER, RELEASES, WORKS, About, Ghosts, Hold, Owner, Written
from lab.explore.search.harm import BROKEN_BY, THEFTS, Finding, Harm, Why
from lab.explore.search.rules_of_faults import claim_of
from lab.explore.search.state import Change
from lab.judge.promises import PROMISES

TRY_MS = PROMISES[Claim.answers_a_try_at_once.name].bound.ms

# a holder that relies on its lock, and is right to: nothing excuses that another one gets in
RELIES = (Why.ENTITLED, Why.NO_LOCK, Why.ROBBED_BY_WAITER)
ANSWERS = ("ok", "NotAcquired", "NotOwner", "Abandoned", "Refused")


def changed(ghosts: Ghosts, about: About, change: Change, now_ms: int) -> tuple[Ghosts, list[Finding]]:
    """Return the ghosts after a command was executed at the lock's store, and what it breaks."""
    found: list[Finding] = []
    actor = _actor(ghosts, about, change)
    is_release = change.own and ghosts.actors[actor].phase == RELEASES
    has_released = is_release and ghosts.actors[actor].released_own != NOT_YET
    if is_release and not has_released:
        owns = any(owner.actor == actor for _, owner in ghosts.owners)
        ghosts = ghosts.of_actor(actor, released_own=int(owns))
    if change.before == change.after:
        return ghosts, found
    # of several keys, a fresh client may take another one where the first is taken: only those count that it takes first
    before, after = (about.oracle.free(lock, now_ms) & about.known for lock in (change.before, change.after))
    for key in sorted(after - before):
        ghosts = _freed(ghosts, about, change, actor, key, now_ms, found)
    for key in sorted(before - after) if about.servers == 1 else ():  # votes are split before a request has most of them
        ghosts = ghosts.owned_by(key, Owner(actor, change.sent_ms)).of_actor(actor, gone=Why.ENTITLED)
        if has_released:  # it takes the lock anew
            ghosts = ghosts.of_actor(actor, phase=ASKS)
        ghosts = ghosts._replace(idle_since_ms=NOT_YET, left=())  # it was free: no fault before this has kept it taken
    for key in sorted(about.known - before - after):
        ghosts = _prolonged(ghosts, about, change, actor, key, now_ms, found)
    return ghosts.of_actor(actor, changed_ms=change.sent_ms), found


def _actor(ghosts: Ghosts, about: About, change: Change) -> int:
    """Return the request for which a thread has sent a command. One in the background sends for a request that holds the lock."""
    first = change.client * about.at_once
    if change.own and change.thread < about.at_once:
        return first + change.thread
    mine = range(first, first + about.at_once)
    owning = [owner.actor for _, owner in ghosts.owners if owner.actor in mine]
    going_on = [actor for actor in mine if ghosts.actors[actor].phase != OVER]
    return next(iter((*owning, *going_on, first)))


def _freed(ghosts: Ghosts, about: About, change: Change, actor: int, key: str, now_ms: int, found: list[Finding]) -> Ghosts:
    owner = ghosts.owner(key)
    ghosts = ghosts.owned_by(key, None)
    if owner is None:
        return ghosts
    hold = ghosts.actors[owner.actor].hold
    if owner.actor == actor:
        if about.nested and hold is not None and hold.is_entitled(now_ms) and change.own:
            found.append(Finding(Claim.reentrant, Harm.FREED_BY_INNER, client=actor))
        return ghosts
    asks = ghosts.actors[actor].phase == ASKS and change.own
    why = Why.ROBBED_BY_WAITER if asks else Why.ROBBED_IN_RELEASE if ghosts.actors[actor].released_own == 1 else Why.ROBBED
    if hold is None:
        return ghosts.of_actor(owner.actor, gone=why) if ghosts.actors[owner.actor].phase == ASKS else ghosts
    if not hold.is_entitled(now_ms):
        return ghosts
    if not asks:  # of a waiter that takes a lock away, it counts whether anybody gets in
        found.append(Finding(BROKEN_BY[why], Harm.THEFT, why, owner.actor))
    return ghosts.of_actor(owner.actor, hold=hold._replace(why=why))


def _prolonged(ghosts: Ghosts, about: About, change: Change, actor: int, key: str, now_ms: int, found: list[Finding]) -> Ghosts:
    """Return the ghosts after a command that did not free a taken lock: it can have prolonged its lease, or passed it on."""
    owner = ghosts.owner(key)
    if owner is None:
        return ghosts
    was, is_now = (about.oracle.free_at_ms(lock, now_ms, key) for lock in (change.before, change.after))
    if change.renewed and owner.actor == actor:
        pass  # its own lease, although another's may keep the lock taken for longer
    elif was == is_now or (was is not None and is_now is not None and is_now <= was) or was is None:
        return ghosts
    hold = ghosts.actors[owner.actor].hold
    if owner.actor != actor:
        if ghosts.actors[actor].phase in (WORKS, RELEASES) and (hold is not None or ghosts.actors[owner.actor].phase == ASKS):
            found.append(Finding(Claim.releases_only_its_own, Harm.FOREIGN_RENEWAL, client=owner.actor))
        return ghosts
    ghosts = ghosts.owned_by(key, owner._replace(since_ms=change.sent_ms))
    # a renewal on its way at the end is not one too many
    is_late = NOT_YET < ghosts.actors[actor].over_ms < now_ms and not change.own
    if is_late and not change.renewed:
        claim = claim_of(owner.left[0]) if owner.left else Claim.releases_only_its_own
        found.append(Finding(claim, Harm.RENEWED_FOR_NOBODY, client=actor))
    if hold is not None and hold.is_entitled(now_ms):
        ghosts = ghosts.of_actor(actor, hold=hold._replace(until_ms=_until(about, change.sent_ms)))
    return ghosts


def _until(about: About, since_ms: int) -> int | None:
    return None if about.lease_ms is None else since_ms + about.lease_ms


def marked(ghosts: Ghosts, about: About, actor: int, mark: Mark, now_ms: int) -> tuple[Ghosts, list[Finding]]:
    """Return the ghosts after something happened in a request, and what it breaks."""
    found: list[Finding] = []
    match mark:
        case Granted() if about.nested and ghosts.actors[actor].phase == WORKS:
            pass  # the work begins, and the lock was granted before
        case Granted():
            ghosts = _granted(ghosts, about, actor, mark, now_ms, found)
        case WriteDone():
            ghosts = _wrote(ghosts, about, actor, mark, now_ms, found)
        case Releasing():
            hold = ghosts.actors[actor].hold
            if hold is not None and hold.at(now_ms).why is Why.EXPIRED and not ghosts.actors[actor].writes:
                found.append(Finding(Claim.held_to_the_end, Harm.ABANDONED, Why.EXPIRED, actor))
            ghosts = ghosts.of_actor(actor, hold=None, phase=RELEASES, released_own=NOT_YET, changed_ms=NOT_YET)
        case Ended():
            ghosts = _ended(ghosts, about, actor, mark, now_ms, found)
    return ghosts, found


def _ended(ghosts: Ghosts, about: About, actor: int, mark: Ended, now_ms: int, found: list[Finding]) -> Ghosts:
    says_done = mark.how == "ok"
    not_done = not ghosts.actors[actor].writes and (says_done or mark.how == WRONG_ANSWER)
    if not_done:
        found.append(Finding(Claim.counts_once, Harm.NOT_DONE, client=actor))
    if mark.how == "NotAcquired" and ghosts.actors[actor].writes:
        found.append(Finding(Claim.counts_once, Harm.DONE_AND_REFUSED, client=actor))
    served = says_done and ghosts.actors[actor].writes > 0
    left = mark.how == "NotAcquired"
    if left and about.wait_ms == 0 and now_ms > TRY_MS:
        found.append(Finding(Claim.answers_a_try_at_once, Harm.SLOW_TRY, client=actor))
    in_vain = left and about.wait_ms and ghosts.idle_since_ms != NOT_YET and now_ms - ghosts.idle_since_ms >= about.wait_ms
    if in_vain and not ghosts.owners and not ghosts.left:  # all its time for a lock that nobody had
        found.append(Finding(Claim.waiters_may_leave if ghosts.gave_up else Claim.loses_no_wakeup, Harm.ASLEEP, client=actor))
    if mark.how not in ANSWERS and not not_done:
        at = f" at {mark.where}" if mark.where else ""
        about_it = f"{mark.how}{at}{f': {mark.why}' if mark.why else ''}"
        found.append(Finding(Claim.serves_most_requests, Harm.FAILED, client=actor, about=about_it))
    ghosts = ghosts.of_actor(actor, hold=None, phase=OVER, gone=Why.ENTITLED, changed_ms=NOT_YET, released_own=NOT_YET, writes=0)
    return ghosts._replace(served=ghosts.served + served, gave_up=ghosts.gave_up + left)


def _granted(ghosts: Ghosts, about: About, actor: int, mark: Granted, now_ms: int, found: list[Finding]) -> Ghosts:
    hold, ghosts = _hold(ghosts, about, actor, mark.key, now_ms, found)
    entitled = hold.why in RELIES
    for other, its in enumerate([one.hold for one in ghosts.actors]):
        if other == actor or its is None or not entitled:
            continue
        if mark.key and its.key == mark.key and its.at(now_ms).why in RELIES:
            found.append(Finding(Claim.exclusive, Harm.TWO_HOLDERS, client=actor))
        is_same = other // about.at_once == actor // about.at_once and mark.key == its.key != ""
        if is_same and its.at(now_ms).why in RELIES:
            found.append(Finding(Claim.exclusive_in_process, Harm.TWO_IN_PROCESS, client=actor))
    if mark.fence:
        if mark.fence <= ghosts.fence:
            found.append(Finding(Claim.fence_outlives_restart, Harm.FENCE, client=actor))
        ghosts = ghosts._replace(fence=max(mark.fence, ghosts.fence))
    return ghosts.of_actor(actor, hold=hold, phase=WORKS, gone=Why.ENTITLED)._replace(idle_since_ms=NOT_YET)


def _hold(ghosts: Ghosts, about: About, actor: int, key: str, now_ms: int, found: list[Finding]) -> tuple[Hold, Ghosts]:
    """Return what a request holds that begins its work now, and the ghosts with it as the owner."""
    if not key:
        return Hold("", None, Why.NO_LOCK), ghosts
    owner, since_ms = ghosts.owner(key), ghosts.actors[actor].changed_ms
    if owner is not None and owner.actor == actor:
        since_ms = owner.since_ms
    elif (why := ghosts.actors[actor].gone) not in (Why.ENTITLED, Why.PAUSED):
        if why in THEFTS and why is not Why.ROBBED_BY_WAITER:
            found.append(Finding(BROKEN_BY[why], Harm.THEFT, why, actor))
        return Hold(key, now_ms, why), ghosts
    elif owner is not None and about.servers == 1:
        other = ghosts.actors[owner.actor].hold
        is_held = other is not None and other.is_entitled(now_ms)
        if not is_held and not _is_kept(ghosts, about, owner.actor, actor):  # it was passed on
            since_ms = max(since_ms, owner.since_ms)
            ghosts = ghosts.owned_by(key, Owner(actor, since_ms))
    if since_ms == NOT_YET:  # after a pause as long as the lease, what it sent can have come too late to take anything
        is_late = ghosts.actors[actor].gone is Why.PAUSED and about.lease_ms is not None and now_ms >= about.lease_ms
        return Hold(key, None, Why.SLOW if is_late else Why.NO_LOCK), ghosts
    if about.servers > 1:
        ghosts = ghosts.owned_by(key, Owner(actor, since_ms))
    until_ms = _until(about, since_ms)
    slow = until_ms is not None and until_ms <= now_ms
    return Hold(key, until_ms, Why.SLOW if slow else Why.ENTITLED), ghosts


def _is_kept(ghosts: Ghosts, about: About, owner: int, actor: int) -> bool:
    """Return whether an owner in another process has done nothing yet with which it could pass its lock on."""
    is_same_process = owner // about.at_once == actor // about.at_once
    return ghosts.actors[owner].phase == RELEASES and ghosts.actors[owner].released_own == NOT_YET and not is_same_process


def _wrote(ghosts: Ghosts, about: About, actor: int, mark: WriteDone, now_ms: int, found: list[Finding]) -> Ghosts:
    hold = ghosts.actors[actor].hold
    why = hold.at(now_ms).why if hold is not None else Why.NO_LOCK
    before = next((one for one in ghosts.written if one.part == mark.part), None)
    if mark.lost > 0:
        reason = _root(why, before.why if before is not None else why)
        found.append(Finding(BROKEN_BY[reason], Harm.LOST, reason, actor))
        if about.one_process and BROKEN_BY[reason] is Claim.exclusive:
            found.append(Finding(Claim.exclusive_in_process, Harm.LOST, reason, actor))
    if ghosts.actors[actor].writes:
        found.append(Finding(Claim.counts_once, Harm.TWICE, client=actor))
    if hold is not None and why is Why.ENTITLED:
        if mark.part in hold.written_by_others:
            found.append(Finding(Claim.exclusive, Harm.TWO_HOLDERS, client=actor))
        for other, its in enumerate([one.hold for one in ghosts.actors]):
            if other != actor and its is not None and its.key != hold.key and its.is_entitled(now_ms):
                ghosts = ghosts.of_actor(other, hold=its._replace(written_by_others=its.written_by_others | {mark.part}))
    written = (*(one for one in ghosts.written if one is not before), Written(mark.part, why))
    ghosts = ghosts.of_actor(actor, writes=ghosts.actors[actor].writes + 1)
    return ghosts._replace(written=tuple(sorted(written)))


def _root(why: Why, of_victim: Why) -> Why:
    """Return which of the two is the cause: a theft only where it is the only one, for a thief is never entitled itself."""
    return next((one for one in (why, of_victim) if one not in (Why.ENTITLED, *THEFTS)), why or of_victim)
