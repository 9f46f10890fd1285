"""A lock that nobody got again after its holder had died, or too late."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.check import Violation
from lab.findings import Findings

MECHANISM = "the holder died with the lock"
PATIENCE_MS = 500


def violations(findings: Findings) -> Iterator[Violation]:
    for strike in findings.strikes:
        if strike.kind not in ("kill", "raise", "stop_renewal"):
            continue
        about = f"{strike.request} at {strike.replica} died with the lock"
        if strike.idle_ms is None:
            yield Violation(Claim.freed_after_crash.name, MECHANISM, f"{about}, and nobody ever got it again", [strike.facts()])
        elif strike.idle_ms > findings.ttl_ms + PATIENCE_MS:
            what = f"{about}, and it was {strike.idle_ms:.0f} ms until somebody got it again"
            yield Violation(Claim.freed_after_crash.name, MECHANISM, what, [strike.facts()])
