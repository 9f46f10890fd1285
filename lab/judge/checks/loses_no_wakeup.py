"""A waiter was held up between its look at the queue and its wait, and slept on after the lock was released."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import waited_too_long
from lab.judge.findings import Findings
from lab.judge.violation import Violation

MECHANISM = "a waiter waited for a release that had happened"


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.tests == Claim.loses_no_wakeup.name:
        yield from waited_too_long(Claim.loses_no_wakeup, MECHANISM, findings, findings.run.wait_ms)
