"""A conflict: two grants that were inside at once, or one that destroyed the increment of another.

The *elder* of the two got the lock first. The evidence of that time explains the conflict (``lab/judge/mechanisms.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from lab.evidence.fault_record import Effect, FaultRecord
from lab.judge.entitlement import can_take_away, shared_key, tenures
from lab.judge.faults import FaultOutcome
from lab.judge.grant import Grant
from lab.judge.key_history import KeyHistory
from lab.judge.run_facts import RunFacts
from lab.judge.stalls import Stalls

LATE = 0.9  # part of a lease: for work that begins later, nearly nothing of the lease is left
RECEIVED_WITHIN_NS = 200_000_000  # the store reports an expiry up to 100 ms late, and the lab may receive the report late


class Conflict(msgspec.Struct, eq=False):  # a Struct is made in C: a run can have a million of them
    """Hold two grants, and the evidence of that time. If the second grant is unknown, both fields have the same grant."""

    # the grant that was got first
    elder: Grant
    # the grant that was got second
    younger: Grant
    run: RunFacts
    keys: KeyHistory
    # the grants whose release was around that time, in the order in which the releases ended
    releases: Sequence[Grant]
    # the faults of the run
    faults: Sequence[FaultOutcome]
    # when a replica did not run although no fault stopped it, and how long each replica waited for a processor
    stalls: Stalls
    # whether the lab sees the commands of acquires: it sees none of a client or a thread that the lock makes for itself
    asks_are_seen: bool = True
    # whether requests of one process were inside at once all the time: then nothing was locked at all
    nothing_locked: bool = False
    # the result of _shared_key, once it is known
    known_key: str | None = None

    @property
    def both(self) -> tuple[Grant, ...]:
        """Return the two grants, or the only one that is known."""
        return (self.elder,) if self.elder is self.younger else (self.elder, self.younger)

    @property
    def entitled_at_once(self) -> bool:
        """Return whether both were entitled to the lock at once, judged by their releases and leases.

        Two grants of different keys count as well: they should have been of one lock.
        """
        if self.elder is self.younger:
            return bool(self.elder.key) and not self.lease_ended
        if self.share_no_key:
            return not self.lease_ended and self.younger.got_ns < (self.elder.releasing_ns or self.younger.got_ns + 1)
        return bool(self._shared_key())

    @property
    def key(self) -> str:
        """Return the key to which both were entitled; the elder's key if there is none."""
        return self._shared_key() or self.elder.key

    def _shared_key(self) -> str:
        """Return a key to which both were entitled at once; empty if there is none."""
        if self.known_key is None:  # several mechanisms need it
            lease_ns = self.run.lease_ns  # the lease is an excuse if it may have ended
            self.known_key = shared_key(self.elder, self.younger, lease_ns and max(1, lease_ns - self._error_ns))
        return self.known_key

    @property
    def share_no_key(self) -> bool:
        """Return whether the two locked different keys."""
        if self.elder.key == self.younger.key:  # nearly always
            return False
        return bool(self.elder.key and self.younger.key) and not (self.elder.keys & self.younger.keys)

    @property
    def lease_ended(self) -> bool:
        """Return whether the elder's lease had ended when the younger came in, or the younger's lease before that.

        If only one grant is known: return whether its lease had ended before its write.
        """
        lease_ns = self.run.lease_ns
        until_ns = self.elder.wrote_ns if self.elder is self.younger else self.younger.got_ns
        if not lease_ns:
            return False
        until_ns += self._error_ns
        return any(tenure.lease_ends_ns <= until_ns for grant in self.both for tenure in tenures(grant, lease_ns))

    @property
    def _error_ns(self) -> int:
        """Return by how much the order of stamps of the two may be wrong: above 0 only if their replicas have two clocks."""
        return self.run.clocks.error_ns(self.elder.replica, self.younger.replica)

    @property
    def is_within_error(self) -> bool:
        """Return whether the two were possibly not inside at once: the order of their stamps is not certain enough."""
        error_ns = self._error_ns
        if not error_ns:
            return False
        both = [(a, b) for a in tenures(self.elder, 0) for b in tenures(self.younger, 0) if a.key == b.key or self.share_no_key]
        return not any(a.got_ns + error_ns < b.released_ns and b.got_ns + error_ns < a.released_ns for a, b in both)

    def taken_by(self, effect: Effect) -> Iterator[FaultRecord]:
        """Yield the records of faults with this effect that can have taken the lock away between the two grants."""
        for fault in self.faults:
            if fault.record.effect is effect and any(self._is_taken_from(grant, fault.record) for grant in self.both):
                yield fault.record

    def _is_taken_from(self, grant: Grant, record: FaultRecord) -> bool:
        """Return whether a fault can have taken the lock of this grant away, before the younger request came in."""
        held_from_ns = grant.outer_lease_from_ns if grant.outer_key else grant.at_store_from_ns
        until_ns = grant.wrote_ns if self.elder is self.younger else self.younger.got_ns
        # the lab stamps an injection when it is done: the fault may have taken the lock a moment earlier
        return record.at_ns < until_ns and can_take_away(record, grant.replica, held_from_ns, self.run.lease_ns)

    def was_stalled(self) -> bool:
        """Return whether something outside the lab stopped one of the two, while it held the lock, for as long as a lease.

        Short stops count together: a busy machine makes a replica wait for a processor until the lease has ended.
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

        A renewal can come at any time in most of a lease, so half a lease without a processor explains a late renewal.
        """
        since_ns, lease_ns = grant.lease_from_ns, self.run.lease_ns
        if 2 * self._late_ns(grant, since_ns + lease_ns) <= lease_ns:
            return False
        return since_ns > grant.sent_ns or grant.wrote_ns - since_ns - self._late_ns(grant, grant.wrote_ns) < lease_ns

    def _late_ns(self, grant: Grant, until_ns: int) -> int:
        """Return for how many ns of a lease the machine was late: no processor was free, or the acquire had no answer yet.

        The answer's time counts only if other programs took most of the processors, so that the store waited for one as well. It
        does not count if a fault reached the request.
        """
        since_ns = grant.lease_from_ns
        queued_ns = self.stalls.queued_ns(grant.replica, since_ns, until_ns)
        if self.run.slowness > 1 and not any(fault.record.request == grant.request for fault in self.faults):
            return max(queued_ns, grant.got_ns - since_ns)
        return queued_ns

    def store_reported(self, event: str) -> bool:
        """Return whether the store reported this event of the key while the elder held it, before the younger got it."""
        return self.keys.happened(event, self.elder.lease_from_ns, self.younger.got_ns + RECEIVED_WITHIN_NS, self.key)

    def never_asked(self, grant: Grant) -> bool:
        """Return whether a request went in without an answer of the store, and no holder of its process handed it the lock."""
        return self.asks_are_seen and bool(grant.key) and grant.went_in_unasked and not self._was_handed_over(grant)

    def made_its_work_late(self, grant: Grant) -> bool:
        """Return whether too little of its lease was left when the work of a grant began, because of the lock itself.

        Too little is nearly nothing; or, if half of the lease is gone, less than the scenario's work takes. A stall, and waits
        for a processor, are no fault of the lock.
        """
        lease_ns, since_ns = self.run.lease_ns, grant.granted_from_ns
        least_ns = min(lease_ns * LATE, max(lease_ns / 2, lease_ns - self.run.work_ms * 1e6))
        late_ns = grant.got_ns - since_ns - self.stalls.queued_ns(grant.replica, since_ns, grant.got_ns)
        return (
            bool(grant.key)
            and 0 < least_ns <= late_ns
            and not any(
                stall.replica == grant.replica and not stall.own and since_ns < stall.until_ns and stall.since_ns < grant.got_ns
                for stall in self.stalls
            )
        )

    def _was_handed_over(self, grant: Grant) -> bool:
        """Return whether a holder of the same process, which had asked for the lock, handed it over to this request.

        It may have been handed over several times: one loop back in time finds them all, as each released before its successor.
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
