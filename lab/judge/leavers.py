"""Collect waiters that gave up, and what became of the waiters behind them.

Only a holder that keeps the lock for longer than a waiter is ready to wait makes waiters give up in order: those that asked
first leave first, and those behind them wait on. The question is what follows when that holder has released.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from statistics import median

from app.journal import GaveUp
from app.lock import Claim
from lab.evidence.fault_record import Effect
from lab.judge.examples import EXAMPLES, Wait, short
from lab.judge.findings import Blocked, Findings
from lab.judge.grant import Grant

REMEMBERED = 4096  # waiters that gave up; a wait is never so long that an older one matters
SHARE_OF_PATIENCE = 0.9  # a wait that lasts longer than this ends because the patience ends
BUSY = 0.25  # a lock that is held for more than this share of the time is not free for its waiters


class Leavers:
    """Report each grant, each release and each request that gave up, in the order of time. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.patience_ns = findings.run.wait_ms * 1_000_000 * SHARE_OF_PATIENCE
        self.left: deque[GaveUp] = deque(maxlen=REMEMBERED)
        self.is_tested = findings.run.tests == Claim.waiters_may_leave.name
        self.waits: list[Wait] = []  # all of the run, where the claim is tested
        self.holds: list[tuple[int, int]] = []  # the same

    def got(self, grant: Grant) -> None:
        if not self.left and not self.is_tested:
            return
        self.findings.measures["behind_a_leaver"] += self._was_behind_a_leaver(grant)
        if self.is_tested:
            key = short(grant.key)
            self.waits.append(Wait(grant.request, grant.replica, grant.asked_ns, grant.got_ns, got=True, wanted=key))

    def gave_up(self, replica: str, event: GaveUp) -> None:
        self.left.append(event)
        if self.is_tested:
            wanted = short(event.wanted)
            self.waits.append(Wait(event.request, replica, event.asked_ns, event.gave_up_ns, got=False, wanted=wanted))

    def released(self, grant: Grant) -> None:
        if self.is_tested:
            self.holds.append((grant.got_ns, grant.releasing_ns))

    def close(self) -> None:
        """Find the replicas whose waiters were kept from a free lock: all journals have been read."""
        if not self.is_tested:
            return
        for fault in self.findings.faults:
            if fault.record.effect is Effect.REQUEST_WAITS and fault.went_on_ns:
                self._look_after(fault.went_on_ns)

    def _was_behind_a_leaver(self, grant: Grant) -> bool:
        """Return whether another request had asked before this one, and gave up while this one waited."""
        for event in reversed(self.left):
            if event.gave_up_ns < grant.asked_ns:
                return False
            if event.asked_ns < grant.asked_ns:
                return True
        return False

    def _look_after(self, free_ns: int) -> None:
        """Look at the requests that waited after the lock became free: at all of them, and at those of each replica."""
        if not any(not wait.got and wait.until_ns < free_ns for wait in self.waits):
            return
        waits = [wait for wait in self.waits if wait.until_ns > free_ns]
        until_ns = max((wait.until_ns for wait in waits), default=free_ns)
        if self._share_held(free_ns, until_ns) > BUSY:
            return
        first = min((wait for wait in waits if wait.got), key=lambda wait: wait.until_ns, default=None)
        waited_ns = _waited(waits, free_ns, until_ns if first is None else first.until_ns)
        if first is not None:
            waited_ns -= self.findings.lateness.within_ns(first.replica, free_ns, first.until_ns)
        if waited_ns > self.patience_ns:
            never = not any(wait.got for wait in waits)
            self.findings.blocked.append(Blocked("", waited_ns / 1e6, never, waits[:EXAMPLES]))
            return
        for replica in sorted({wait.replica for wait in waits}):
            later = [wait for wait in waits if wait.replica == replica and wait.asked_ns > free_ns]
            if later and (own_ns := median(map(self._own_ns, later))) > self.patience_ns:
                never = not any(wait.got for wait in later)
                self.findings.blocked.append(Blocked(replica, own_ns / 1e6, never, later[:EXAMPLES]))

    def _own_ns(self, wait: Wait) -> int:
        """Return for how long a request waited, without the time in which its replica waited for a processor.

        Where it gave up, all of the wait counts: its patience was over.
        """
        late_ns = self.findings.lateness.within_ns(wait.replica, wait.asked_ns, wait.until_ns) if wait.got else 0
        return wait.until_ns - wait.asked_ns - late_ns

    def _share_held(self, since_ns: int, until_ns: int) -> float:
        """Return for which share of this time a request held the lock."""
        held_ns = sum(max(0, min(end_ns, until_ns) - max(got_ns, since_ns)) for got_ns, end_ns in self.holds)
        return held_ns / max(1, until_ns - since_ns)


def _waited(waits: Sequence[Wait], since_ns: int, until_ns: int) -> int:
    """Return for how much of this time at least one request waited."""
    waited_ns, seen_ns = 0, since_ns
    for wait in sorted(waits, key=lambda wait: wait.asked_ns):
        ends_ns = min(wait.until_ns, until_ns)
        waited_ns += max(0, ends_ns - max(seen_ns, wait.asked_ns))
        seen_ns = max(seen_ns, ends_ns)
    return waited_ns
