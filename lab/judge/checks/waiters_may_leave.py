"""Waiters gave up, and the waiters behind them did not get the lock when it was free.

This breaks two more promises: a free lock was not granted to a waiter at once, and an acquire that had failed left the lock
blocked for longer than its TTL.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import PATIENCE_MS
from lab.judge.findings import Findings
from lab.judge.violation import Evidence, Violation

MECHANISM = "a waiter that had given up blocked the others"


def violations(findings: Findings) -> Iterator[Violation]:
    if not findings.blocked:
        return
    one = max(findings.blocked, key=lambda blocked: (blocked.never, blocked.ms))
    ended = "did not get it before the run was over" if one.never else "got it only then"
    what = f"the lock was free, and the waiters of {one.replica} waited for {one.ms:.0f} ms and {ended}"
    evidence: list[Evidence] = [*one.waits]
    for claim in (Claim.waiters_may_leave, Claim.prompt_handover):
        yield Violation(claim.name, MECHANISM, what, evidence)
    if one.ms > findings.run.ttl_ms + PATIENCE_MS:
        yield Violation(Claim.acquires_atomically.name, MECHANISM, what, evidence)
