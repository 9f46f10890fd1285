"""A request that asked for its own lock again, and waited for itself."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.check import Violation, waited_too_long
from lab.findings import Findings


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.nested == "same":
        yield from waited_too_long(Claim.reentrant, "waited for itself", findings, limit_ms=findings.ttl_ms / 2)
