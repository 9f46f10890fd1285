"""The clocks of a minority of the stores jumped, and the lock ended early all the same."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.tests == Claim.survives_clock_jump_of_two.name:
        for violation in harm_against(Claim.survives_clock_jump, findings):
            violation.claim = Claim.survives_clock_jump_of_two.name
            yield violation
