"""Many requests were overtaken by requests of their own replica that had asked later."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import overtaken_often
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    return overtaken_often(Claim.fair_in_process, "no queue in the replica: later requests overtake", findings)
