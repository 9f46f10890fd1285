"""A lock that nobody got again, or too late, after its holder's process had died."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import Violation, stuck_after
from lab.judge.findings import Findings


def violations(findings: Findings) -> Iterator[Violation]:
    strikes = [strike for strike in findings.strikes if strike.kind == "kill" and strike.phase != "acquire"]
    return stuck_after(strikes, Claim.freed_after_crash, "the holder's process died", findings)
