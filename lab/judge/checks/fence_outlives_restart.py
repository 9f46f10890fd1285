"""The resource refused holders of the lock, because the fences had begun again."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.examples import Refusals
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    number = findings.measures["refused"]
    if number and findings.run.tests == Claim.fence_outlives_restart.name:
        what = f"{number} holders of the lock were refused"
        yield Violation(Claim.fence_outlives_restart.name, "the fence started again from 1", what, [Refusals(number)])
