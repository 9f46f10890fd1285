"""A request did its work more than once, or its answer says the contrary of what was done."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation
from lab.text import counted

MECHANISM = "the work was done again"
NEVER_DONE = "acknowledged, but the work was never done"
DONE_ALL_THE_SAME = "was refused, and yet a replica wrote"


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.duplicated:
        what = f"{counted(findings.duplicated, 'write')} more than one for each request"
        yield Violation(Claim.counts_once.name, MECHANISM, what, list(findings.repeated))
    if findings.is_never_written:
        what = f"{counted(findings.unwritten, 'request')} acknowledged without a write"
        yield Violation(Claim.counts_once.name, NEVER_DONE, what, list(findings.first_unwritten))
    if findings.is_never_refused:
        what = f"{counted(findings.refused_and_written, 'request')} refused, and done all the same"
        yield Violation(Claim.counts_once.name, DONE_ALL_THE_SAME, what, list(findings.first_refused_and_written))
