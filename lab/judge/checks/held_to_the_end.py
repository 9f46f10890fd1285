"""A lock ended before the work did: shown by what was destroyed because of it."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    fails = any(fault.record.effect is Effect.RENEWAL_FAILS for fault in findings.faults)
    if not (fails or findings.run.has_explicit_lease):  # each of the two has a claim of its own
        yield from harm_against(Claim.held_to_the_end, findings)
