"""Two requests each held the lock that the other one wanted, and the deadlock lasted too long."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import PATIENCE_MS, waited_too_long
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.nested == "crossed":
        limit_ms = 2 * findings.run.ttl_ms + PATIENCE_MS  # two locks to wait for
        yield from waited_too_long(Claim.breaks_deadlock, "waited for each other", findings, limit_ms)
