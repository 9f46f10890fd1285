"""Collect hand-overs: a request released a key, and another request was already waiting for it."""

from __future__ import annotations

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
