"""Those who did not want to wait, and were kept waiting."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation

LIMIT_MS = 200  # a try takes a few round trips, whoever waits in the scenario's queue far longer


def violations(findings: Findings) -> Iterator[Violation]:
    """Half of them: one alone may be held up by a busy machine."""
    waits_ns = sorted(findings.in_vain_ns)
    if findings.run.tests == Claim.answers_a_try_at_once.name and waits_ns and waits_ns[len(waits_ns) // 2] > LIMIT_MS * 1e6:
        what = f"half of those who did not want to wait gave up after more than {waits_ns[len(waits_ns) // 2] / 1e6:.0f} ms"
        yield Violation(Claim.answers_a_try_at_once.name, "waited before it gave up", what, list(findings.in_vain))
