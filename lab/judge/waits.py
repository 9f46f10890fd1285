"""Collect waits and holds of the lock, requests that were overtaken, and waiters blocked by waiters that gave up.

It also collects the hand-overs, and the times in which the lock was free although a request waited for it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from app.journal import GaveUp
from app.lock import Claim
from lab.evidence.fault_record import Effect
from lab.judge.fact import EXAMPLES, Idle, Overtaken, Wait
from lab.judge.findings import Blocked, Findings
from lab.judge.grant import Grant

AT_ONCE_NS = 20_000_000  # two requests that ask within this time have no order: the stamp is set before the command is sent
REMEMBERED = 4096  # waiters that gave up; an older one cannot matter, because no wait is so long
BUSY = 0.25  # share of the time: a lock that is held for more is not free for its waiters


class Waits:
    """Collect each wait, in order of time. The results go into the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.is_fairness_tested = findings.run.tests in (Claim.fair.name, Claim.fair_in_process.name)
        # the time of asking and the replica of each grant so far, if fairness is tested
        self.asked_before: list[tuple[int, str]] = []
        self.longest_ns = -1

    def waited(self, wait: Wait) -> None:
        findings, wait_ns = self.findings, wait.until_ns - wait.asked_ns
        if wait.got:
            findings.waits_ns.append(wait_ns)
            if wait_ns > self.longest_ns:
                self.longest_ns, findings.longest = wait_ns, wait
        else:
            findings.in_vain_ns.append(wait_ns)
            if len(findings.in_vain) < EXAMPLES:
                findings.in_vain.append(wait)
        if self.is_fairness_tested:
            self._count_overtakers(wait)
            if wait.got:
                self.asked_before.append((wait.asked_ns, wait.replica))

    def _count_overtakers(self, wait: Wait) -> None:
        """Count the requests that asked later than this one and got the lock before this one got it or gave up."""
        any_replica, clocks = self.findings.run.tests == Claim.fair.name, self.findings.run.clocks
        later = sum(
            other_ns > wait.asked_ns + AT_ONCE_NS + clocks.error_ns(wait.replica, replica)
            for other_ns, replica in self.asked_before
            if any_replica or replica == wait.replica
        )
        self.findings.overtakes.append(later)
        if later > (self.findings.overtaken.overtaken if self.findings.overtaken else 0):
            self.findings.overtaken = Overtaken(wait.request, wait.replica, later, wait.asked_ns, wait.until_ns)


class Holds:
    """Collect each release. The results go into the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.ttl_ns = findings.run.ttl_ns
        self.retry_ns = findings.run.retry_ms * 1_000_000
        self.failed_renewals = [fault.record for fault in findings.faults if fault.record.effect is Effect.RENEWAL_FAILS]

    def released(self, grant: Grant) -> None:
        """Count a grant and its wait if it wrote: a grant that wrote nothing shows nothing."""
        measures, held_ns = self.findings.measures, grant.releasing_ns - grant.got_ns
        if grant.wrote is not None:
            measures["granted"] += 1
            measures["waited"] += grant.got_ns - grant.asked_ns >= self.retry_ns
            self.findings.worked_ns += held_ns
        if self.ttl_ns and held_ns > self.ttl_ns:
            measures["outlasted_ttl"] += 1
            measures["outlasted_ttls"] = max(measures["outlasted_ttls"], held_ns // self.ttl_ns)
            for record in self.failed_renewals:
                held = record.replica == grant.replica and grant.got_ns < record.at_ns
                measures["outlived_failed_renewals"] += held and grant.releasing_ns - record.at_ns > self.ttl_ns


class Leavers:
    """Collect each wait and each release, in order of time. The results go into the findings.

    If a holder keeps the lock for longer than a waiter is ready to wait, waiters give up in order: the first to ask leaves first,
    and the waiters behind it wait on. The question is whether they get the lock when this holder has released it.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.patience_ns = findings.run.patience_ns
        self.left: deque[Wait] = deque(maxlen=REMEMBERED)
        self.is_tested = findings.run.tests == Claim.waiters_may_leave.name
        self.waits: list[Wait] = []  # all waits of the run, if the claim is tested
        self.holds: list[tuple[int, int]] = []  # when each holder got the lock and sent its release

    def waited(self, wait: Wait) -> None:
        if self.is_tested:
            self.waits.append(wait)
        if not wait.got:
            self.left.append(wait)
        elif self.left:
            self.findings.measures["behind_a_leaver"] += self._was_behind_a_leaver(wait)

    def released(self, grant: Grant) -> None:
        self.holds.append((grant.got_ns, grant.releasing_ns))

    def close(self) -> None:
        """Find the replicas whose waiters were kept from a free lock: all journals have been read."""
        for fault in self.findings.faults:
            if self.is_tested and fault.record.effect is Effect.REQUEST_WAITS and fault.went_on_ns:
                self._find_blocked(fault.went_on_ns)

    def _was_behind_a_leaver(self, wait: Wait) -> bool:
        """Return whether another request had asked before this one, and gave up while this one waited."""
        for left in reversed(self.left):
            if left.until_ns < wait.asked_ns:
                return False
            if left.asked_ns < wait.asked_ns:
                return True
        return False

    def _find_blocked(self, free_ns: int) -> None:
        """Examine the requests that waited after the lock became free: all together, then by replica."""
        if not any(not wait.got and wait.until_ns < free_ns for wait in self.waits):
            return
        waits = [wait for wait in self.waits if wait.until_ns > free_ns]
        until_ns = max((wait.until_ns for wait in waits), default=free_ns)
        if self._share_held(free_ns, until_ns) > BUSY:
            return
        served = min((wait for wait in waits if wait.got), key=lambda wait: wait.until_ns, default=None)  # the first to get it
        waited_ns = _waited(waits, free_ns, until_ns if served is None else served.until_ns)
        if served is not None:
            waited_ns -= self.findings.stalls.queued_ns(served.replica, free_ns, served.until_ns)
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
        """Return for how many nanoseconds a request waited, without the time in which its replica waited for a processor.

        If it gave up, all of the wait counts: its patience was over.
        """
        late_ns = self.findings.stalls.queued_ns(wait.replica, wait.asked_ns, wait.until_ns) if wait.got else 0
        return wait.until_ns - wait.asked_ns - late_ns

    def _share_held(self, since_ns: int, until_ns: int) -> float:
        """Return during which share of this time a request held the lock."""
        held_ns = sum(max(0, min(end_ns, until_ns) - max(got_ns, since_ns)) for got_ns, end_ns in self.holds)
        return held_ns / max(1, until_ns - since_ns)


def _waited(waits: Sequence[Wait], since_ns: int, until_ns: int) -> int:
    """Return for how many nanoseconds of this time at least one request waited."""
    waited_ns, seen_ns = 0, since_ns
    for wait in sorted(waits, key=lambda wait: wait.asked_ns):
        ends_ns = min(wait.until_ns, until_ns)
        waited_ns += max(0, ends_ns - max(seen_ns, wait.asked_ns))
        seen_ns = max(seen_ns, ends_ns)
    return waited_ns


class Handovers:
    """Count hand-overs from each grant and each release, in order of time. measures: the findings' measures, to add to."""

    def __init__(self, measures: Counter[str]) -> None:
        self.measures = measures
        self.latest: dict[str, Grant] = {}  # the last grant of each key

    def got(self, grant: Grant) -> None:
        before = self.latest.get(grant.key)
        if before is not None:
            before.successor, grant.predecessor = grant, before
        self.latest[grant.key] = grant

    def released(self, grant: Grant) -> None:
        """Count each hand-over of this grant if the other grant is released: nearly always the one from its predecessor."""
        before, after = grant.predecessor, grant.successor
        if before is not None and before.is_over:
            self._count(before, grant)
        if after is not None and after.is_over:  # without mutual exclusion, the next holder may be done before this one
            self._count(grant, after)

    def _count(self, before: Grant, after: Grant) -> None:
        """Count a hand-over if the second request was waiting when the first released, and has written."""
        before.successor = after.predecessor = None
        if after.wrote is not None and after.asked_ns < before.free_ns:
            self.measures["handovers"] += 1
            self.measures["handovers_between_replicas"] += before.replica != after.replica


@dataclass
class _WaitsOfKey:
    """Hold the waits for one key, and its grants."""

    asked_ns: list[int] = field(default_factory=list)
    # when each wait ended, in any order: by a grant, or because the request gave up
    left_ns: list[int] = field(default_factory=list)
    # of each grant: when, to which request, and whether a holder of its process handed the lock over
    got: list[tuple[int, str, bool]] = field(default_factory=list)
    released: list[Grant] = field(default_factory=list)


class IdleTimes:
    """Measure idle times from each grant, each release and each request that gave up. The results go into the findings.

    The lock counts as free until a request gets it: a waiter, or a newcomer. If no request gets it any more, the time goes on
    until the last waiter has left. This needs every wait of the run, so it is only done if a scenario tests hand-overs, injects a
    fault, or takes a lock twice.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.keys: defaultdict[str, _WaitsOfKey] = defaultdict(_WaitsOfKey)

    def got(self, grant: Grant) -> None:
        got_ns = grant.outer_got_ns if grant.outer_key == grant.key else grant.got_ns
        self._waited(grant.key, grant.asked_ns, got_ns)
        self.keys[grant.key].got.append((got_ns, grant.request, grant.left_lease_from_ns > 0))

    def gave_up(self, event: GaveUp) -> None:
        self._waited(event.wanted, event.asked_ns, event.gave_up_ns)

    def released(self, grant: Grant) -> None:
        if grant.wrote is not None or grant.sold_out:
            self.keys[grant.key].released.append(grant)

    def _waited(self, key: str, asked_ns: int, left_ns: int) -> None:
        waits = self.keys[key]
        waits.asked_ns.append(asked_ns)
        waits.left_ns.append(left_ns)

    def close(self) -> None:
        """Measure all keys: all journals have been read."""
        nameless = self.keys.pop("", None)  # a request that gave up may not have recorded its key
        for waits in self.keys.values():
            if nameless is not None:
                waits.asked_ns += nameless.asked_ns
                waits.left_ns += nameless.left_ns
            self._measure(waits)
        self.findings.idle_times.sort(key=lambda idle: idle.releasing_ns)

    def _measure(self, waits: _WaitsOfKey) -> None:
        """Measure how long the key was free after each release with a waiter."""
        asked_ns, left_ns, got = sorted(waits.asked_ns), sorted(waits.left_ns), sorted(waits.got)
        for grant in waits.released:
            free_ns = grant.free_ns
            waiting = bisect_left(asked_ns, free_ns) - bisect_right(left_ns, free_ns)
            if waiting <= 0:
                continue
            after = bisect_right(got, (free_ns, "", False))
            taken_ns, taker, was_handed_over = got[after] if after < len(got) else (left_ns[-1], "", False)
            if was_handed_over:  # then the lock was never free
                continue
            self.findings.idle_times.append(Idle(grant.request, taker, free_ns, taken_ns))
