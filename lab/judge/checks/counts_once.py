"""A request did its work more than once."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation
from lab.text import counted

MECHANISM = "the work was done again"


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.duplicated:
        what = f"{counted(findings.duplicated, 'write')} more than one for each request"
        yield Violation(Claim.counts_once.name, MECHANISM, what, list(findings.repeated))
