"""A lock ended before the work did: shown by what was destroyed because of it."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    if not findings.run.has_explicit_lease:  # such a lease has a claim of its own
        yield from harm_against(Claim.held_to_the_end, findings)
