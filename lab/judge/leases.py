"""Collect holders that outlasted their TTL, and releases that found nothing of their own."""

from __future__ import annotations

from app.journal import Renewed
from lab.judge.findings import Findings
from lab.judge.grant import Grant


class Leases:
    """Report each renewal and each release, in the order of time. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.ttl_ns = findings.run.ttl_ms * 1_000_000
        self.is_nested = findings.run.nested == "same"

    def renewed(self, event: Renewed) -> None:
        self.findings.renewals += 1

    def released(self, grant: Grant) -> None:
        findings = self.findings
        if grant.result == "not_owner":
            findings.not_owner += 1
        if self.ttl_ns and grant.releasing_ns - grant.got_ns > self.ttl_ns:
            findings.measures["outlasted_ttl"] += 1
        if self.is_nested and grant.found_nothing and not self._ended(grant):
            findings.freed_early += 1
            findings.freed_first = findings.freed_first or grant

    def _ended(self, grant: Grant) -> bool:
        """Return whether the lease can have ended before the outer release began, counted from asking for the lock."""
        return bool(self.ttl_ns) and max(grant.releasing_ns, grant.outer_releasing_ns) - grant.asked_ns > self.ttl_ns
