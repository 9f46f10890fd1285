"""Collect hand-overs: a request released a key, and another request was already waiting for it."""

from __future__ import annotations

from lab.judge.examples import Idle
from lab.judge.findings import Findings
from lab.judge.grant import Grant


class Handovers:
    """Report each grant and each release, in the order of time. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.latest: dict[str, Grant] = {}  # the last grant of each key
        self.longest_idle_ns = -1

    def got(self, grant: Grant) -> None:
        before = self.latest.get(grant.key)
        if before is not None:
            before.successor = grant
            if before.releasing_ns:
                self._measure(before)
        self.latest[grant.key] = grant

    def released(self, grant: Grant) -> None:
        if grant.successor is not None:
            self._measure(grant)

    def _measure(self, grant: Grant) -> None:
        """Measure the time between a release and the next grant, if the next holder was waiting at the release."""
        after, grant.successor = grant.successor, None
        if after is None or after.asked_ns >= grant.releasing_ns:
            return
        findings, measures = self.findings, self.findings.measures
        idle_ns = max(0, after.got_ns - grant.releasing_ns)
        findings.idle_ns.append(idle_ns)
        if idle_ns > self.longest_idle_ns:
            self.longest_idle_ns = idle_ns
            findings.idlest = Idle(grant.request, after.request, grant.releasing_ns, after.got_ns)
        measures["handovers"] += 1
        measures["handovers_between_replicas"] += after.replica != grant.replica
