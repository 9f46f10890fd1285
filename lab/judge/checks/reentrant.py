"""A request asked for its own lock again and waited for itself, or lost the lock when it left the inner section."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import asdict

from app.lock import Claim
from lab.judge.check import harm_against, waited_too_long
from lab.judge.examples import FreedEarly
from lab.judge.findings import Findings
from lab.judge.violation import Violation
from lab.text import counted


def violations(findings: Findings) -> Iterator[Violation]:
    yield from harm_against(Claim.reentrant, findings)
    if findings.run.nested == "same":
        yield from waited_too_long(Claim.reentrant, "waited for itself", findings, limit_ms=findings.run.ttl_ms / 2)
        if findings.freed_first is not None:
            what = f"{counted(findings.freed_early, 'request')} took the lock twice and found nothing at the outer release"
            evidence = FreedEarly(**asdict(findings.freed_first.facts()))
            yield Violation(Claim.reentrant.name, "the inner release freed it", what, [evidence])
