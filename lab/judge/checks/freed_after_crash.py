"""After the holder's process had died, no other request got the lock again, or got it too late."""

from __future__ import annotations

from collections.abc import Iterator

from app.failpoints import ACQUIRE
from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import stuck_after
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    killed = [fault for fault in findings.faults if fault.record.effect is Effect.PROCESS_DIES]
    faults = [fault for fault in killed if fault.record.phase != ACQUIRE]
    if not any(fault.record.effect is Effect.CLOCKS_BACK for fault in findings.faults):  # that has a claim of its own
        yield from stuck_after(faults, Claim.freed_after_crash, "the holder's process died", findings)
