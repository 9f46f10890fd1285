"""A holder was stopped after its last check at the lock, and wrote all the same."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    return harm_against(Claim.survives_a_late_freeze, findings)
