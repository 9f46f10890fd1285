"""Work of two writes was done only by half, or its second write replaced the write of a newer holder."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation
from lab.text import counted


def violations(findings: Findings) -> Iterator[Violation]:
    number = findings.measures["half_done"]
    if number:
        what = f"{counted(number, 'request')} did the first of two writes, and the second too late or not at all"
        yield Violation(Claim.all_or_nothing.name, "stopped between two writes", what, list(findings.half_done))
