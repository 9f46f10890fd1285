"""The clocks of a minority of the stores jumped, and the lock ended early all the same.

A holder has fewer votes where another request asked at the same time, or a server did not answer in time. Such a holder was
promised nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    has_votes = findings.measures["votes"] >= findings.run.votes_needed
    if findings.run.tests == Claim.survives_clock_jump_of_two.name and has_votes:
        for violation in harm_against(Claim.survives_clock_jump, findings):
            violation.claim = Claim.survives_clock_jump_of_two.name
            yield violation
