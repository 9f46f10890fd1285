"""Two threads of one process inside at once: seen by what they destroyed.

Beliefs that overlap are reported as a finding; a violation is only where a write went over another's.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import losses_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    return losses_against(Claim.exclusive_in_process, findings)
