"""Collect holders that outlasted their TTL, releases that found nothing of their own, and how long a hold lasted."""

from __future__ import annotations

from app.journal import Renewed
from lab.evidence.fault_record import Effect
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


class LongHolds:
    """Report each release. The results are measures in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.measures = findings.measures
        self.ttl_ns = findings.run.ttl_ms * 1_000_000
        self.failed_renewals = [fault.record for fault in findings.faults if fault.record.effect is Effect.RENEWAL_FAILS]

    def released(self, grant: Grant) -> None:
        if not self.ttl_ns:
            return
        ttls = (grant.releasing_ns - grant.got_ns) // self.ttl_ns
        self.measures["outlasted_ttls"] = max(self.measures["outlasted_ttls"], ttls)
        for record in self.failed_renewals:
            held = record.replica == grant.replica and grant.got_ns < record.at_ns
            self.measures["outlived_failed_renewals"] += held and grant.releasing_ns - record.at_ns > self.ttl_ns
