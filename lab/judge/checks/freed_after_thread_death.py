"""A lock that nobody got again, or too late, after its holder's thread had died in a living process."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import Violation, stuck_after
from lab.judge.findings import Findings


def violations(findings: Findings) -> Iterator[Violation]:
    strikes = [strike for strike in findings.strikes if strike.kind in ("raise", "stop_renewal") and strike.phase != "acquire"]
    return stuck_after(strikes, Claim.freed_after_thread_death, "the holder's thread died", findings)
