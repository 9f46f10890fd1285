"""After a fault while a request acquired the lock, no other request got it again, or got it too late."""

from __future__ import annotations

from collections.abc import Iterator

from app.failpoints import ACQUIRE
from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import stuck_after
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    failed = [fault for fault in findings.faults if fault.record.effect in (Effect.PROCESS_DIES, Effect.REQUEST_FAILS)]
    faults = [fault for fault in failed if fault.record.phase == ACQUIRE]
    return stuck_after(
        faults, Claim.acquires_atomically, "it went wrong in the middle of getting the lock", findings, to_the_end=True
    )
