"""A lock that was got while three of its five stores were gone."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import Violation
from lab.judge.findings import Findings

SETTLED_MS = 200  # who had asked before the strike may still be told


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.tests != Claim.refuses_without_majority.name:
        return
    for strike in findings.strikes:
        away_ms = (strike.healing_ns - strike.at_ns) / 1e6
        if strike.idle_ms is not None and SETTLED_MS < strike.idle_ms < away_ms:
            what = f"somebody got the lock {strike.idle_ms:.0f} ms after three of five were gone"
            yield Violation(Claim.refuses_without_majority.name, "granted by a minority", what, [strike.facts()])
