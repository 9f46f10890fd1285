"""Work of two writes that was done by half, or whose second write went over that of a newer one."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    number = findings.measures["half_done"]
    if number:
        what = f"{number} {'request' if number == 1 else 'requests'} did the first of two writes and not, or too late, the second"
        yield Violation(Claim.all_or_nothing.name, "stopped between two writes", what, list(findings.half_done))
