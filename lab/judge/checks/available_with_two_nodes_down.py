"""No request could get the lock while two of its five stores were silent."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import stuck_after
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.tests == Claim.available_with_two_nodes_down.name:
        yield from stuck_after(findings.faults, Claim.available_with_two_nodes_down, "too few were left", findings)
