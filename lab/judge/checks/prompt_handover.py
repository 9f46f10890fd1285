"""The lock was free and a request waited for it, and the request did not take it."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation

LIMIT_MS = 20  # a wake-up takes far less, also from a store that writes to disk; the sleep of a poll takes more

MECHANISM = "the lock was free, but all waiters slept"


def violations(findings: Findings) -> Iterator[Violation]:
    idle = sorted(findings.idle_ns)
    median_ms = idle[len(idle) // 2] / 1e6 if idle else 0
    if findings.run.tests == Claim.prompt_handover.name and median_ms > LIMIT_MS:
        what = f"in half of the hand-overs the lock stayed free for over {median_ms:.0f} ms while a request waited"
        yield Violation(Claim.prompt_handover.name, MECHANISM, what, [findings.idlest] if findings.idlest else [])
