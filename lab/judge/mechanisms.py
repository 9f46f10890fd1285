"""The mechanisms: why two requests were inside at once, or why a write destroyed an increment.

The first mechanism in the table below that fits explains the conflict. A mechanism reads evidence only: when the two were
entitled to the lock, which commands they sent, which keys the store reported, and which faults the scenario injected. None reads
the stage's name. Each names the claim that it breaks.

The order is the rule. If two holders were entitled at once, only a fault that took the lock away, or a theft whose root the
scenario caused, is an excuse. All other mechanisms of that kind break mutual exclusion. If the lease of one of the two had ended,
the cause is the fault, or work that took longer than the lease.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.failpoints import ACQUIRE
from app.lock import Claim
from lab.evidence.fault_record import Effect
from lab.evidence.loss import Mechanism
from lab.judge.conflict import Conflict
from lab.judge.entitlement import lease_end
from lab.judge.grant import Grant
from lab.judge.key_history import SET_OVER
from lab.judge.thefts import acquired_anew, theft_in

RECEIVED_AT_ONCE_NS = 5_000_000  # the store reports a deletion at once
LAST_FAILPOINT = "write.before"  # the last failpoint: after the holder's last check of its lock


def _no_lock(conflict: Conflict) -> bool:
    """Return whether nothing was locked: no key is named, or requests of a process without a store are all inside at once."""
    nothing_named = not conflict.elder.key and not conflict.younger.key
    return nothing_named or (not conflict.run.has_store and conflict.nothing_locked)


def _process_local(conflict: Conflict) -> bool:
    in_one_process = conflict.elder is not conflict.younger and conflict.elder.replica == conflict.younger.replica
    return not conflict.run.has_store and not in_one_process


def _worked_again(conflict: Conflict) -> bool:
    return any(grant.turn > 1 and not acquired_anew(grant, conflict.keys) for grant in conflict.both)


def _refused_by_store(conflict: Conflict) -> bool:
    """Return whether one of the two went in although the store had refused: the key was set already.

    A refused request may have been handed the lock later. So an ended lease, or a fault, explains the conflict first.
    """
    told_no = conflict.elder.told_no or conflict.younger.told_no
    return told_no and conflict.entitled_at_once


def _taken(effect: Effect) -> Callable[[Conflict], bool]:
    """Return a function that tells whether a fault with this effect took the lock away."""
    return lambda conflict: any(conflict.taken_by(effect))


def _taken_from_disk(effect: Effect) -> Callable[[Conflict], bool]:
    return lambda conflict: conflict.run.store_persists and any(conflict.taken_by(effect))


def _taken_though_synced(conflict: Conflict) -> bool:
    """Return whether a power loss took away a lock that had been synced to disk before its grant was answered."""
    return conflict.run.store_syncs == "always" and any(conflict.taken_by(Effect.POWER_LOST))


def _split(conflict: Conflict) -> bool:
    """Return whether the store was split, and one of the two requests was at the old primary, and one at the new primary."""
    for fault in conflict.faults:
        record = fault.record
        if record.effect is Effect.STORE_SPLIT and record.at_ns < max(conflict.younger.got_ns, conflict.younger.wrote_ns):
            sides = {grant.replica == record.replica for grant in conflict.both}
            if len(sides) == len(conflict.both):
                return True
    return False


def _frozen_late(conflict: Conflict) -> bool:
    """Return whether one of the two was stopped while it was inside, after its last check of the lock."""
    return any(record.failpoint == LAST_FAILPOINT for record in conflict.taken_by(Effect.PROCESS_STOPS))


def _deleted_in_release(conflict: Conflict) -> bool:
    """Return whether a third request lost its lock while its release was under way, and then deleted the elder's lock."""
    lost = theft_in(conflict)
    return lost is not None and lost.by_scenario and lost.in_release


def _deleted_by_another(conflict: Conflict) -> bool:
    """Return whether a third request, which had lost its own lock before its release, deleted the elder's lock."""
    lost = theft_in(conflict)
    return lost is not None and lost.by_scenario


def _inner_release_freed(conflict: Conflict) -> bool:
    """Return whether the younger got the lock between the elder's inner release and its outer release."""
    elder = conflict.elder
    return (
        elder.outer_key == elder.key != ""
        and conflict.entitled_at_once
        and 0 < elder.releasing_ns < conflict.younger.got_ns
        and conflict.younger is not elder
        and not conflict.store_reported("expired")
    )


def _never_asked(conflict: Conflict) -> bool:
    """Return whether one of the two went in without an answer of the store: it was never granted the lock."""
    return conflict.entitled_at_once and any(conflict.never_asked(grant) for grant in conflict.both)


def _different_keys(conflict: Conflict) -> bool:
    return conflict.share_no_key and conflict.entitled_at_once


def _released_early(conflict: Conflict) -> bool:
    """Return whether one of the two wrote after its release, or reported a good release without sending a command.

    A key that the store never reported was never locked. Without sight of commands, the lab cannot tell.
    """
    if any(0 < grant.released_ns < grant.wrote_ns for grant in conflict.both):
        return True
    if not conflict.asks_are_seen:
        return False
    is_reported = conflict.run.reports_keys or conflict.keys.is_reported
    if is_reported and not conflict.keys.is_known(conflict.key):
        return False
    sent_nothing = [grant for grant in conflict.both if grant.released_ns and not grant.release_commands and grant.result == "ok"]
    return conflict.entitled_at_once and bool(sent_nothing)


def _set_over(conflict: Conflict) -> bool:
    """Return whether the store set the key while it was alive. The order of the store's events is exact."""
    return conflict.entitled_at_once and conflict.store_reported(SET_OVER)


def _expired_early(conflict: Conflict) -> bool:
    return conflict.entitled_at_once and conflict.store_reported("expired")


def _deleted_by_a_stranger(conflict: Conflict) -> bool:
    """Return whether a request that did not hold the lock deleted it without an excuse.

    It may have deleted it in its acquire: then the store reported the deletion while the elder held the lock.
    """
    since_ns, until_ns = conflict.elder.got_ns, conflict.younger.got_ns + RECEIVED_AT_ONCE_NS
    # with several servers it does not count: a server that had not voted for the elder may report the end of another vote
    counts = conflict.asks_are_seen and not conflict.run.has_votes
    reported = counts and conflict.keys.happened("del", since_ns, until_ns, conflict.key)
    return conflict.entitled_at_once and (reported or theft_in(conflict) is not None)


def _renewed_to_death(conflict: Conflict) -> bool:
    return conflict.entitled_at_once and any(grant.renewed_to_death for grant in conflict.both)


def _granted_late(conflict: Conflict) -> bool:
    """Return whether one of the two got its answer only after its lease had ended, because a fault delayed it."""
    return any(_held_up_in_acquire(grant, conflict) for grant in conflict.both)


def _held_up_in_acquire(grant: Grant, conflict: Conflict) -> bool:
    lease_ends_ns = lease_end(grant.lease_from_ns, conflict.run.lease_ns)
    return lease_ends_ns <= grant.got_ns and any(
        fault.record.effect is Effect.REQUEST_WAITS
        and fault.record.phase == ACQUIRE
        and fault.record.request == grant.request
        and grant.lease_from_ns < fault.record.recovered_ns
        for fault in conflict.faults
    )


def _late_vote(conflict: Conflict) -> bool:
    """Return whether one of the two counted votes that were no longer valid. The algorithm itself forbids this."""
    return conflict.run.has_votes and _granted_late(conflict)


def _lease_ended(conflict: Conflict) -> bool:
    return conflict.run.stretched and conflict.lease_ended and not conflict.entitled_at_once


def _began_late(conflict: Conflict) -> bool:
    """Return whether the lease of one of the two was over when its work began, although nothing in the scenario takes long."""
    is_late = any(map(conflict.made_its_work_late, conflict.both))
    return is_late and conflict.asks_are_seen and not conflict.run.stretched and not conflict.entitled_at_once


def _lease_too_short(conflict: Conflict) -> bool:
    return conflict.asks_are_seen and conflict.lease_ended and not conflict.entitled_at_once


def _extended_anothers(conflict: Conflict) -> bool:
    """Return whether one of the two was stopped, and its check then extended the lock of the next holder."""
    stopped = {record.name for record in conflict.taken_by(Effect.PROCESS_STOPS)}
    return any(fault.extended_anothers and fault.record.name in stopped for fault in conflict.faults)


@dataclass(frozen=True)
class Explanation:
    """A mechanism, and when it explains a conflict."""

    mechanism: Mechanism
    # the promise that it breaks; if both were in one process, it breaks mutual exclusion within one process as well
    claim: Claim
    # whether it explains a conflict
    explains: Callable[[Conflict], bool]
    # whether an overlap breaks the promise by itself, even if it destroyed no increment
    overlap_is_harm: bool = False


BY_FAULT = (
    # faults that take a lock away
    Explanation(Mechanism.FROZEN_AFTER_LAST_CHECK, Claim.survives_a_late_freeze, _frozen_late),
    Explanation(Mechanism.EXTENDED_ANOTHERS, Claim.survives_a_freeze, _extended_anothers),
    Explanation(Mechanism.FROZEN_PAST_LEASE, Claim.survives_a_freeze, _taken(Effect.PROCESS_STOPS)),
    Explanation(Mechanism.STORE_SILENT_PAST_TTL, Claim.stops_when_lost, _taken(Effect.STORE_SILENT)),
    Explanation(Mechanism.CUT_OFF_PAST_TTL, Claim.stops_when_lost, _taken(Effect.CUT_OFF)),
    Explanation(Mechanism.STORE_FORGOT_SYNCED, Claim.survives_persisted_restart, _taken_though_synced),
    Explanation(Mechanism.STORE_HAD_NOT_SYNCED, Claim.survives_store_restart, _taken(Effect.POWER_LOST)),
    Explanation(Mechanism.STORE_FORGOT_WRITTEN, Claim.survives_persisted_restart, _taken_from_disk(Effect.STORE_RESTARTS)),
    Explanation(Mechanism.STORE_FORGOT_LOCK, Claim.survives_store_restart, _taken(Effect.STORE_RESTARTS)),
    Explanation(Mechanism.NEW_PRIMARY_DID_NOT_KNOW, Claim.survives_failover, _taken(Effect.PRIMARY_DIES)),
    Explanation(Mechanism.TWO_PRIMARIES, Claim.survives_failover, _split),
    Explanation(Mechanism.CLOCK_JUMPED_PAST_TTL, Claim.survives_clock_jump, _taken(Effect.CLOCKS_JUMP)),
    Explanation(Mechanism.VOTE_FORGOTTEN, Claim.survives_amnesia, _taken(Effect.SERVERS_RESTART)),
    Explanation(Mechanism.NEW_LEADER_DID_NOT_KNOW, Claim.survives_failover, _taken(Effect.LEADER_DIES)),
    Explanation(Mechanism.SESSION_ENDED_IN_WORK, Claim.survives_session_loss, _taken(Effect.SESSION_ENDS)),
)
EXPLANATIONS = (
    Explanation(Mechanism.WROTE_OVER_UNREAD, Claim.exclusive, lambda conflict: False),  # never by a conflict: see losses.py
    # without a store, a lock can only be inside the process
    Explanation(Mechanism.NO_LOCK, Claim.exclusive, _no_lock, overlap_is_harm=True),
    Explanation(Mechanism.PROCESS_LOCAL, Claim.exclusive, _process_local, overlap_is_harm=True),
    Explanation(Mechanism.WORKED_AGAIN_WITHOUT_LOCK, Claim.exclusive, _worked_again, overlap_is_harm=True),
    # before faults: a fault cannot take away a lock that was never granted
    Explanation(Mechanism.NEVER_ASKED_STORE, Claim.exclusive, _never_asked, overlap_is_harm=True),
    *BY_FAULT,
    Explanation(Mechanism.STOPPED_FROM_OUTSIDE, Claim.survives_a_freeze, Conflict.was_stalled),  # a run with this loss is void
    # the lock was refused to the request
    Explanation(Mechanism.ENTERED_ALTHOUGH_REFUSED, Claim.exclusive, _refused_by_store, overlap_is_harm=True),
    # thefts whose root the scenario caused
    Explanation(Mechanism.EXPIRED_BETWEEN_CHECK_AND_DELETE, Claim.releases_atomically, _deleted_in_release, overlap_is_harm=True),
    Explanation(Mechanism.DELETED_BY_ANOTHER, Claim.releases_only_its_own, _deleted_by_another, overlap_is_harm=True),
    # two holders were entitled at once, without an excuse; the last mechanism of the table is of this kind as well
    Explanation(Mechanism.INNER_RELEASE_FREED, Claim.reentrant, _inner_release_freed, overlap_is_harm=True),
    Explanation(Mechanism.DIFFERENT_KEYS, Claim.exclusive, _different_keys, overlap_is_harm=True),
    Explanation(Mechanism.GRANTED_TWICE, Claim.exclusive, _set_over, overlap_is_harm=True),
    Explanation(Mechanism.EXPIRED_BEFORE_TTL, Claim.exclusive, _expired_early, overlap_is_harm=True),
    Explanation(Mechanism.RELEASED_EARLY, Claim.exclusive, _released_early, overlap_is_harm=True),
    Explanation(Mechanism.RENEWAL_DELETED, Claim.exclusive, _renewed_to_death, overlap_is_harm=True),
    Explanation(Mechanism.DELETED_BY_STRANGER, Claim.exclusive, _deleted_by_a_stranger, overlap_is_harm=True),
    # the lease of one of the two had ended
    Explanation(Mechanism.GRANTED_AFTER_VALIDITY, Claim.exclusive, _late_vote, overlap_is_harm=True),
    Explanation(Mechanism.TTL_OVER_IN_ACQUIRE, Claim.survives_a_slow_acquire, _granted_late),
    Explanation(Mechanism.TTL_OVER_IN_WORK, Claim.held_to_the_end, _lease_ended, overlap_is_harm=True),
    Explanation(Mechanism.TTL_OVER_BEFORE_WORK, Claim.exclusive, _began_late, overlap_is_harm=True),
    Explanation(Mechanism.TTL_TOO_SHORT, Claim.held_to_the_end, _lease_too_short),  # a run with this loss is void
    # the evidence shows no other cause: both were inside, so the lock let them in
    Explanation(Mechanism.GRANTED_TO_TWO, Claim.exclusive, lambda conflict: True, overlap_is_harm=True),
)
# Without faults none of BY_FAULT fits, so a run without faults saves the time to try them for each loss.
WITHOUT_FAULTS = tuple(explanation for explanation in EXPLANATIONS if explanation not in BY_FAULT)


def explain(conflict: Conflict) -> Explanation:
    """Return the first explanation that fits. The last one fits every conflict."""
    for explanation in EXPLANATIONS if conflict.faults else WITHOUT_FAULTS:
        if explanation.explains(conflict):
            return explanation
    return EXPLANATIONS[-1]
