"""The holder's thread hung in a living process, and no other request got the lock again, or got it too late."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import stuck_after
from lab.judge.findings import Findings
from lab.judge.violation import Violation

TTLS = 2  # the lock is free after one TTL; waiters of a busy machine may be late


def violations(findings: Findings) -> Iterator[Violation]:
    hung = [fault for fault in findings.faults if fault.record.effect is Effect.REQUEST_HANGS]
    limit_ms = TTLS * findings.run.ttl_ms
    return stuck_after(hung, Claim.freed_after_hang, "the holder's thread hung", findings, limit_ms)
