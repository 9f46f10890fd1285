"""Collect holders that outlived their lease, and releases that freed the wrong lock or freed it too early."""

from __future__ import annotations

from collections.abc import Mapping

from app.journal import Renewed
from lab.judge.findings import Findings
from lab.judge.grant import Grant, Name


class Leases:
    """Report each renewal and each release, in the order of time. The results are in the findings and in the grants."""

    def __init__(self, findings: Findings, open_grants: Mapping[Name, Grant]) -> None:
        self.findings = findings
        self.open_grants = open_grants
        self.ttl_ns = findings.run.ttl_ms * 1_000_000
        self.renewed_ns: dict[str, int] = {}  # the last successful renewal of any lock, by replica

    def renewed(self, replica: str, event: Renewed) -> None:
        self.findings.renewals += 1
        if event.answer == "1":  # a renewal that failed prolongs nothing
            self.renewed_ns[replica] = event.renewed_ns

    def released(self, grant: Grant) -> None:
        findings = self.findings
        findings.not_owner += grant.result == "not_owner"
        if self.ttl_ns and grant.releasing_ns - grant.got_ns > self.ttl_ns:
            findings.measures["outlasted_ttl"] += 1
            renewed_ns = max(grant.got_ns, self.renewed_ns.get(grant.replica, 0))
            grant.outlived |= grant.releasing_ns - renewed_ns > self.ttl_ns
        if grant.stole:
            findings.thefts += 1
            self._mark_robbed(grant)
        if findings.run.nested == "same" and grant.found_nothing and not self._ended(grant):
            findings.freed_early += 1
            findings.freed_first = findings.freed_first or grant

    def _ended(self, grant: Grant) -> bool:
        """Return whether the lease can have ended before the release began, counted from asking for the lock."""
        return bool(self.ttl_ns) and grant.releasing_ns - grant.asked_ns > self.ttl_ns

    def _mark_robbed(self, thief: Grant) -> None:
        """Mark the holders of the key at the time of the theft: the lock is no longer their own."""
        for grant in self.open_grants.values():
            if grant.key == thief.key and grant.got_ns < thief.released_ns:
                grant.outlived = True
