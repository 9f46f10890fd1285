"""Record a write that destroyed increments: its mechanism and its grants, as one line of ``losses.jsonl``."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import msgspec

from lab.errors import in_short
from lab.evidence.run_folder import replace


class Mechanism(StrEnum):
    """Why a promise was broken. The value is the code in files, and the name of its words."""

    # a write destroyed the increment of another request, or two requests were inside at once: lab/judge/mechanisms.py
    WROTE_OVER_UNREAD = "wrote_over_unread"
    NO_LOCK = "no_lock"
    PROCESS_LOCAL = "process_local"
    WORKED_AGAIN_WITHOUT_LOCK = "worked_again_without_lock"
    FROZEN_AFTER_LAST_CHECK = "frozen_after_last_check"
    EXTENDED_ANOTHERS = "extended_anothers"
    FROZEN_PAST_LEASE = "frozen_past_lease"
    STORE_SILENT_PAST_TTL = "store_silent_past_ttl"
    CUT_OFF_PAST_TTL = "cut_off_past_ttl"
    STORE_FORGOT_SYNCED = "store_forgot_synced"
    STORE_HAD_NOT_SYNCED = "store_had_not_synced"
    STORE_FORGOT_WRITTEN = "store_forgot_written"
    STORE_FORGOT_LOCK = "store_forgot_lock"
    NEW_PRIMARY_DID_NOT_KNOW = "new_primary_did_not_know"
    TWO_PRIMARIES = "two_primaries"
    CLOCK_JUMPED_PAST_TTL = "clock_jumped_past_ttl"
    VOTE_FORGOTTEN = "vote_forgotten"
    NEW_LEADER_DID_NOT_KNOW = "new_leader_did_not_know"
    SESSION_ENDED_IN_WORK = "session_ended_in_work"
    STOPPED_FROM_OUTSIDE = "stopped_from_outside"
    ENTERED_ALTHOUGH_REFUSED = "entered_although_refused"
    NEVER_ASKED_STORE = "never_asked_store"
    EXPIRED_BETWEEN_CHECK_AND_DELETE = "expired_between_check_and_delete"
    DELETED_BY_ANOTHER = "deleted_by_another"
    INNER_RELEASE_FREED = "inner_release_freed"
    DIFFERENT_KEYS = "different_keys"
    GRANTED_TWICE = "granted_twice"
    EXPIRED_BEFORE_TTL = "expired_before_ttl"
    RELEASED_EARLY = "released_early"
    RENEWAL_DELETED = "renewal_deleted"
    DELETED_BY_STRANGER = "deleted_by_stranger"
    GRANTED_AFTER_VALIDITY = "granted_after_validity"
    TTL_OVER_IN_ACQUIRE = "ttl_over_in_acquire"
    TTL_OVER_IN_WORK = "ttl_over_in_work"
    TTL_OVER_BEFORE_WORK = "ttl_over_before_work"
    TTL_TOO_SHORT = "ttl_too_short"
    GRANTED_TO_TWO = "granted_to_two"
    # losses without a known write: lab/judge/losses.py
    WRITE_UNCONFIRMED = "write_unconfirmed"
    # the lock stays taken: lab/judge/promises.py, lab/judge/violations.py
    FAILED_IN_ACQUIRE = "failed_in_acquire"
    LOCKED_OUT_BY_ITSELF = "locked_out_by_itself"
    HOLDER_DIED = "holder_died"
    CLOCK_JUMPED_BACK = "clock_jumped_back"
    WORK_FAILED = "work_failed"
    HOLDER_HUNG = "holder_hung"
    RELEASE_FAILED = "release_failed"
    RELEASE_REPLY_LOST = "release_reply_lost"
    RENEWED_BY_ANOTHER = "renewed_by_another"
    # the servers of the lock are down or silent
    ONE_STORE_GONE = "one_store_gone"
    ONLY_STORE_GONE = "only_store_gone"
    TOO_FEW_SERVERS = "too_few_servers"
    GRANTED_BY_MINORITY = "granted_by_minority"
    # waiters are not served, or late
    WAITED_BEFORE_GIVING_UP = "waited_before_giving_up"
    WAITERS_SLEPT = "waiters_slept"
    RELEASE_MISSED = "release_missed"
    BLOCKED_BY_LEAVER = "blocked_by_leaver"
    WAITED_FOR_EACH_OTHER = "waited_for_each_other"
    WAITED_FOR_ITSELF = "waited_for_itself"
    STAYED_AFTER_RELEASE = "stayed_after_release"
    NO_QUEUE = "no_queue"
    NO_QUEUE_IN_REPLICA = "no_queue_in_replica"
    TOO_MANY_REFUSED = "too_many_refused"
    # the work differs from the request or from the answer: lab/judge/violations.py
    DONE_AGAIN = "done_again"
    NEVER_DONE = "never_done"
    DONE_ALTHOUGH_REFUSED = "done_although_refused"
    STOPPED_BETWEEN_WRITES = "stopped_between_writes"
    FENCE_RESTARTED = "fence_restarted"
    TAKEN_FOR_OWNER = "taken_for_owner"


class GrantFacts(msgspec.Struct, gc=False):
    """Hold the facts of one grant and its write. Times are CLOCK_MONOTONIC in nanoseconds, 0 without the event."""

    request: str
    replica: str
    # the value that the request read; None if the resource reads and writes in one command
    read: int | None
    # the value that the request wrote; None without a confirmed write
    wrote: int | None
    # the value that the write replaced
    overwrote: int | None
    # when the request got the lock
    got_ns: int
    # when the write was confirmed
    wrote_ns: int
    # when the work was over, before the release was sent
    releasing_ns: int


class Loss(msgspec.Struct, tag="loss", tag_field="what", gc=False):
    """Hold the facts of a write that destroyed or restored increments."""

    # how many increments the write destroyed; below zero, how many it restored
    destroyed: int
    mechanism: Mechanism
    # the grant that destroyed them by its write
    culprit: GrantFacts
    # the grant that had written the overwritten value; None if the evidence does not name it
    victim: GrantFacts | None


def write_losses(folder: Path, losses: Iterable[Loss]) -> str:
    """Write ``losses.jsonl`` into a run folder, completely or not at all. Return why it was not written; empty if it was.

    A run in a read-only folder can be judged.
    """
    path = folder / "losses.jsonl"
    try:
        replace(path, msgspec.json.Encoder().encode_lines(losses))
    except OSError as error:
        return in_short(OSError(error.errno, error.strerror, str(path)))
    return ""
