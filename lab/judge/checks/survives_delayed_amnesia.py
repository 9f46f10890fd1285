"""One of several servers came back without its data after the TTL, and still voted while its old vote was in use."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.tests == Claim.survives_delayed_amnesia.name:
        for violation in harm_against(Claim.survives_amnesia, findings):
            violation.claim = Claim.survives_delayed_amnesia.name
            yield violation
