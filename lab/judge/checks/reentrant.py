"""A request that asked for its own lock again, and waited for itself, or had lost it when it left the inner one."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from app.lock import Claim
from lab.judge.check import Violation, waited_too_long
from lab.judge.findings import Findings
from lab.text import counted


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.nested == "same":
        yield from waited_too_long(Claim.reentrant, "waited for itself", findings, limit_ms=findings.ttl_ms / 2)
        if findings.freed_first is not None:
            what = f"{counted(findings.freed_early, 'request')} came in twice, left once, and had nothing left to let go of"
            evidence = [msgspec.to_builtins(findings.freed_first.facts())]
            yield Violation(Claim.reentrant.name, "the inner release freed it", what, evidence)
