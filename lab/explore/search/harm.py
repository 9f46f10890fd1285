"""Define the violations that a search can find: the claim that an event breaks, the harm that is done, and the reason."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from app.lock import Claim


class Why(StrEnum):
    """The reasons why a holder is not entitled any more. The value is the code in files."""

    ENTITLED = ""
    NO_LOCK = "no_lock"
    EXPIRED = "expired"
    UNRENEWED = "unrenewed"
    SLOW = "slow"  # its acquire took longer than its lease
    PAUSED = "paused"
    PAUSED_LATE = "paused_late"  # after it had checked the lock for the last time, and before its write
    ROBBED = "robbed"
    ROBBED_IN_RELEASE = "robbed_in_release"
    ROBBED_BY_WAITER = "robbed_by_waiter"
    STORE_LOST_IT = "store_lost_it"
    VOTE_LOST = "vote_lost"


class Harm(StrEnum):
    """The ways in which a claim can be broken. The value is the code in files."""

    TWO_HOLDERS = "two_holders"
    TWO_IN_PROCESS = "two_in_process"
    LOST = "lost"  # an increment; ``Finding.why`` has the reason
    TWICE = "twice"
    NOT_DONE = "not_done"  # a request did not do its work, and was answered as if it had
    DONE_AND_REFUSED = "done_and_refused"  # a request did its work, and was refused
    THEFT = "theft"
    FOREIGN_RENEWAL = "foreign_renewal"
    RENEWED_FOR_NOBODY = "renewed_for_nobody"
    ABANDONED = "abandoned"
    STUCK = "stuck"
    LOCKED = "locked"  # no request uses the lock, and it stays locked longer than the claim allows
    NOT_FREED = "not_freed"  # the same after a release without any fault
    ASLEEP = "asleep"  # a waiter sleeps although the lock is free
    REFUSED_TO_ITSELF = "refused_to_itself"
    FREED_BY_INNER = "freed_by_inner"
    FENCE = "fence"
    FEW_SERVED = "few_served"
    FAILED = "failed"  # a request failed without a fault; ``Finding.error`` has the error
    BLOCKED_BY_LEAVER = "blocked_by_leaver"
    SLOW_TRY = "slow_try"


class Finding(NamedTuple):
    """An event breaks a claim."""

    claim: Claim
    harm: Harm
    # of a lost increment: why the holder had no right to work
    why: Why = Why.ENTITLED
    # the number of the request that it harms or accuses; -1 if it concerns no single request
    client: int = -1
    # of FAILED: the error with its line
    error: str = ""


BROKEN_BY = {
    Why.ENTITLED: Claim.exclusive,
    Why.NO_LOCK: Claim.exclusive,
    Why.EXPIRED: Claim.held_to_the_end,
    Why.UNRENEWED: Claim.survives_a_failed_renewal,
    Why.SLOW: Claim.survives_a_slow_acquire,
    Why.PAUSED: Claim.survives_a_freeze,
    Why.PAUSED_LATE: Claim.survives_a_late_freeze,
    Why.ROBBED: Claim.releases_only_its_own,
    Why.ROBBED_IN_RELEASE: Claim.releases_atomically,
    Why.ROBBED_BY_WAITER: Claim.exclusive,
    Why.STORE_LOST_IT: Claim.survives_store_restart,
    Why.VOTE_LOST: Claim.survives_amnesia,
}
OUTLASTED = (Why.EXPIRED, Why.SLOW)  # they excuse a lost increment only after a fault, or if the work is longer than the TTL
THEFTS = (Why.ROBBED, Why.ROBBED_IN_RELEASE, Why.ROBBED_BY_WAITER)
