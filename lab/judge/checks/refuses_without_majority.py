"""A request got the lock while three of its five stores were stopped."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation
from lab.text import counted


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.tests != Claim.refuses_without_majority.name:
        return
    for fault in findings.faults:
        if fault.granted_meanwhile:
            number = counted(fault.granted_meanwhile, "request")
            what = f"{number} got the lock while three of five servers were stopped"
            yield Violation(Claim.refuses_without_majority.name, "granted by a minority", what, [fault])
