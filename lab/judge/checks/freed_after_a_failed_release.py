"""After a release had failed before it was sent, no other request got the lock again, or got it too late.

A lock that other requests re-entered meanwhile breaks another promise (``reenters_only_its_own``): each of them restarted its
TTL.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.failpoints import RELEASE
from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.judge.check import stuck_after
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    failed = [fault for fault in findings.faults if fault.record.effect is Effect.COMMAND_FAILS]
    faults = [fault for fault in failed if fault.record.phase == RELEASE and not fault.reentered]
    return stuck_after(faults, Claim.freed_after_a_failed_release, "the release failed", findings)
