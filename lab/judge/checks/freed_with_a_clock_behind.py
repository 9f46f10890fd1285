"""The holder's process had died, the clocks of the store were behind, and no other request got the lock, or got it too late."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import stuck_after
from lab.judge.findings import Findings
from lab.judge.violation import Violation

MECHANISM = "the lock's end is a time on a clock that jumped back"


def violations(findings: Findings) -> Iterator[Violation]:
    if any(fault.record.effect is Effect.CLOCKS_BACK for fault in findings.faults):
        killed = [fault for fault in findings.faults if fault.record.effect is Effect.PROCESS_DIES]
        yield from stuck_after(killed, Claim.freed_with_a_clock_behind, MECHANISM, findings)
