"""Requests that did not want to wait were kept waiting."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation

LIMIT_MS = 200  # a try takes a few round trips; waiting in the scenario's queue takes far longer


def violations(findings: Findings) -> Iterator[Violation]:
    """Judge by the median: a busy machine can hold up a single request."""
    waits_ns = sorted(findings.in_vain_ns)
    median_ms = waits_ns[len(waits_ns) // 2] / 1e6 if waits_ns else 0
    if findings.run.tests == Claim.answers_a_try_at_once.name and median_ms > LIMIT_MS:
        what = f"half of the requests that did not want to wait gave up only after more than {median_ms:.0f} ms"
        yield Violation(Claim.answers_a_try_at_once.name, "waited before it gave up", what, list(findings.in_vain))
