"""The answer to an acquire came after the TTL, and its request went in all the same: shown by what was destroyed."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    return harm_against(Claim.survives_a_slow_acquire, findings)
