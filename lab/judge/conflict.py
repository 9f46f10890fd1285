"""A conflict: two grants that were inside at once, or of which one destroyed the increment of the other.

The *elder* of the two got the lock first. What the evidence knows of that time explains the conflict
(``lab/judge/mechanisms.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from lab.evidence.fault_record import Effect, FaultRecord
from lab.judge.entitlement import began_its_work_late, can_take_away, shared_key, tenures
from lab.judge.faults import FaultOutcome
from lab.judge.grant import Grant
from lab.judge.key_history import KeyHistory
from lab.judge.run_facts import RunFacts
from lab.judge.stalls import Stalls

RECEIVED_WITHIN_NS = 200_000_000  # the store reports an expiry up to 100 ms late, and the lab may receive the report late


class Conflict(msgspec.Struct, eq=False):  # a Struct is made in C: a run can have a million of them
    """Two grants, and the evidence of that time. Where the second grant is unknown, both are the same."""

    # the grant that was got first
    elder: Grant
    # the other grant
    younger: Grant
    run: RunFacts
    keys: KeyHistory
    # the grants whose release was around that time, in the order in which the releases ended
    releases: Sequence[Grant]
    # those of them that had lost their lock before
    lost_locks: Sequence[Grant]
    # the faults of the run
    faults: Sequence[FaultOutcome]
    # when a replica did not run, although no fault stopped it, and how long each waited for a processor
    stalls: Stalls
    # whether the lab sees what requests ask: a lock may have a client or a thread of its own, of which it sees nothing
    asks_are_seen: bool = True
    # whether requests of one process were inside at once all the time: then no lock was there at all
    nothing_locked: bool = False
    # the answer of entitled_at_once, once it was asked
    known_entitled: bool | None = None
    # the answer of shared_key, once it was asked
    known_key: str | None = None

    @property
    def both(self) -> tuple[Grant, ...]:
        """Return the two grants, or the only one that is known."""
        return (self.elder,) if self.elder is self.younger else (self.elder, self.younger)

    @property
    def is_in_one_process(self) -> bool:
        """Return whether the two are known to have been in one process."""
        return self.elder is not self.younger and self.elder.replica == self.younger.replica

    @property
    def entitled_at_once(self) -> bool:
        """Return whether both were entitled to the lock at once, as far as their releases and leases decide it.

        Two that locked different keys count as well: each was entitled to what should have been one lock.
        """
        if self.known_entitled is None:  # most mechanisms ask
            self.known_entitled = self._entitled_at_once()
        return self.known_entitled

    def _entitled_at_once(self) -> bool:
        if self.elder is self.younger:
            return bool(self.elder.key) and not self.lease_ended
        if self.share_no_key:
            return not self.lease_ended and self.younger.got_ns < (self.elder.releasing_ns or self.younger.got_ns + 1)
        return bool(self._shared_key())

    @property
    def key(self) -> str:
        """Return the key to which both were entitled; the elder's key where there is none."""
        return self._shared_key() or self.elder.key

    def _shared_key(self) -> str:
        """Return a key to which both were entitled at once; empty without such a key."""
        if self.known_key is None:  # most mechanisms ask
            self.known_key = shared_key(self.elder, self.younger, self.run.lease_ns)
        return self.known_key

    @property
    def share_no_key(self) -> bool:
        """Return whether the two locked different keys."""
        if self.elder.key == self.younger.key:  # nearly always
            return False
        return bool(self.elder.key and self.younger.key) and not (self.elder.keys & self.younger.keys)

    @property
    def lease_ended(self) -> bool:
        """Return whether a lease of the elder had ended when the younger came in, or that of the younger before it did.

        Where only one grant is known: whether its lease had ended before its write.
        """
        lease_ns = self.run.lease_ns
        until_ns = self.elder.wrote_ns if self.elder is self.younger else self.younger.got_ns
        if not lease_ns:
            return False
        return any(tenure.lease_ends_ns <= until_ns for grant in self.both for tenure in tenures(grant, lease_ns))

    def taken_by(self, effect: Effect) -> Iterator[FaultRecord]:
        """Yield the records of faults with this effect that can have taken the lock away between the two grants."""
        for fault in self.faults:
            if fault.record.effect is effect and any(self._is_taken_from(grant, fault.record) for grant in self.both):
                yield fault.record

    def _is_taken_from(self, grant: Grant, record: FaultRecord) -> bool:
        """Return whether a fault can have taken the lock from one of the two, before the other came in."""
        held_from_ns = grant.outer_lease_from_ns if grant.outer_key else grant.at_store_from_ns
        until_ns = grant.wrote_ns if self.elder is self.younger else self.younger.got_ns
        # the lab records an injection when it has finished: the lock may have been gone a moment before
        return record.at_ns < until_ns and can_take_away(record, grant.replica, held_from_ns, self.run.lease_ns)

    @property
    def was_stalled(self) -> bool:
        """Return whether something outside the lab stopped one of the two for as long as a lease, while it held the lock.

        The same in parts: a busy machine kept it from a processor until the lease had ended.
        """
        return any(map(self._was_late, self.both)) or any(
            stall.stopped
            and stall.replica == grant.replica
            and stall.until_ns - stall.since_ns > 0.9 * self.run.lease_ns > 0
            and grant.lease_from_ns < stall.until_ns
            and stall.since_ns < max(self.younger.got_ns, grant.wrote_ns)
            for stall in self.stalls
            for grant in self.both
        )

    def _was_late(self, grant: Grant) -> bool:
        """Return whether a holder would have renewed, or written, before its lease ended, if a processor had been free.

        A renewal has most of a lease to come in time, so half a lease without a processor explains that it did not.
        """
        since_ns, lease_ns = grant.lease_from_ns, self.run.lease_ns
        if 2 * self._late_ns(grant, since_ns + lease_ns) <= lease_ns:
            return False
        return since_ns > grant.sent_ns or grant.wrote_ns - since_ns - self._late_ns(grant, grant.wrote_ns) < lease_ns

    def _late_ns(self, grant: Grant, until_ns: int) -> int:
        """Return for how much of a lease the machine was late: no processor was free, or the answer of the grant was on its way.

        The answer counts where other programs took most of the processors: it waits for the store's processor as well. Where a
        fault reached the request, it does not.
        """
        since_ns = grant.lease_from_ns
        queued_ns = self.stalls.queued_ns(grant.replica, since_ns, until_ns)
        if self.run.slowness > 1 and not any(fault.record.request == grant.request for fault in self.faults):
            return max(queued_ns, grant.got_ns - since_ns)
        return queued_ns

    def store_reported(self, event: str) -> bool:
        """Return whether the store reported such an event of the key while the elder held it, before the younger got it."""
        return self.keys.happened(event, self.elder.lease_from_ns, self.younger.got_ns + RECEIVED_WITHIN_NS, self.key)

    def never_asked(self, grant: Grant) -> bool:
        """Return whether a request went in without an answer of the store, and nobody in its process left the lock to it."""
        return self.asks_are_seen and bool(grant.key) and grant.went_in_unasked and not self._was_handed_over(grant)

    def made_its_work_late(self, grant: Grant) -> bool:
        """Return whether a grant began its work late, and neither a stall nor waits for a processor explain it."""
        queued_ns = self.stalls.queued_ns(grant.replica, grant.granted_from_ns, grant.got_ns)
        return began_its_work_late(grant, self.run, queued_ns) and not any(
            stall.replica == grant.replica
            and not stall.own
            and grant.granted_from_ns < stall.until_ns
            and stall.since_ns < grant.got_ns
            for stall in self.stalls
        )

    def _was_handed_over(self, grant: Grant) -> bool:
        """Return whether a holder of the same process, which had asked for the lock, left it to this request.

        It may have been left from hand to hand. One pass finds them all: who left it to an earlier holder released earlier.
        """
        for other in reversed(self.releases):
            if (
                other.key == grant.key
                and other.replica == grant.replica
                and other.release_commands == 0
                and other.result == "ok"
                and other.got_ns < grant.got_ns
                and other.releasing_ns <= grant.got_ns
            ):
                if not other.went_in_unasked:
                    return True
                grant = other
        return False
