"""Collect curves: what was acknowledged when, and what the counter held when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lab.evidence.history import Outcome, Request
from lab.judge.findings import BIN_NS, Findings


class Curves:
    """Report each request of the load's record. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.ends: Counter[tuple[Outcome, int]] = Counter()  # requests by their outcome and the bin in which they ended
        self.first_ns = self.last_ns = 0

    def request(self, request: Request) -> None:
        self.ends[request.outcome, request.end_ns // BIN_NS] += 1
        if not self.first_ns or request.start_ns < self.first_ns:
            self.first_ns = request.start_ns
        self.last_ns = max(self.last_ns, request.end_ns)

    def close(self, values_by_bin: Mapping[int, int]) -> None:
        """Put all curves on one axis of time that starts with the first request: everything has been read."""
        findings = self.findings
        findings.origin_ns, findings.end_ns = self.first_ns, self.last_ns
        origin = self.first_ns // BIN_NS
        for (outcome, at), number in self.ends.items():
            if outcome is Outcome.ACKNOWLEDGED:
                findings.acknowledged_by_bin[at - origin] += number
            elif outcome is Outcome.UNKNOWN:
                findings.unknown_by_bin[at - origin] += number
        findings.value_by_bin = {at - origin: value for at, value in sorted(values_by_bin.items())}
