"""The store had carried out a release whose reply was lost, and yet no other request got the lock for most of a TTL."""

from __future__ import annotations

from collections.abc import Iterator

from app.failpoints import RELEASE
from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import stuck_after
from lab.judge.checks.survives_a_lost_reply import SHARE_OF_TTL
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    dropped = [fault for fault in findings.faults if fault.record.effect is Effect.REPLY_DROPPED]
    faults = [fault for fault in dropped if fault.record.phase == RELEASE]
    limit_ms = findings.run.ttl_ms * SHARE_OF_TTL
    return stuck_after(faults, Claim.freed_after_a_lost_release, "the reply to the release was lost", findings, limit_ms)
