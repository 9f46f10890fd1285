"""A request entered a lock that a failed request had left behind, before that lock can have ended."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation
from lab.text import counted


def violations(findings: Findings) -> Iterator[Violation]:
    if number := findings.measures["reentered"]:
        what = f"{counted(number, 'request')} entered a lock that a failed request had left behind"
        mechanism = "taken for the owner of a lock that another request had left"
        yield Violation(Claim.reenters_only_its_own.name, mechanism, what, [*findings.reentered])
