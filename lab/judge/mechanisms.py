"""The mechanisms of loss: why a write destroyed an increment.

The *culprit* wrote over the *victim*: its write came after the victim's write, and its read came before it. The first mechanism
in the table below that fits explains the loss. Each reads the evidence only: what the two requests sent to the lock's store, and
what the store reported of its keys. None asks for the stage's name. Each belongs to the claim that it breaks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.judge.grant import Grant
from lab.judge.lost_increment import LostIncrement

LAST_FAILPOINT = "write.before"  # after the holder's last look at its lock
STAMPED_WITHIN_NS = 50_000_000  # a busy thread stamps its grant late
RECEIVED_WITHIN_NS = 200_000_000  # the store reports an expiry up to 100 ms late, and the lab may receive the report late


def _no_lock(lost: LostIncrement) -> bool:
    return not lost.is_across_replicas and _no_lock_at_all(lost)


def _no_lock_at_all(lost: LostIncrement) -> bool:
    return not lost.has_store and any(not grant.key for grant in lost.both)


def _process_local(lost: LostIncrement) -> bool:
    return not lost.has_store and lost.is_across_replicas


def _broken_local(lost: LostIncrement) -> bool:
    return not lost.has_store


def _never_asked(lost: LostIncrement) -> bool:
    return any(grant.commands == 0 for grant in lost.both)


def _released_early(lost: LostIncrement) -> bool:
    """Return whether one of the two sent nothing for its release, and the release was right all the same."""
    return any(grant.released_ns and grant.release_commands == 0 and grant.result == "ok" for grant in lost.both)


def _frozen(lost: LostIncrement) -> bool:
    """Return whether one of the two was stopped while it was inside, before its last look at the lock."""
    stopped = [record for record in lost.records(Effect.PROCESS_STOPS) if record.failpoint != LAST_FAILPOINT]
    return any(_inside_during(record, grant) for record in stopped for grant in lost.both)


def _frozen_late(lost: LostIncrement) -> bool:
    """Return whether one of the two was stopped while it was inside, after its last look at the lock."""
    stopped = [record for record in lost.records(Effect.PROCESS_STOPS) if record.failpoint == LAST_FAILPOINT]
    return any(_inside_during(record, grant) for record in stopped for grant in lost.both)


def _inside_during(record: FaultRecord, grant: Grant) -> bool:
    """Return whether a request was inside during a fault of its replica: the request at the failpoint, or another one."""
    return grant.replica == record.replica and grant.got_ns < record.recovered_ns and record.at_ns < grant.wrote_ns


def _at_its_replica(lost: LostIncrement, effect: Effect) -> bool:
    """Return whether one of the two was inside during such a fault of its replica."""
    return any(_inside_during(record, grant) for record in lost.records(effect) for grant in lost.both)


def _while_held(lost: LostIncrement, effect: Effect) -> bool:
    """Return whether such a fault lasted at some moment after the first of the two got the lock and before the second did."""
    return any(lost.first_got_ns < record.recovered_ns and record.at_ns < lost.second_got_ns for record in lost.records(effect))


def _store_silent(lost: LostIncrement) -> bool:
    return _while_held(lost, Effect.STORE_SILENT)


def _store_forgot_its_disk(lost: LostIncrement) -> bool:
    return lost.store_persists and _store_forgot(lost)


def _store_forgot(lost: LostIncrement) -> bool:
    return _while_held(lost, Effect.STORE_RESTARTS)


def _primary_died(lost: LostIncrement) -> bool:
    return _while_held(lost, Effect.PRIMARY_DIES)


def _clock_jumped(lost: LostIncrement) -> bool:
    return _while_held(lost, Effect.CLOCKS_JUMP)


def _server_forgot_its_disk(lost: LostIncrement) -> bool:
    return lost.store_persists and _server_forgot(lost)


def _server_forgot(lost: LostIncrement) -> bool:
    return _while_held(lost, Effect.SERVERS_RESTART)


def _leader_died(lost: LostIncrement) -> bool:
    return _while_held(lost, Effect.LEADER_DIES)


def _between_look_and_delete(lost: LostIncrement) -> bool:
    """Return whether a third request was held up in its release until its lease had ended, and then deleted a lock."""
    held_up = {record.request for record in lost.records(Effect.REQUEST_WAITS) if record.phase == "release"}
    return any(
        grant.request in held_up
        and grant.answer == "1"
        and lost.first_got_ns < grant.released_ns
        and grant.releasing_ns < lost.second_got_ns
        for grant in lost.releases
        if grant not in lost.both
    )


def _session_ended(lost: LostIncrement) -> bool:
    return _at_its_replica(lost, Effect.SESSION_ENDS)


def _cut_off(lost: LostIncrement) -> bool:
    return _at_its_replica(lost, Effect.CUT_OFF)


def _refused_by_store(lost: LostIncrement) -> bool:
    """Return whether one of the two went in although the store had set nothing: the lock was there already."""
    return any(grant.told_no for grant in lost.both)


def _refused_by_store_here(lost: LostIncrement) -> bool:
    return _refused_by_store(lost) and not lost.is_across_replicas


def _worked_again(lost: LostIncrement) -> bool:
    return any(grant.turn > 1 for grant in lost.both)


def _worked_again_here(lost: LostIncrement) -> bool:
    return _worked_again(lost) and not lost.is_across_replicas


def _granted_over(lost: LostIncrement) -> bool:
    """Return whether the store set the key while it was alive. The store does so some time before the thread stamps its grant."""
    return lost.keys.was_granted_over(lost.first_asked_ns, lost.second_got_ns + RECEIVED_WITHIN_NS)


def _deleted_by_another(lost: LostIncrement) -> bool:
    """Return whether a third request, whose own lock was lost, deleted a lock while the first of the two held it.

    The store can have deleted it at any time from the release's sending to its answer. And a thread stamps its grant some time
    after the store gave it.
    """
    since_ns = lost.first_got_ns - STAMPED_WITHIN_NS
    return any(
        grant.stole and grant.released_ns > since_ns and grant.releasing_ns < lost.second_got_ns and grant not in lost.both
        for grant in lost.releases
    )


def _expired(lost: LostIncrement) -> bool:
    """Return whether a key expired while the first of the two was inside, or waited for an inner lock with the outer one."""
    is_nested = len({grant.key for grant in lost.both}) > 1
    since_ns = lost.first_asked_ns if is_nested else lost.first_got_ns - STAMPED_WITHIN_NS
    return lost.keys.happened("expired", since_ns, lost.second_got_ns + RECEIVED_WITHIN_NS)


def _different_keys(lost: LostIncrement) -> bool:
    return lost.keys.keys_locked() > 1


@dataclass(frozen=True)
class Mechanism:
    """One reason of loss."""

    # the name in verdicts, charts and run folders
    name: str
    # the promise that it breaks
    claim: Claim
    # whether it explains a loss
    explains: Callable[[LostIncrement], bool]


UNEXPLAINED = "unexplained"
UNREAD = "wrote over what it had not read"
MECHANISMS = (
    Mechanism(UNREAD, Claim.exclusive, lambda lost: False),  # not asked: see analysis_without_clock.py
    Mechanism("no lock", Claim.exclusive_in_process, _no_lock),
    Mechanism("no lock between replicas", Claim.exclusive, _no_lock_at_all),
    Mechanism("process-local lock", Claim.exclusive, _process_local),
    Mechanism("granted twice in one process", Claim.exclusive_in_process, _broken_local),
    Mechanism("worked again without the lock, in one process", Claim.exclusive_in_process, _worked_again_here),
    Mechanism("worked again without the lock", Claim.exclusive, _worked_again),
    Mechanism("entered although the store had refused, in one process", Claim.exclusive_in_process, _refused_by_store_here),
    Mechanism("entered although the store had refused", Claim.exclusive, _refused_by_store),
    Mechanism("never asked the store", Claim.exclusive, _never_asked),
    Mechanism("released before the end of the work", Claim.held_to_the_end, _released_early),
    Mechanism("stopped after its last check", Claim.survives_a_late_freeze, _frozen_late),
    Mechanism("stopped until its lease had run out", Claim.survives_a_freeze, _frozen),
    Mechanism("the store was silent for longer than the TTL", Claim.stops_when_lost, _store_silent),
    Mechanism("cut off from the store for longer than the TTL", Claim.stops_when_lost, _cut_off),
    Mechanism("the store had forgotten what it wrote", Claim.survives_persisted_restart, _store_forgot_its_disk),
    Mechanism("the store had forgotten the lock", Claim.survives_store_restart, _store_forgot),
    Mechanism("the new primary did not know the lock", Claim.survives_failover, _primary_died),
    Mechanism("the store's clock had jumped past the TTL", Claim.survives_clock_jump, _clock_jumped),
    Mechanism("a server had forgotten the vote on its disk", Claim.survives_persisted_amnesia, _server_forgot_its_disk),
    Mechanism("a server had forgotten its vote", Claim.survives_amnesia, _server_forgot),
    Mechanism("the new leader did not know the lock", Claim.survives_failover, _leader_died),
    Mechanism("its session ended in the work", Claim.survives_session_loss, _session_ended),
    Mechanism("granted twice", Claim.exclusive, _granted_over),
    Mechanism("expired between check and delete", Claim.releases_atomically, _between_look_and_delete),
    Mechanism("deleted by another", Claim.releases_only_its_own, _deleted_by_another),
    Mechanism("the TTL ran out in the work", Claim.held_to_the_end, _expired),
    Mechanism("locked different keys", Claim.exclusive, _different_keys),
    Mechanism(UNEXPLAINED, Claim.exclusive, lambda lost: True),
)


def explain(lost: LostIncrement) -> Mechanism:
    """Return the first mechanism that fits. The last one fits every loss."""
    return next(mechanism for mechanism in MECHANISMS if mechanism.explains(lost))
