"""What each event does to the ghost variables, and which claim it breaks.

Whose the lock is, is not read out of the names of keys. Two questions are asked of the store's state (``Probe``): which keys
would a fresh client be granted now, if it ran alone; and if none, when would it be granted one, if nobody did anything. A request
*takes* the lock with the command after which a fresh client would not get it any more. So the rules are the same for strings,
hashes, lists, sets, sorted sets, streams, second keys, and leases in fields.

The rules are the same for a search in the tables and for a replay on a real server.
"""

from __future__ import annotations

from typing import Any

from app.lock import Claim
from lab.explore.code.operation import WRONG_ANSWER, Ended, Granted, Mark, Releasing, WriteDone
from lab.explore.search.event import CLOCK, NONE, Budget
from lab.explore.search.ghosts import ASKS, NOT_YET, OVER, RELEASES, WORKS, Actor, Ghosts, Hold, Owner, Written
from lab.explore.search.harm import BROKEN_BY, OUTLASTED, THEFTS, Finding, Harm, Why
from lab.explore.search.state import DEAD, PAUSED, Change, Fault, Marked, Move, State
from lab.explore.search.world import World
from lab.judge.promises import IN_TIME, PROMISES

TRY_MS = PROMISES[Claim.answers_a_try_at_once.name].bound.ms
AT_ONCE = PROMISES[Claim.freed_after_failure.name].bound

# a holder that relies on its lock, and is right to: nothing excuses that another one gets in
RELIES = (Why.ENTITLED, Why.NO_LOCK, Why.ROBBED_BY_WAITER)
ANSWERS = ("ok", "NotAcquired", "NotOwner", "Abandoned", "Refused")


class Consequences:
    """What follows from one event: the ghosts after it, and what it breaks."""

    def __init__(self, world: World, ghosts: Ghosts, now_ms: int) -> None:
        """Take the ghosts before the event, and what the clock reads after it."""
        self.world, self.ghosts, self.now_ms = world, ghosts, now_ms
        self.found: list[Finding] = []

    @property
    def actors(self) -> tuple[Actor, ...]:
        """The requests."""
        return self.ghosts.actors

    def set(self, **values: Any) -> None:
        """Change fields of the ghosts."""
        self.ghosts = self.ghosts._replace(**values)

    def of_actor(self, actor: int, **values: Any) -> None:
        """Change fields of one request."""
        changed = self.actors[actor]._replace(**values)
        self.set(actors=(*self.actors[:actor], changed, *self.actors[actor + 1 :]))

    def owned_by(self, key: str, owner: Owner | None) -> None:
        """Change the owner of a key; None if nobody has taken it."""
        others = [one for one in self.ghosts.owners if one[0] != key]
        self.set(owners=tuple(sorted([*others, (key, owner)])) if owner is not None else tuple(others))

    def breaks(self, claim: Claim, harm: Harm, client: int = -1, why: Why = Why.ENTITLED, about: str = "") -> None:
        """Note that the event breaks a claim. client: the request that it is about."""
        self.found.append(Finding(claim, harm, why, client, about))

    def over(self, actor: int) -> None:
        """Note that a request is over."""
        self.of_actor(actor, **Actor(OVER, over_ms=self.actors[actor].over_ms)._asdict())


def judged(world: World, move: Move, budget: Budget) -> Move:
    """Return a move that is done, with the ghosts after it and what it breaks."""
    state = move.state
    if not state.happened and move.event.kind is not CLOCK:
        return move
    then, used = Consequences(world, state.ghosts, state.now_ms), budget.used(state.left)
    if move.event.kind is CLOCK:
        _passed(then, move.before, state, used)
    for one in state.happened:
        match one:
            case Change():
                changed(then, one)
            case Fault():
                _struck(then, state, one)
            case Marked(client, request, mark):
                marked(then, world.actor_of(client, request), mark)
                if isinstance(mark, Ended):
                    _over(then, state, one)
    # an error is a finding only if nothing was injected
    found = [charged(one, then.ghosts, world, used) for one in then.found if one.harm is not Harm.FAILED or used == NONE]
    return move._replace(state=state._replace(ghosts=then.ghosts, happened=()), found=tuple(dict.fromkeys(found)))


def _over(then: Consequences, state: State, ended: Marked) -> None:
    """Let a request be over: the next of its turn begins, or its replica still runs in the background."""
    world = then.world
    node, actor = world.node(state, ended.client), world.actor_of(ended.client, ended.request)
    if not node.ended[ended.request]:
        then.of_actor(actor, phase=ASKS)
    elif any(one is not None and not own for one, own in zip(node.pending, node.own, strict=True)):
        then.of_actor(actor, over_ms=state.now_ms)


def changed(then: Consequences, change: Change) -> None:
    """Let a command be executed at the lock's store."""
    world, actor = then.world, _actor(then, change)
    is_release = change.own and then.actors[actor].phase == RELEASES
    has_released = is_release and then.actors[actor].released_own != NOT_YET
    if is_release and not has_released:
        then.of_actor(actor, released_own=int(any(owner.actor == actor for _, owner in then.ghosts.owners)))
    if change.before == change.after:
        return
    # of several keys, a fresh client may take another one where the first is taken: only those count that it takes first
    before, after = (world.oracle.free(lock, then.now_ms) & world.known for lock in (change.before, change.after))
    for key in sorted(after - before):
        _freed(then, change, actor, key)
    for key in sorted(before - after) if world.program.servers == 1 else ():  # votes are split before a request has most of them
        then.owned_by(key, Owner(actor, change.sent_ms))
        # where it has released, it takes the lock anew
        then.of_actor(actor, gone=Why.ENTITLED, phase=ASKS if has_released else then.actors[actor].phase)
        then.set(idle_since_ms=NOT_YET, tested=())  # it was free: no fault before this has kept it taken
    for key in sorted(world.known - before - after):
        _prolonged(then, change, actor, key)
    then.of_actor(actor, changed_ms=change.sent_ms)


def _actor(then: Consequences, change: Change) -> int:
    """Return the request for which a thread has sent a command. One in the background sends for a request that holds the lock."""
    first = change.client * then.world.task.at_once
    if change.own and change.thread < then.world.task.at_once:
        return first + change.thread
    mine = range(first, first + then.world.task.at_once)
    owning = [owner.actor for _, owner in then.ghosts.owners if owner.actor in mine]
    going_on = [actor for actor in mine if then.actors[actor].phase != OVER]
    return next(iter((*owning, *going_on, first)))


def _freed(then: Consequences, change: Change, actor: int, key: str) -> None:
    owner, mine = then.ghosts.owner(key), then.actors[actor]
    then.owned_by(key, None)
    if owner is None:
        return
    its = then.actors[owner.actor]
    is_entitled = its.hold is not None and its.hold.is_entitled(then.now_ms)
    if owner.actor == actor:
        if then.world.task.nested and is_entitled and change.own:
            then.breaks(Claim.reentrant, Harm.FREED_BY_INNER, actor)
        return
    asks = mine.phase == ASKS and change.own
    why = Why.ROBBED_BY_WAITER if asks else Why.ROBBED_IN_RELEASE if mine.released_own == 1 else Why.ROBBED
    if its.hold is None and its.phase == ASKS:
        then.of_actor(owner.actor, gone=why)
    if its.hold is not None and is_entitled:
        if not asks:  # of a waiter that takes a lock away, it counts whether anybody gets in
            then.breaks(BROKEN_BY[why], Harm.THEFT, owner.actor, why)
        then.of_actor(owner.actor, hold=its.hold._replace(why=why))


def _prolonged(then: Consequences, change: Change, actor: int, key: str) -> None:
    """Follow a command that did not free a taken lock: it can have prolonged its lease, or passed it on."""
    owner, mine = then.ghosts.owner(key), then.actors[actor]
    if owner is None:
        return
    was, is_now = (then.world.oracle.free_at_ms(lock, then.now_ms, key) for lock in (change.before, change.after))
    if was is None or (is_now is not None and is_now <= was):
        return
    if owner.actor != actor:
        its = then.actors[owner.actor]
        if mine.phase in (WORKS, RELEASES) and (its.hold is not None or its.phase == ASKS):
            then.breaks(Claim.releases_only_its_own, Harm.FOREIGN_RENEWAL, owner.actor)
        return
    then.owned_by(key, owner._replace(since_ms=change.sent_ms))
    # a renewal on its way at the end is not one too many
    if NOT_YET < mine.over_ms < then.now_ms and not change.own:
        claim = owner.tested[0] if owner.tested else Claim.releases_only_its_own
        then.breaks(claim, Harm.RENEWED_FOR_NOBODY, actor)
    if mine.hold is not None and mine.hold.is_entitled(then.now_ms):
        then.of_actor(actor, hold=mine.hold._replace(until_ms=_until(then.world, change.sent_ms)))


def _until(world: World, since_ms: int) -> int | None:
    return None if world.lease_ms is None else since_ms + world.lease_ms


def marked(then: Consequences, actor: int, mark: Mark) -> None:
    """Let something happen in a request."""
    mine = then.actors[actor]
    match mark:
        case Granted() if then.world.task.nested and mine.phase == WORKS:
            pass  # the work begins, and the lock was granted before
        case Granted():
            _granted(then, actor, mark)
        case WriteDone():
            _wrote(then, actor, mark)
        case Releasing():
            if mine.hold is not None and mine.hold.at(then.now_ms).why is Why.EXPIRED and not mine.writes:
                then.breaks(Claim.held_to_the_end, Harm.ABANDONED, actor, Why.EXPIRED)
            then.of_actor(actor, hold=None, phase=RELEASES, released_own=NOT_YET, changed_ms=NOT_YET)
        case Ended():
            _ended(then, actor, mark)


def _ended(then: Consequences, actor: int, mark: Ended) -> None:
    ghosts, wait_ms, writes = then.ghosts, then.world.task.wait_ms, then.actors[actor].writes
    says_done, left = mark.how == "ok", mark.how == "NotAcquired"
    not_done = not writes and (says_done or mark.how == WRONG_ANSWER)
    if not_done:
        then.breaks(Claim.counts_once, Harm.NOT_DONE, actor)
    if left and writes:
        then.breaks(Claim.counts_once, Harm.DONE_AND_REFUSED, actor)
    if left and wait_ms == 0 and then.now_ms > TRY_MS:
        then.breaks(Claim.answers_a_try_at_once, Harm.SLOW_TRY, actor)
    in_vain = left and wait_ms and ghosts.idle_since_ms != NOT_YET and then.now_ms - ghosts.idle_since_ms >= wait_ms
    if in_vain and not ghosts.owners and not ghosts.tested:  # all its time for a lock that nobody had
        then.breaks(Claim.waiters_may_leave if ghosts.gave_up else Claim.loses_no_wakeup, Harm.ASLEEP, actor)
    if mark.how not in ANSWERS and not not_done:
        at = f" at {mark.where}" if mark.where else ""
        about_it = f"{mark.how}{at}{f': {mark.why}' if mark.why else ''}"
        then.breaks(Claim.serves_most_requests, Harm.FAILED, actor, about=about_it)
    then.over(actor)
    then.set(served=ghosts.served + (says_done and writes > 0), gave_up=ghosts.gave_up + left)


def _granted(then: Consequences, actor: int, mark: Granted) -> None:
    hold = _hold(then, actor, mark.key)
    for other, its in enumerate([one.hold for one in then.actors]):
        if other == actor or its is None or hold.why not in RELIES or its.at(then.now_ms).why not in RELIES:
            continue
        if mark.key and its.key == mark.key:
            then.breaks(Claim.exclusive, Harm.TWO_HOLDERS, actor)
            if other // then.world.task.at_once == actor // then.world.task.at_once:
                then.breaks(Claim.exclusive_in_process, Harm.TWO_IN_PROCESS, actor)
    if mark.fence:
        if mark.fence <= then.ghosts.fence:
            then.breaks(Claim.fence_outlives_restart, Harm.FENCE, actor)
        then.set(fence=max(mark.fence, then.ghosts.fence))
    then.of_actor(actor, hold=hold, phase=WORKS, gone=Why.ENTITLED)
    then.set(idle_since_ms=NOT_YET)


def _hold(then: Consequences, actor: int, key: str) -> Hold:
    """Return what a request holds that begins its work now. It is the owner then."""
    if not key:
        return Hold("", None, Why.NO_LOCK)
    world, owner, mine = then.world, then.ghosts.owner(key), then.actors[actor]
    since_ms = mine.changed_ms
    if owner is not None and owner.actor == actor:
        since_ms = owner.since_ms
    elif mine.gone not in (Why.ENTITLED, Why.PAUSED):
        if mine.gone in THEFTS and mine.gone is not Why.ROBBED_BY_WAITER:
            then.breaks(BROKEN_BY[mine.gone], Harm.THEFT, actor, mine.gone)
        return Hold(key, then.now_ms, mine.gone)
    elif owner is not None and world.program.servers == 1:
        other = then.actors[owner.actor].hold
        is_held = other is not None and other.is_entitled(then.now_ms)
        if not is_held and not _is_kept(then, owner.actor, actor):  # it was passed on
            since_ms = max(since_ms, owner.since_ms)
            then.owned_by(key, Owner(actor, since_ms))
    if since_ms == NOT_YET:  # after a pause as long as the lease, what it sent can have come too late to take anything
        is_late = mine.gone is Why.PAUSED and world.lease_ms is not None and then.now_ms >= world.lease_ms
        return Hold(key, None, Why.SLOW if is_late else Why.NO_LOCK)
    if world.program.servers > 1:
        then.owned_by(key, Owner(actor, since_ms))
    until_ms = _until(world, since_ms)
    return Hold(key, until_ms, Why.SLOW if until_ms is not None and until_ms <= then.now_ms else Why.ENTITLED)


def _is_kept(then: Consequences, owner: int, actor: int) -> bool:
    """Return whether an owner in another process has done nothing yet with which it could pass its lock on."""
    its, is_same_process = then.actors[owner], owner // then.world.task.at_once == actor // then.world.task.at_once
    return its.phase == RELEASES and its.released_own == NOT_YET and not is_same_process


def _wrote(then: Consequences, actor: int, mark: WriteDone) -> None:
    ghosts, hold, writes = then.ghosts, then.actors[actor].hold, then.actors[actor].writes
    why = hold.at(then.now_ms).why if hold is not None else Why.NO_LOCK
    before = next((one for one in ghosts.written if one.part == mark.part), None)
    if mark.lost > 0:
        reason = _root(why, before.why if before is not None else why)
        then.breaks(BROKEN_BY[reason], Harm.LOST, actor, reason)
        if len(then.world.trees) == 1 and BROKEN_BY[reason] is Claim.exclusive:
            then.breaks(Claim.exclusive_in_process, Harm.LOST, actor, reason)
    if writes:
        then.breaks(Claim.counts_once, Harm.TWICE, actor)
    if hold is not None and why is Why.ENTITLED:
        if mark.part in hold.written_by_others:
            then.breaks(Claim.exclusive, Harm.TWO_HOLDERS, actor)
        for other, its in enumerate([one.hold for one in ghosts.actors]):
            if other != actor and its is not None and its.key != hold.key and its.is_entitled(then.now_ms):
                then.of_actor(other, hold=its._replace(written_by_others=its.written_by_others | {mark.part}))
    written = (*(one for one in ghosts.written if one is not before), Written(mark.part, why))
    then.of_actor(actor, writes=writes + 1)
    then.set(written=tuple(sorted(written)))


def _root(why: Why, of_victim: Why) -> Why:
    """Return which of the two is the cause: a theft only where it is the only one, for a thief is never entitled itself."""
    return next((one for one in (why, of_victim) if one not in (Why.ENTITLED, *THEFTS)), why or of_victim)


# Faults. Each is charged to the state of the lock that it left.


def _struck(then: Consequences, state: State, fault: Fault) -> None:
    """Let a fault change the ghosts. One that strikes a replica hits all of its requests."""
    requests = range(fault.actor, fault.actor + then.world.task.at_once)
    match fault.name:
        case "restarts":
            _freed_by_nobody(then, state.lock, Why.VOTE_LOST if then.world.program.servers > 1 else Why.STORE_LOST_IT)
        case "pauses":
            writing = then.world.node(state, fault.actor // then.world.task.at_once).writing
            for actor in requests:
                _paused(then, actor, actor - fault.actor in writing)
        case "crashes":
            for actor in requests:
                _crashed(then, actor)
        case _:
            _faulted(then, fault.actor, fault.name, fault.in_vain)


def _paused(then: Consequences, actor: int, writing: bool) -> None:
    """Pause the replica of a request. ``writing``: the request has looked at its lock for the last time."""
    mine = then.actors[actor]
    if mine.hold is not None:  # the lease outlived an earlier pause: what follows from a later one is not due to the earlier
        then.of_actor(actor, hold=mine.hold._replace(paused_late=writing, paused=not writing))
    elif mine.phase == ASKS:  # it can keep others waiting that stand behind it
        _faulted(then, actor, "pauses")
        then.of_actor(actor, gone=Why.PAUSED if mine.gone is Why.ENTITLED else mine.gone)


def _faulted(then: Consequences, actor: int, fault: str, in_vain: bool = False) -> None:
    """Let a fault hit a request. It is kept with the lock that the request has taken, if it has."""
    mine = then.actors[actor]
    claim = claim_of(fault, mine.phase, in_vain)
    then.set(doubled=then.ghosts.doubled or (fault == "resends" and not in_vain))
    if mine.hold is not None and fault == "lost_replies":
        then.of_actor(actor, hold=mine.hold._replace(unrenewed=True))
    owned = [(key, owner) for key, owner in then.ghosts.owners if owner.actor == actor]
    for key, owner in owned:
        then.owned_by(key, owner._replace(tested=(*owner.tested, claim)))
    if not owned or mine.phase == ASKS:  # while it asks, the lock can be left over from the request before it in its thread
        then.set(tested=(*then.ghosts.tested, claim))


def _crashed(then: Consequences, actor: int) -> None:
    """Let the replica of a request die."""
    if then.actors[actor].phase != OVER:
        _faulted(then, actor, "crashes")
        then.over(actor)


def _freed_by_nobody(then: Consequences, after: int, why: Why) -> None:
    """Let what no request has done free the lock: its owner may not know."""
    for key in then.world.oracle.free(after, then.now_ms) if then.ghosts.owners else ():
        owner = then.ghosts.owner(key)
        if owner is None:
            continue
        then.owned_by(key, None)
        its = then.actors[owner.actor]
        if its.hold is None and its.phase == ASKS:
            then.of_actor(owner.actor, gone=why)
        elif its.hold is not None and why is not Why.SLOW and its.hold.is_entitled(then.now_ms):
            then.of_actor(owner.actor, hold=its.hold._replace(why=why))


# Time: a lock that nobody uses must not stay locked, neither for longer than its claims allow nor to the end.


def _passed(then: Consequences, before: State, after: State, used: Budget) -> None:
    """Let some time pass, because no client could do anything: a lock that nobody uses must not stay locked."""
    world, since_ms = then.world, NOT_YET
    waiting = world.waiting(before)
    if again := world.asking_again(before):
        then.breaks(Claim.reentrant, Harm.REFUSED_TO_ITSELF, again[0])
    if waiting and _is_idle(world, before):
        since_ms = before.now_ms if then.ghosts.idle_since_ms == NOT_YET else then.ghosts.idle_since_ms
        key = next(iter(_taken(world, before)), "")
        _idle(then, before, waiting[0], key, after.now_ms - since_ms, used)
        if key and not _taken(world, after):
            since_ms = after.now_ms  # how long somebody sleeps counts from when the lock is free
    _freed_by_nobody(then, after.lock, Why.SLOW)
    # all that a lease excuses from now on, in the hold itself: two states that differ in nothing else are one
    actors = tuple([one._replace(hold=one.hold.at(after.now_ms)) if one.hold else one for one in then.actors])
    then.set(idle_since_ms=since_ms, actors=actors)


def _is_idle(world: World, state: State) -> bool:
    """Return whether no request uses the lock: none works, and the request that has taken the lock is not paused."""
    at_once = world.task.at_once
    for actor, one in enumerate(state.ghosts.actors):
        if one.phase == WORKS and state.modes[actor // at_once] != DEAD:
            return False
    if world.program.servers > 1 and PAUSED in state.modes:  # whose the votes are, is not known before most of them are given
        return False
    return not any(state.modes[owner.actor // at_once] == PAUSED for _, owner in state.ghosts.owners)


def _idle(then: Consequences, before: State, waiter: int, key: str, idle_ms: int, used: Budget) -> None:
    """Note what is broken where nobody has used the lock for so long, and somebody waits. key: what keeps it from them."""
    if not key:
        if idle_ms > AT_ONCE.in_ms(then.world.task.ttl_ms):
            then.breaks(Claim.loses_no_wakeup, Harm.ASLEEP, waiter)
        return
    claim, bound_ms = attributed(then.ghosts, then.world, key, used)
    if idle_ms > bound_ms:
        never = then.world.oracle.free_at_ms(before.lock, before.now_ms, key) is None
        harm = Harm.NOT_FREED if claim is Claim.releases_only_its_own else Harm.STUCK if never else Harm.LOCKED
        then.breaks(claim, harm, waiter)


def _taken(world: World, state: State) -> list[str]:
    return sorted(world.known - world.oracle.free(state.lock, state.now_ms))


def end(world: World, state: State, budget: Budget, horizon_ms: int) -> list[Finding]:
    """Return what is broken if nothing can happen any more: at the horizon, what waits would continue."""
    ghosts, used, is_cut = state.ghosts, budget.used(state.left), state.now_ms >= horizon_ms
    then, waiting, taken = Consequences(world, ghosts, state.now_ms), world.waiting(state), _taken(world, state)
    kept = taken[0] if taken and waiting else ""
    goes_on = any(not world.node(state, client).own[thread] for client, thread, _ in world.threads(state))  # in the background
    if waiting and not is_cut:
        selfish = [one for one in waiting if then.actors[one].phase == WORKS]
        if selfish:
            then.breaks(Claim.reentrant, Harm.REFUSED_TO_ITSELF, selfish[0])
        else:
            claim = attributed(ghosts, world, kept, used)[0] if kept else Claim.loses_no_wakeup
            then.breaks(claim, Harm.STUCK, waiting[0])
    elif taken and not waiting and not goes_on:
        claim, bound_ms = attributed(ghosts, world, taken[0], used)
        free_ms = world.oracle.free_at_ms(state.lock, state.now_ms, taken[0])
        if free_ms is None or free_ms - state.now_ms > bound_ms:
            harm = Harm.BLOCKED_BY_LEAVER if claim is Claim.waiters_may_leave else Harm.LOCKED
            then.breaks(claim, Harm.NOT_FREED if claim is Claim.releases_only_its_own else harm)
    few = 2 * ghosts.served < world.actors * world.task.in_turn
    if world.serves and waiting and (kept or few):
        idle_ms = 0 if ghosts.idle_since_ms == NOT_YET else state.now_ms - ghosts.idle_since_ms
        if not is_cut or idle_ms > IN_TIME.in_ms(world.task.ttl_ms):
            then.breaks(Claim.serves_most_requests, Harm.STUCK, waiting[0])
    elif world.serves and not waiting and few:
        then.breaks(Claim.serves_most_requests, Harm.FEW_SERVED)
    return [charged(one, ghosts, world, used) for one in then.found]


# Which claim is broken if several could be.


def attributed(ghosts: Ghosts, world: World, key: str, used: Budget) -> tuple[Claim, float]:
    """Return which claim breaks if a lock stays locked, and for how long it may: the fault decides that left it so."""
    owner, ttl_ms = ghosts.owner(key), world.task.ttl_ms
    tested = (*(owner.tested if owner is not None else ()), *ghosts.tested)
    if used.restarts:
        return Claim.survives_store_restart, IN_TIME.in_ms(ttl_ms)
    if not tested:
        return (Claim.waiters_may_leave if ghosts.gave_up else Claim.releases_only_its_own), AT_ONCE.in_ms(ttl_ms)
    # a failure of the work decides less than other faults
    first = next((one for one in tested if one is not Claim.freed_after_failure), tested[0])
    return first, max(PROMISES[one.name].bound.in_ms(ttl_ms) for one in tested)


def claim_of(fault: str, phase: int, in_vain: bool) -> Claim:
    """Return the claim that a fault puts to the test if it leaves a lock behind. phase: of the request that it hits."""
    match fault:
        case "failures":
            return Claim.freed_after_failure
        case "resends":
            return Claim.survives_a_lost_reply
        case _ if phase == ASKS:
            return Claim.acquires_atomically
        case "crashes":
            return Claim.freed_after_crash
        case _ if phase == RELEASES and not in_vain:
            return Claim.freed_after_a_lost_release
        case _:
            return Claim.freed_after_a_failed_release


def charged(finding: Finding, ghosts: Ghosts, world: World, used: Budget) -> Finding:
    """Return the finding with the claim that it breaks: a fault is the cause where the store lost data, or counted twice."""
    if finding.harm is Harm.LOST and finding.why in OUTLASTED and used == NONE and world.task.work_ms < world.task.ttl_ms:
        finding = finding._replace(claim=Claim.reentrant if world.task.nested else Claim.exclusive)
    if ghosts.doubled and finding.claim in (Claim.exclusive, Claim.reentrant):
        return finding._replace(claim=Claim.survives_a_lost_reply)
    if not used.restarts or finding.claim is Claim.fence_outlives_restart:
        return finding
    return finding._replace(claim=Claim.survives_amnesia if world.program.servers > 1 else Claim.survives_store_restart)
