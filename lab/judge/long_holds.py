"""Collect holds that lasted long: how many TTLs, and how long they went on after a renewal had failed."""

from __future__ import annotations

from lab.evidence.fault_effect import Effect
from lab.judge.findings import Findings
from lab.judge.grant import Grant


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
