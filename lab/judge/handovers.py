"""Collect hand-overs, and the times in which the lock was free although a request waited for it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from app.journal import GaveUp
from lab.judge.fact import Idle
from lab.judge.findings import Findings
from lab.judge.grant import Grant


class Handovers:
    """Report each grant and each release, in the order of time. measures: those of the findings."""

    def __init__(self, measures: Counter[str]) -> None:
        self.measures = measures
        self.latest: dict[str, Grant] = {}  # the last grant of each key

    def got(self, grant: Grant) -> None:
        before = self.latest.get(grant.key)
        if before is not None:
            if before.releasing_ns:
                self._hand_over(before, grant)
            else:
                before.successor = grant
        self.latest[grant.key] = grant

    def released(self, grant: Grant) -> None:
        """Count a hand-over once the next holder has done its work: a grant that wrote nothing shows nothing."""
        self._count(grant)
        if grant.successor is not None:
            self._hand_over(grant, grant.successor)
            grant.successor = None

    def _count(self, grant: Grant) -> None:
        if grant.handed_over_by and grant.wrote is not None:
            self.measures["handovers"] += 1
            self.measures["handovers_between_replicas"] += grant.handed_over_by != grant.replica

    def _hand_over(self, grant: Grant, after: Grant) -> None:
        """Take note that a grant was handed over to the next one, if its request was waiting at the release."""
        releasing_ns = grant.releasing_ns
        if grant.outer_key == grant.key:
            releasing_ns = max(releasing_ns, grant.outer_releasing_ns)
        if after.asked_ns < releasing_ns:
            after.handed_over_by = grant.replica
            if after.is_over:  # without mutual exclusion, the next holder can be done before
                self._count(after)


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
    run, so it is only done where a scenario tests hand-overs, or injects a fault.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.keys: defaultdict[str, _OfKey] = defaultdict(_OfKey)

    def got(self, grant: Grant) -> None:
        self._waited(grant.key, grant.asked_ns, grant.got_ns)
        self.keys[grant.key].got.append((grant.got_ns, grant.request, grant.left_lease_from_ns > 0))

    def gave_up(self, event: GaveUp) -> None:
        self._waited(event.wanted, event.asked_ns, event.gave_up_ns)

    def released(self, grant: Grant) -> None:
        if grant.wrote is not None or grant.sold_out:
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
