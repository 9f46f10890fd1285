"""Two threads of one process were inside at once: shown by what they destroyed.

Beliefs that overlap are a finding. Only a write that destroyed another write is a violation.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import losses_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    return losses_against(Claim.exclusive_in_process, findings)
