"""The holder's work failed, and no other request got the lock again, or got it only long after."""

from __future__ import annotations

from collections.abc import Iterator

from app.failpoints import ACQUIRE, RELEASE
from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import stuck_after
from lab.judge.findings import Findings
from lab.judge.violation import Violation

SHARE_OF_TTL = 1 / 3  # a holder that releases in any case needs far less; without a release, the whole TTL passes


def violations(findings: Findings) -> Iterator[Violation]:
    failed = [fault for fault in findings.faults if fault.record.effect is Effect.REQUEST_FAILS]
    faults = [fault for fault in failed if fault.record.phase not in (ACQUIRE, RELEASE)]
    limit_ms = findings.run.ttl_ms * SHARE_OF_TTL
    return stuck_after(faults, Claim.freed_after_failure, "the work failed, and its holder released nothing", findings, limit_ms)
