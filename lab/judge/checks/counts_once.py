"""One request that did the work more than once."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from app.lock import Claim
from lab.judge.check import Violation
from lab.judge.findings import Findings
from lab.text import counted

MECHANISM = "the work was done again"


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.duplicated:
        what = f"{counted(findings.duplicated, 'write')} beyond one for each request"
        yield Violation(Claim.counts_once.name, MECHANISM, what, [msgspec.to_builtins(one) for one in findings.repeated])
