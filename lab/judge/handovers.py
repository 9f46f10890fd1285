"""Collect hand-overs, and the times in which the lock was free although a request waited for it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

from app.journal import GaveUp
from app.lock import Claim
from lab.judge.examples import Idle
from lab.judge.findings import Findings
from lab.judge.grant import Grant


class Handovers:
    """Report each grant and each release, in the order of time. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.idle_ns = findings.idle_ns
        self.latest: dict[str, Grant] = {}  # the last grant of each key
        self.longest_idle_ns = -1
        self.number = self.number_between_replicas = 0

    def got(self, grant: Grant) -> None:
        before = self.latest.get(grant.key)
        if before is not None:
            before.successor = grant
            if before.releasing_ns:
                self._measure(before)
        self.latest[grant.key] = grant

    def released(self, grant: Grant) -> None:
        """Count a hand-over once the next holder has done its work: a grant that wrote nothing shows nothing."""
        if grant.handed_over_by:
            self._count(grant)
        if grant.successor is not None:
            self._measure(grant)

    def close(self) -> None:
        """Measure: all journals have been read."""
        self.findings.measures["handovers"] = self.number
        self.findings.measures["handovers_between_replicas"] = self.number_between_replicas

    def _count(self, grant: Grant) -> None:
        if grant.handed_over_by and grant.wrote is not None:
            self.number += 1
            self.number_between_replicas += grant.handed_over_by != grant.replica

    def _measure(self, grant: Grant) -> None:
        """Measure the time between a release and the next grant, if the next holder was waiting at the release."""
        after, grant.successor = grant.successor, None
        releasing_ns = grant.releasing_ns
        if grant.outer_key == grant.key:
            releasing_ns = max(releasing_ns, grant.outer_releasing_ns)
        if after is None or after.asked_ns >= releasing_ns:
            return
        if not after.left_lease_from_ns:  # a lock that is left to a thread of the same process was never free
            self._measure_idle(grant, after, releasing_ns)
        after.handed_over_by = grant.replica
        if after.is_over:  # without mutual exclusion, the next holder can be done before
            self._count(after)

    def _measure_idle(self, grant: Grant, after: Grant, releasing_ns: int) -> None:
        idle_ns = max(0, (after.outer_got_ns or after.got_ns) - releasing_ns)
        self.idle_ns.append(idle_ns)
        if idle_ns > self.longest_idle_ns:
            self.longest_idle_ns = idle_ns
            self.findings.idlest = Idle(grant.request, after.request, releasing_ns, after.got_ns)


@dataclass
class _OfKey:
    """The waits for one key, and its grants."""

    asked_ns: list[int] = field(default_factory=list)
    # when those that asked had left, in any order: by a grant, or because they gave up
    left_ns: list[int] = field(default_factory=list)
    # when, by which request, and whether a holder of its process left the lock to it
    got: list[tuple[int, str, bool]] = field(default_factory=list)
    released: list[Grant] = field(default_factory=list)


class IdleTimes:
    """Report each grant, each release and each request that gave up. The results are in the findings.

    The waiters at the release are not asked whether they got it. Where a newcomer takes a lock that was free, it was free all the
    same. Where nobody got it any more, the time goes on until the last of those waiters had left. This needs every wait of the
    run, so it is only done where a scenario asks for it, or injects a fault.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.is_asked = findings.run.tests == Claim.prompt_handover.name or findings.run.has_faults
        self.keys: defaultdict[str, _OfKey] = defaultdict(_OfKey)

    def got(self, grant: Grant) -> None:
        if self.is_asked:
            self._waited(grant.key, grant.asked_ns, grant.got_ns)
            self.keys[grant.key].got.append((grant.got_ns, grant.request, grant.left_lease_from_ns > 0))

    def gave_up(self, replica: str, event: GaveUp) -> None:
        if self.is_asked:
            self._waited(event.wanted, event.asked_ns, event.gave_up_ns)

    def released(self, grant: Grant) -> None:
        if self.is_asked and (grant.wrote is not None or grant.sold_out):
            self.keys[grant.key].released.append(grant)

    def _waited(self, key: str, asked_ns: int, left_ns: int) -> None:
        of_key = self.keys[key]
        of_key.asked_ns.append(asked_ns)
        of_key.left_ns.append(left_ns)

    def close(self) -> None:
        """Measure: all journals have been read."""
        reached = {fault.record.request for fault in self.findings.faults}
        nameless = self.keys.pop("", None)  # a request that gave up may not have recorded for which key
        for of_key in self.keys.values():
            if nameless is not None:
                of_key.asked_ns += nameless.asked_ns
                of_key.left_ns += nameless.left_ns
            self._measure(of_key, reached)
        self.findings.idle_times.sort(key=lambda idle: idle.releasing_ns)

    def _measure(self, of_key: _OfKey, reached: set[str]) -> None:
        """Measure how long the key was free after each release at which somebody waited. reached: the requests of the faults."""
        asked_ns, left_ns, got = sorted(of_key.asked_ns), sorted(of_key.left_ns), sorted(of_key.got)
        for grant in of_key.released:
            free_ns = grant.outer_releasing_ns if grant.outer_key == grant.key else grant.releasing_ns
            waiting = bisect_left(asked_ns, free_ns) - bisect_right(left_ns, free_ns)
            if waiting <= 0:
                continue
            place = bisect_right(got, (free_ns, "", False))
            taken_ns, taker, was_left = got[place] if place < len(got) else (left_ns[-1], "", False)
            if was_left:  # then it was never free
                continue
            self.findings.idle_times.append(Idle(grant.request, taker, free_ns, taken_ns))
            if grant.request not in reached:
                self.findings.free_ns.append(max(0, taken_ns - grant.released_ns))
