"""A lock whose lease time the request had set ended before the work did: shown by what was destroyed because of it."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.has_explicit_lease:
        yield from harm_against(Claim.held_past_an_explicit_lease, findings, like=Claim.held_to_the_end)
