"""A lock that was free and waited for, and not taken."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation

LIMIT_MS = 20  # a wake-up takes far less, also from a store that writes to disk; the sleep of a poll takes more


def violations(findings: Findings) -> Iterator[Violation]:
    idle = sorted(findings.idle_ns)
    if findings.run.tests == Claim.prompt_handover.name and idle and idle[len(idle) // 2] > LIMIT_MS * 1e6:
        what = f"half the time it stayed free for over {idle[len(idle) // 2] / 1e6:.0f} ms while somebody waited"
        yield Violation(Claim.prompt_handover.name, "everybody was asleep", what, [findings.idlest] if findings.idlest else [])
