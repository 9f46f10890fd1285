"""Holders of a lock, refused by the resource because their fences had begun again."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import Violation
from lab.judge.findings import Findings


def violations(findings: Findings) -> Iterator[Violation]:
    number = findings.measures["refused"]
    if number and findings.tests == Claim.fence_outlives_restart.name:
        what = f"{number} holders of the lock were refused"
        yield Violation(Claim.fence_outlives_restart.name, "the fence began again", what, [{"refused": number}])
