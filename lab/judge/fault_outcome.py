"""What followed from a fault: the judge computes it from the fault record and the journals."""

from __future__ import annotations

import msgspec

from app.failpoints import RELEASE
from lab.evidence.fault_record import Effect, FaultRecord

SENT_AT_ONCE_NS = 20_000_000  # votes that are asked for at the time of the fault
LEFT_TO_A_THREAD = frozenset({Effect.REPLY_LOST, Effect.REQUEST_FAILS})  # the lock can still belong to the thread
SETTLED_NS = 200_000_000  # a request that asked at the time of the fault may still get its answer


class FaultOutcome(msgspec.Struct, tag="fault", tag_field="what"):
    """One fault and what followed. The analysis reports each grant, release and renewal of the run, in the order of time."""

    record: FaultRecord
    # when another request got the lock for the first time after the fault; 0 if none did
    next_got_ns: int = 0
    # that request
    next_request: str = ""
    # when the request at the failpoint had released all the same; 0 if it never did
    went_on_ns: int = 0
    # when that release began
    leaving_ns: int = 0
    # the last grant to another request before the fault, and that request
    before_got_ns: int = 0
    before_request: str = ""
    # renewals by the same replica, from the fault to its recovery
    renewals: int = 0
    # grants to requests that asked, or asked again, only when the fault was in force, before its recovery began
    granted_meanwhile: int = 0
    # when the first and the last of them got it; requests that asked after the first and before the recovery; those of them that
    # were still waiting at the recovery, or waited in vain for all of their time, as behind a busy lock; and those that got it
    served_again_ns: int = 0
    served_last_ns: int = 0
    asked_again: int = 0
    waited_again: int = 0
    granted_again: int = 0
    # successful renewals by other replicas, before another request got the lock
    foreign_renewals: int = 0
    # when another request got the lock for the first time after the fault, whether it wrote or not; 0 if none did
    got_ns: int = 0
    # requests that asked only then, with or without success: in the same replica, and in the others
    asked_here: int = 0
    asked_there: int = 0
    # requests of the same replica that entered the lock which the request at the failpoint had left; each restarts its TTL
    reentered: int = 0

    @property
    def idle_ms(self) -> float | None:
        """Return the time from the fault to the next grant, or None if there was none."""
        return max(0, self.next_got_ns - self.record.began_ns) / 1e6 if self.next_got_ns else None

    def during(self, at_ns: int) -> bool:
        """Return whether a moment lies between the fault and its recovery."""
        return self.record.began_ns < at_ns < self.record.recovered_ns

    def lasted_longer_than(self, ns: int) -> bool:
        """Return whether the recovery came later than this."""
        return self.record.recovered_ns - self.record.began_ns > ns

    def serves(self, share: float) -> bool:
        """Return whether this share of those who asked got the lock, once one had it again.

        On a busy machine more may wait than can be served. So those who waited for all of their time, or until the recovery, do
        not count, as long as others were served: in the second half of the fault as well.
        """
        to_the_end = 2 * self.served_last_ns > self.record.began_ns + self.record.recovering_ns
        counted = self.asked_again - self.waited_again * to_the_end
        return bool(self.granted_meanwhile) and self.granted_again >= share * counted

    def asked(self, replica: str, asked_ns: int, waited_to_the_end: bool = False) -> None:
        """Take note of a request that has got the lock, or has given up.

        waited_to_the_end: until its time was over, or, within its time, until the recovery.
        """
        if self.record.began_ns < asked_ns < self.record.recovering_ns:
            self.asked_here += replica == self.record.replica
            self.asked_there += replica != self.record.replica
            again = 0 < self.served_again_ns < asked_ns
            self.asked_again += again
            self.waited_again += again and waited_to_the_end

    def got(self, request: str, replica: str, got_ns: int) -> None:
        """Take note of a grant, before its work."""
        shows_free = request != self.record.request and not self.may_reenter(replica)
        if not self.got_ns and self.record.began_ns < got_ns and shows_free:
            self.got_ns = got_ns

    def granted(self, request: str, asked_ns: int, got_ns: int, sent_ns: int = 0, shows_free: bool = True) -> None:
        """Take note of a grant under which the resource was written: one that it refuses shows nothing.

        sent_ns: when the last command of its acquire was sent. A waiter that asks again and again may have asked long before.
        shows_free: whether it shows that other requests can get the lock again.
        """
        is_of_now = self.record.began_ns + SETTLED_NS < asked_ns or self.record.began_ns + SENT_AT_ONCE_NS < sent_ns
        if is_of_now and got_ns < self.record.recovering_ns:
            self.granted_meanwhile += 1
            self.granted_again += 0 < self.served_again_ns < asked_ns
            self.served_again_ns = self.served_again_ns or got_ns
            self.served_last_ns = got_ns
        if request == self.record.request or not shows_free:
            return
        is_first = not self.next_got_ns or got_ns < self.next_got_ns
        if is_first and self.record.began_ns < got_ns:
            self.next_got_ns, self.next_request = got_ns, request
        elif self.before_got_ns < got_ns <= self.record.began_ns:
            self.before_got_ns, self.before_request = got_ns, request

    def released(self, request: str, releasing_ns: int, released_ns: int) -> None:
        """Take note of a release."""
        if request == self.record.request:
            self.went_on_ns, self.leaving_ns = released_ns, releasing_ns

    def close(self) -> None:
        """All is noted. A fault in a release is noted after its command: who got the lock in between shows that it was free."""
        if self.record.phase == RELEASE and 0 < self.leaving_ns < self.before_got_ns:
            self.next_got_ns, self.next_request = self.before_got_ns, self.before_request

    def renewed(self, replica: str, renewed_ns: int, succeeded: bool) -> None:
        """Take note of a renewal."""
        if replica == self.record.replica:
            self.renewals += self.during(renewed_ns)
        elif succeeded and self.record.began_ns < renewed_ns and not self.got_ns:
            self.foreign_renewals += 1

    def may_reenter(self, replica: str) -> bool:
        """Return whether a request of this replica can have the lock without it having been free.

        After a lost reply, or work that failed, the lock can still belong to the thread. A later request on the same thread
        can re-enter it.
        """
        return self.record.effect in LEFT_TO_A_THREAD and replica == self.record.replica
