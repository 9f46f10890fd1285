"""Two requests were inside at once, in any replicas: by what they destroyed, or by two grants that were in force at once."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    return harm_against(Claim.exclusive, findings)
