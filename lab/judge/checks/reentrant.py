"""A request asked for its own lock again and waited for itself, or the two releases freed the lock too early or not at all."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import asdict

from app.lock import Claim
from lab.judge.check import harm_against
from lab.judge.examples import FreedEarly
from lab.judge.findings import Findings
from lab.judge.violation import Evidence, Violation
from lab.text import counted

STAYS_MS = 250  # at least: a waiter may sleep that long between two looks
INNER_RELEASE = "the inner release freed it"


def violations(findings: Findings) -> Iterator[Violation]:
    yield from harm_against(Claim.reentrant, findings)
    if findings.run.nested == "same":
        limit_ms = findings.run.ttl_ms / 2
        waited = list(_waited_for_itself(findings, limit_ms))
        yield from waited or _stayed(
            findings, max(limit_ms, STAYS_MS)
        )  # a request that waits for itself holds the outer lock meanwhile
        if findings.freed_first is not None and INNER_RELEASE not in findings.overlaps:
            what = f"{counted(findings.freed_early, 'request')} took the lock twice and found nothing at the outer release"
            evidence = FreedEarly(**asdict(findings.freed_first.facts()))
            yield Violation(Claim.reentrant.name, INNER_RELEASE, what, [evidence])


def _waited_for_itself(findings: Findings, limit_ms: float) -> Iterator[Violation]:
    """Yield a violation if requests that held the lock waited long for the same lock, or gave up."""
    late = sum(wait_ns > limit_ms * 1e6 for wait_ns in findings.own_waits_ns)
    gave_up = [wait for wait in findings.in_vain if wait.holding == wait.wanted]
    seen = [f"{counted(findings.gave_up, 'request')} gave up"] if gave_up else []
    seen += [f"{counted(late, 'request')} waited longer than {limit_ms:.0f} ms"] if late else []
    if seen:
        waits: list[Evidence] = [*gave_up, *([findings.longest_own] if findings.longest_own and late else [])]
        yield Violation(Claim.reentrant.name, "waited for itself", ", ".join(seen), waits)


def _stayed(findings: Findings, limit_ms: float) -> Iterator[Violation]:
    """Yield a violation if requests found the lock taken long after its last holder had released it as often as it took it."""
    one = findings.stayed
    if one is not None and one.ms > limit_ms:
        what = f"a request waited for {one.ms:.0f} ms after the outer release, and no request held the lock"
        yield Violation(Claim.reentrant.name, "the lock stayed after its last release", what, [one])
