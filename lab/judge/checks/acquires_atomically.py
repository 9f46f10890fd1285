"""A lock that nobody got again, or too late, after something had gone wrong while it was being got."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import Violation, stuck_after
from lab.judge.findings import Findings


def violations(findings: Findings) -> Iterator[Violation]:
    strikes = [strike for strike in findings.strikes if strike.kind in ("kill", "raise") and strike.phase == "acquire"]
    return stuck_after(strikes, Claim.acquires_atomically, "it went wrong in the middle of getting the lock", findings)
