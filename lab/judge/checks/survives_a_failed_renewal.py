"""A lock ended before the work did, after one of its renewals had failed: shown by what was destroyed because of it."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    if any(fault.record.effect is Effect.RENEWAL_FAILS for fault in findings.faults):
        yield from harm_against(Claim.survives_a_failed_renewal, findings, like=Claim.held_to_the_end)
