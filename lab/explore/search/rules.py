"""Judge each event: change the ghost variables, and find the claims that it breaks.

The owner of a lock does not follow from the names of keys. Two questions are put to the oracle (``Probe``) for a state of the
store: which keys would a fresh client be granted now, if it ran alone? And if none: when would it be granted one, if no client
acted? A request *takes* the lock with the command after which a fresh client would not get the lock any more. So the same rules
fit strings, hashes, lists, sets, sorted sets, streams, second keys, and leases in fields.

The rules are the same for a search in tables and for a replay on a real server.
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

# the reasons of holders that rightly rely on their lock: nothing excuses that another request is granted the lock meanwhile
RELIES = (Why.ENTITLED, Why.NO_LOCK, Why.ROBBED_BY_WAITER)
ANSWERS = ("ok", "NotAcquired", "NotOwner", "Abandoned", "Refused")


class Effects:
    """The effects of one event: the ghosts after it, and the claims that it breaks."""

    def __init__(self, world: World, ghosts: Ghosts, now_ms: int) -> None:
        """Take the ghosts before the event, and the time on the clock after it."""
        self.world, self.ghosts, self.now_ms = world, ghosts, now_ms
        self.findings: list[Finding] = []

    @property
    def actors(self) -> tuple[Actor, ...]:
        """Return the requests."""
        return self.ghosts.actors

    def set(self, **values: Any) -> None:
        """Change fields of the ghosts."""
        self.ghosts = self.ghosts._replace(**values)

    def change_request(self, actor: int, **values: Any) -> None:
        """Change fields of one request."""
        changed = self.actors[actor]._replace(**values)
        self.set(actors=(*self.actors[:actor], changed, *self.actors[actor + 1 :]))

    def set_owner(self, key: str, owner: Owner | None) -> None:
        """Change the owner of a key; None for no owner."""
        others = [pair for pair in self.ghosts.owners if pair[0] != key]
        self.set(owners=tuple(sorted([*others, (key, owner)])) if owner is not None else tuple(others))

    def breaks(self, claim: Claim, harm: Harm, client: int = -1, why: Why = Why.ENTITLED, error: str = "") -> None:
        """Record that the event breaks a claim. client: the request that it harms or accuses."""
        self.findings.append(Finding(claim, harm, why, client, error))

    def end_request(self, actor: int) -> None:
        """Record that a request is over."""
        self.change_request(actor, **Actor(OVER, over_ms=self.actors[actor].over_ms)._asdict())


def judge(world: World, move: Move, budget: Budget) -> Move:
    """Return a move with the ghosts after it and its findings. budget: the faults of the whole search."""
    state = move.state
    if not state.happened and move.event.kind is not CLOCK:
        return move
    effects, used = Effects(world, state.ghosts, state.now_ms), budget.used(state.left)
    if move.event.kind is CLOCK:
        _judge_clock(effects, move.before, state, used)
    for part in state.happened:
        match part:
            case Change():
                judge_command(effects, part)
            case Fault():
                _apply_fault(effects, state, part)
            case Marked(client, request, mark):
                judge_mark(effects, world.actor_of(client, request), mark)
                if isinstance(mark, Ended):
                    _go_on_after_end(effects, state, part)
    # an error is a finding only if no fault was injected
    valid = [finding for finding in effects.findings if finding.harm is not Harm.FAILED or used == NONE]
    findings = [with_final_claim(finding, effects.ghosts, world, used) for finding in valid]
    return move._replace(state=state._replace(ghosts=effects.ghosts, happened=()), findings=tuple(dict.fromkeys(findings)))


def _go_on_after_end(effects: Effects, state: State, ended: Marked) -> None:
    """End a request: the next request of its thread begins, or a thread of its replica still runs in the background."""
    world = effects.world
    node, actor = world.node(state, ended.client), world.actor_of(ended.client, ended.request)
    if not node.ended[ended.request]:
        effects.change_request(actor, phase=ASKS)
    elif any(operation is not None and not own for operation, own in zip(node.pending, node.own, strict=True)):
        effects.change_request(actor, over_ms=state.now_ms)


def judge_command(effects: Effects, change: Change) -> None:
    """Judge a command that the lock's store has executed."""
    world, actor = effects.world, _actor(effects, change)
    is_release = change.own and effects.actors[actor].phase == RELEASES
    has_released = is_release and effects.actors[actor].released_own != NOT_YET
    if is_release and not has_released:
        effects.change_request(actor, released_own=int(any(owner.actor == actor for _, owner in effects.ghosts.owners)))
    if change.before == change.after:
        return
    # only the keys that a client takes on an empty store count: if they are taken, it may take other keys
    before, after = (world.oracle.free(lock, effects.now_ms) & world.known for lock in (change.before, change.after))
    for key in sorted(after - before):
        _judge_freed_key(effects, change, actor, key)
    for key in sorted(before - after) if world.program.servers == 1 else ():  # votes of several servers may be split
        effects.set_owner(key, Owner(actor, change.sent_ms))
        # after its release, it acquires the lock again
        effects.change_request(actor, gone=Why.ENTITLED, phase=ASKS if has_released else effects.actors[actor].phase)
        effects.set(idle_since_ms=NOT_YET, tested=())  # the lock was free: no earlier fault has kept it locked
    for key in sorted(world.known - before - after):
        _judge_kept_key(effects, change, actor, key)
    effects.change_request(actor, changed_ms=change.sent_ms)


def _actor(effects: Effects, change: Change) -> int:
    """Return the request for which a thread has sent a command. A thread in the background sends for the owner of the lock."""
    first = change.client * effects.world.task.at_once
    if change.own and change.thread < effects.world.task.at_once:
        return first + change.thread
    actors = range(first, first + effects.world.task.at_once)
    owning = [owner.actor for _, owner in effects.ghosts.owners if owner.actor in actors]
    going_on = [actor for actor in actors if effects.actors[actor].phase != OVER]
    return next(iter((*owning, *going_on, first)))


def _judge_freed_key(effects: Effects, change: Change, actor: int, key: str) -> None:
    owner, request = effects.ghosts.owner(key), effects.actors[actor]
    effects.set_owner(key, None)
    if owner is None:
        return
    holder = effects.actors[owner.actor]
    is_entitled = holder.hold is not None and holder.hold.is_entitled(effects.now_ms)
    if owner.actor == actor:
        if effects.world.task.nested and is_entitled and change.own:
            effects.breaks(Claim.reentrant, Harm.FREED_BY_INNER, actor)
        return
    asks = request.phase == ASKS and change.own
    why = Why.ROBBED_BY_WAITER if asks else Why.ROBBED_IN_RELEASE if request.released_own == 1 else Why.ROBBED
    if holder.hold is None and holder.phase == ASKS:
        effects.change_request(owner.actor, gone=why)
    if holder.hold is not None and is_entitled:
        if not asks:  # if a waiter takes the lock away, the claim breaks when a second request is granted it
            effects.breaks(BROKEN_BY[why], Harm.THEFT, owner.actor, why)
        effects.change_request(owner.actor, hold=holder.hold._replace(why=why))


def _judge_kept_key(effects: Effects, change: Change, actor: int, key: str) -> None:
    """Judge a command after which a taken lock is still taken: it may have prolonged the lease."""
    owner, request = effects.ghosts.owner(key), effects.actors[actor]
    if owner is None:
        return
    was, is_now = (effects.world.oracle.free_at_ms(lock, effects.now_ms, key) for lock in (change.before, change.after))
    if was is None or (is_now is not None and is_now <= was):
        return
    if owner.actor != actor:
        holder = effects.actors[owner.actor]
        if request.phase in (WORKS, RELEASES) and (holder.hold is not None or holder.phase == ASKS):
            effects.breaks(Claim.releases_only_its_own, Harm.FOREIGN_RENEWAL, owner.actor)
        return
    effects.set_owner(key, owner._replace(since_ms=change.sent_ms))
    # a renewal that was sent before the request ended is allowed
    if NOT_YET < request.over_ms < effects.now_ms and not change.own:
        claim = owner.tested[0] if owner.tested else Claim.releases_only_its_own
        effects.breaks(claim, Harm.RENEWED_FOR_NOBODY, actor)
    if request.hold is not None and request.hold.is_entitled(effects.now_ms):
        effects.change_request(actor, hold=request.hold._replace(until_ms=_lease_end(effects.world, change.sent_ms)))


def _lease_end(world: World, since_ms: int) -> int | None:
    return None if world.lease_ms is None else since_ms + world.lease_ms


def judge_mark(effects: Effects, actor: int, mark: Mark) -> None:
    """Judge a mark that a request has passed."""
    request = effects.actors[actor]
    match mark:
        case Granted() if effects.world.task.nested and request.phase == WORKS:
            pass  # the work begins: the lock was granted before
        case Granted():
            _judge_grant(effects, actor, mark)
        case WriteDone():
            _judge_write(effects, actor, mark)
        case Releasing():
            if request.hold is not None and request.hold.at(effects.now_ms).why is Why.EXPIRED and not request.writes:
                effects.breaks(Claim.held_to_the_end, Harm.ABANDONED, actor, Why.EXPIRED)
            effects.change_request(actor, hold=None, phase=RELEASES, released_own=NOT_YET, changed_ms=NOT_YET)
        case Ended():
            _judge_end(effects, actor, mark)


def _judge_end(effects: Effects, actor: int, mark: Ended) -> None:
    ghosts, wait_ms, writes = effects.ghosts, effects.world.task.wait_ms, effects.actors[actor].writes
    says_done, left = mark.how == "ok", mark.how == "NotAcquired"
    not_done = not writes and (says_done or mark.how == WRONG_ANSWER)
    if not_done:
        effects.breaks(Claim.counts_once, Harm.NOT_DONE, actor)
    if left and writes:
        effects.breaks(Claim.counts_once, Harm.DONE_AND_REFUSED, actor)
    if left and wait_ms == 0 and effects.now_ms > TRY_MS:
        effects.breaks(Claim.answers_a_try_at_once, Harm.SLOW_TRY, actor)
    in_vain = left and wait_ms and ghosts.idle_since_ms != NOT_YET and effects.now_ms - ghosts.idle_since_ms >= wait_ms
    if in_vain and not ghosts.owners and not ghosts.tested:  # it waited all its time while the lock was free
        effects.breaks(Claim.waiters_may_leave if ghosts.gave_up else Claim.loses_no_wakeup, Harm.ASLEEP, actor)
    if mark.how not in ANSWERS and not not_done:
        at = f" at {mark.where}" if mark.where else ""
        error = f"{mark.how}{at}{f': {mark.why}' if mark.why else ''}"
        effects.breaks(Claim.serves_most_requests, Harm.FAILED, actor, error=error)
    effects.end_request(actor)
    effects.set(served=ghosts.served + (says_done and writes > 0), gave_up=ghosts.gave_up + left)


def _judge_grant(effects: Effects, actor: int, mark: Granted) -> None:
    hold = _begin_hold(effects, actor, mark.key)
    for other, held in enumerate([each.hold for each in effects.actors]):
        if other == actor or held is None or hold.why not in RELIES or held.at(effects.now_ms).why not in RELIES:
            continue
        if mark.key and held.key == mark.key:
            effects.breaks(Claim.exclusive, Harm.TWO_HOLDERS, actor)
            if other // effects.world.task.at_once == actor // effects.world.task.at_once:
                effects.breaks(Claim.exclusive_in_process, Harm.TWO_IN_PROCESS, actor)
    if mark.fence:
        if mark.fence <= effects.ghosts.fence:
            effects.breaks(Claim.fence_outlives_restart, Harm.FENCE, actor)
        effects.set(fence=max(mark.fence, effects.ghosts.fence))
    effects.change_request(actor, hold=hold, phase=WORKS, gone=Why.ENTITLED)
    effects.set(idle_since_ms=NOT_YET)


def _begin_hold(effects: Effects, actor: int, key: str) -> Hold:
    """Return the hold of a request that begins its work now, and make it the owner."""
    if not key:
        return Hold("", None, Why.NO_LOCK)
    world, owner, request = effects.world, effects.ghosts.owner(key), effects.actors[actor]
    since_ms = request.changed_ms
    if owner is not None and owner.actor == actor:
        since_ms = owner.since_ms
    elif request.gone not in (Why.ENTITLED, Why.PAUSED):
        if request.gone in THEFTS and request.gone is not Why.ROBBED_BY_WAITER:
            effects.breaks(BROKEN_BY[request.gone], Harm.THEFT, actor, request.gone)
        return Hold(key, effects.now_ms, request.gone)
    elif owner is not None and world.program.servers == 1:
        other = effects.actors[owner.actor].hold
        is_held = other is not None and other.is_entitled(effects.now_ms)
        if not is_held and not _is_kept(effects, owner.actor, actor):  # the owner has passed its lock on
            since_ms = max(since_ms, owner.since_ms)
            effects.set_owner(key, Owner(actor, since_ms))
    if since_ms == NOT_YET:  # after a pause as long as the lease, its command may have come too late to take the lock
        is_late = request.gone is Why.PAUSED and world.lease_ms is not None and effects.now_ms >= world.lease_ms
        return Hold(key, None, Why.SLOW if is_late else Why.NO_LOCK)
    if world.program.servers > 1:
        effects.set_owner(key, Owner(actor, since_ms))
    until_ms = _lease_end(world, since_ms)
    return Hold(key, until_ms, Why.SLOW if until_ms is not None and until_ms <= effects.now_ms else Why.ENTITLED)


def _is_kept(effects: Effects, owner: int, actor: int) -> bool:
    """Return whether an owner in another process has not sent any command yet that could pass its lock on."""
    request, is_same_process = effects.actors[owner], owner // effects.world.task.at_once == actor // effects.world.task.at_once
    return request.phase == RELEASES and request.released_own == NOT_YET and not is_same_process


def _judge_write(effects: Effects, actor: int, mark: WriteDone) -> None:
    ghosts, hold, writes = effects.ghosts, effects.actors[actor].hold, effects.actors[actor].writes
    why = hold.at(effects.now_ms).why if hold is not None else Why.NO_LOCK
    before = next((write for write in ghosts.written if write.part == mark.part), None)
    if mark.lost > 0:
        reason = _root(why, before.why if before is not None else why)
        effects.breaks(BROKEN_BY[reason], Harm.LOST, actor, reason)
        if len(effects.world.trees) == 1 and BROKEN_BY[reason] is Claim.exclusive:
            effects.breaks(Claim.exclusive_in_process, Harm.LOST, actor, reason)
    if writes:
        effects.breaks(Claim.counts_once, Harm.TWICE, actor)
    if hold is not None and why is Why.ENTITLED:
        if mark.part in hold.written_by_others:
            effects.breaks(Claim.exclusive, Harm.TWO_HOLDERS, actor)
        for other, held in enumerate([each.hold for each in ghosts.actors]):
            if other != actor and held is not None and held.key != hold.key and held.is_entitled(effects.now_ms):
                effects.change_request(other, hold=held._replace(written_by_others=held.written_by_others | {mark.part}))
    written = (*(write for write in ghosts.written if write is not before), Written(mark.part, why))
    effects.change_request(actor, writes=writes + 1)
    effects.set(written=tuple(sorted(written)))


def _root(why: Why, of_victim: Why) -> Why:
    """Return the cause of a lost write from the reasons of writer and victim: a theft only if there is no other cause."""
    return next((reason for reason in (why, of_victim) if reason not in (Why.ENTITLED, *THEFTS)), why or of_victim)


# Faults: each tests a claim, and the claim is kept with the lock.


def _apply_fault(effects: Effects, state: State, fault: Fault) -> None:
    """Change the ghosts by a fault. A fault of a replica hits all its requests."""
    requests = range(fault.actor, fault.actor + effects.world.task.at_once)
    match fault.name:
        case "restarts":
            _freed_by_nobody(effects, state.lock, Why.VOTE_LOST if effects.world.program.servers > 1 else Why.STORE_LOST_IT)
        case "pauses":
            writing = effects.world.node(state, fault.actor // effects.world.task.at_once).writing
            for actor in requests:
                _pause(effects, actor, actor - fault.actor in writing)
        case "crashes":
            for actor in requests:
                if effects.actors[actor].phase != OVER:
                    _note_tested_claim(effects, actor, "crashes")
                    effects.end_request(actor)
        case _:
            _note_tested_claim(effects, fault.actor, fault.name, fault.in_vain)


def _pause(effects: Effects, actor: int, writing: bool) -> None:
    """Pause the replica of a request. writing: whether the request has checked its lock for the last time."""
    request = effects.actors[actor]
    if request.hold is not None:  # the lease outlived earlier pauses, so only the last pause can be a cause
        effects.change_request(actor, hold=request.hold._replace(paused_late=writing, paused=not writing))
    elif request.phase == ASKS:  # it can block the waiters behind it
        _note_tested_claim(effects, actor, "pauses")
        effects.change_request(actor, gone=Why.PAUSED if request.gone is Why.ENTITLED else request.gone)


def _note_tested_claim(effects: Effects, actor: int, fault: str, in_vain: bool = False) -> None:
    """Record the claim that a fault of a request tests: with the lock if the request has taken it."""
    request = effects.actors[actor]
    claim = claim_of(fault, request.phase, in_vain)
    effects.set(doubled=effects.ghosts.doubled or (fault == "resends" and not in_vain))
    if request.hold is not None and fault == "lost_replies":
        effects.change_request(actor, hold=request.hold._replace(unrenewed=True))
    owned = [(key, owner) for key, owner in effects.ghosts.owners if owner.actor == actor]
    for key, owner in owned:
        effects.set_owner(key, owner._replace(tested=(*owner.tested, claim)))
    if not owned or request.phase == ASKS:  # while it acquires, it can own the lock that the request before it left locked
        effects.set(tested=(*effects.ghosts.tested, claim))


def _freed_by_nobody(effects: Effects, after: int, why: Why) -> None:
    """Free the keys that time or a restart has freed: their owners may not know."""
    for key in effects.world.oracle.free(after, effects.now_ms) if effects.ghosts.owners else ():
        owner = effects.ghosts.owner(key)
        if owner is None:
            continue
        effects.set_owner(key, None)
        holder = effects.actors[owner.actor]
        if holder.hold is None and holder.phase == ASKS:
            effects.change_request(owner.actor, gone=why)
        elif holder.hold is not None and why is not Why.SLOW and holder.hold.is_entitled(effects.now_ms):
            effects.change_request(owner.actor, hold=holder.hold._replace(why=why))


# Time: a lock that no request uses must not stay locked, neither longer than its claims allow nor to the end.


def _judge_clock(effects: Effects, before: State, after: State, used: Budget) -> None:
    """Judge an event of the clock: time has passed because all clients sleep. used: the faults so far."""
    world, since_ms = effects.world, NOT_YET
    waiting = world.waiting(before)
    if again := world.asking_again(before):
        effects.breaks(Claim.reentrant, Harm.REFUSED_TO_ITSELF, again[0])
    if waiting and _is_idle(world, before):
        since_ms = before.now_ms if effects.ghosts.idle_since_ms == NOT_YET else effects.ghosts.idle_since_ms
        key = next(iter(_taken_keys(world, before)), "")
        _judge_idle(effects, before, waiting[0], key, after.now_ms - since_ms, used)
        if key and not _taken_keys(world, after):
            since_ms = after.now_ms  # the sleep of a waiter counts from the moment at which the lock is free
    _freed_by_nobody(effects, after.lock, Why.SLOW)
    # record in each hold that its lease has ended: then states that differ only in earlier moments are equal
    actors = tuple([actor._replace(hold=actor.hold.at(after.now_ms)) if actor.hold else actor for actor in effects.actors])
    effects.set(idle_since_ms=since_ms, actors=actors)


def _is_idle(world: World, state: State) -> bool:
    """Return whether no request uses the lock: none is in its work, and the owner is not paused."""
    at_once = world.task.at_once
    for actor, request in enumerate(state.ghosts.actors):
        if request.phase == WORKS and state.modes[actor // at_once] != DEAD:
            return False
    if world.program.servers > 1 and PAUSED in state.modes:  # a paused client may have votes, though it owns no lock yet
        return False
    return not any(state.modes[owner.actor // at_once] == PAUSED for _, owner in state.ghosts.owners)


def _judge_idle(effects: Effects, before: State, waiter: int, key: str, idle_ms: int, used: Budget) -> None:
    """Judge that no request has used the lock for some time, and a request waits. key: the taken key; "" if the lock is free."""
    if not key:
        if idle_ms > AT_ONCE.in_ms(effects.world.task.ttl_ms):
            effects.breaks(Claim.loses_no_wakeup, Harm.ASLEEP, waiter)
        return
    claim, bound_ms = claim_if_locked(effects.ghosts, effects.world, key, used)
    if idle_ms > bound_ms:
        never = effects.world.oracle.free_at_ms(before.lock, before.now_ms, key) is None
        harm = Harm.NOT_FREED if claim is Claim.releases_only_its_own else Harm.STUCK if never else Harm.LOCKED
        effects.breaks(claim, harm, waiter)


def _taken_keys(world: World, state: State) -> list[str]:
    return sorted(world.known - world.oracle.free(state.lock, state.now_ms))


def end(world: World, state: State, budget: Budget, horizon_ms: int) -> list[Finding]:
    """Return the findings at the end of a schedule. At the horizon, waiting threads would still continue."""
    ghosts, used, is_cut = state.ghosts, budget.used(state.left), state.now_ms >= horizon_ms
    effects, waiting, taken = Effects(world, ghosts, state.now_ms), world.waiting(state), _taken_keys(world, state)
    kept = taken[0] if taken and waiting else ""
    goes_on = any(not world.node(state, client).own[thread] for client, thread, _ in world.threads(state))  # in the background
    if waiting and not is_cut:
        selfish = [actor for actor in waiting if effects.actors[actor].phase == WORKS]
        if selfish:
            effects.breaks(Claim.reentrant, Harm.REFUSED_TO_ITSELF, selfish[0])
        else:
            claim = claim_if_locked(ghosts, world, kept, used)[0] if kept else Claim.loses_no_wakeup
            effects.breaks(claim, Harm.STUCK, waiting[0])
    elif taken and not waiting and not goes_on:
        claim, bound_ms = claim_if_locked(ghosts, world, taken[0], used)
        free_ms = world.oracle.free_at_ms(state.lock, state.now_ms, taken[0])
        if free_ms is None or free_ms - state.now_ms > bound_ms:
            harm = Harm.BLOCKED_BY_LEAVER if claim is Claim.waiters_may_leave else Harm.LOCKED
            effects.breaks(claim, Harm.NOT_FREED if claim is Claim.releases_only_its_own else harm)
    few = 2 * ghosts.served < world.actors * world.task.in_turn
    if world.serves and waiting and (kept or few):
        idle_ms = 0 if ghosts.idle_since_ms == NOT_YET else state.now_ms - ghosts.idle_since_ms
        if not is_cut or idle_ms > IN_TIME.in_ms(world.task.ttl_ms):
            effects.breaks(Claim.serves_most_requests, Harm.STUCK, waiting[0])
    elif world.serves and not waiting and few:
        effects.breaks(Claim.serves_most_requests, Harm.FEW_SERVED)
    return [with_final_claim(finding, ghosts, world, used) for finding in effects.findings]


# The choice of the broken claim, if there are several.


def claim_if_locked(ghosts: Ghosts, world: World, key: str, used: Budget) -> tuple[Claim, float]:
    """Return the claim that breaks if a lock stays locked for too long, and the milliseconds that are allowed."""
    owner, ttl_ms = ghosts.owner(key), world.task.ttl_ms
    tested = (*(owner.tested if owner is not None else ()), *ghosts.tested)
    if used.restarts:
        return Claim.survives_store_restart, IN_TIME.in_ms(ttl_ms)
    if not tested:
        return (Claim.waiters_may_leave if ghosts.gave_up else Claim.releases_only_its_own), AT_ONCE.in_ms(ttl_ms)
    # other faults come before a failure of the work
    first = next((claim for claim in tested if claim is not Claim.freed_after_failure), tested[0])
    return first, max(PROMISES[claim.name].bound.in_ms(ttl_ms) for claim in tested)


def claim_of(fault: str, phase: int, in_vain: bool) -> Claim:
    """Return the claim that a fault tests if it leaves a lock behind. phase: of the request that it hits."""
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


def with_final_claim(finding: Finding, ghosts: Ghosts, world: World, used: Budget) -> Finding:
    """Return a finding with its final claim: another one if the store lost data, or a command sent twice had two effects."""
    if finding.harm is Harm.LOST and finding.why in OUTLASTED and used == NONE and world.task.work_ms < world.task.ttl_ms:
        finding = finding._replace(claim=Claim.reentrant if world.task.nested else Claim.exclusive)
    if ghosts.doubled and finding.claim in (Claim.exclusive, Claim.reentrant):
        return finding._replace(claim=Claim.survives_a_lost_reply)
    if not used.restarts or finding.claim is Claim.fence_outlives_restart:
        return finding
    return finding._replace(claim=Claim.survives_amnesia if world.program.servers > 1 else Claim.survives_store_restart)
