"""No other request could get the lock for most of a TTL, because the reply to an acquisition was lost."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import stuck_after
from lab.judge.findings import Findings
from lab.judge.violation import Violation

SHARE_OF_TTL = 0.7  # a sound lock is handed on after the work, which is a small part of the TTL


def violations(findings: Findings) -> Iterator[Violation]:
    faults = [fault for fault in findings.faults if fault.record.effect is Effect.REPLY_LOST]
    limit_ms = findings.run.ttl_ms * SHARE_OF_TTL
    return stuck_after(faults, Claim.survives_a_lost_reply, "locked out by its own lock", findings, limit_ms, to_the_end=True)
