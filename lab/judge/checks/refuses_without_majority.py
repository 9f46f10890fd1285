"""A request got the lock while three of its five stores were stopped."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation

SETTLED_MS = 200  # a request that asked before the fault may still get its answer


def violations(findings: Findings) -> Iterator[Violation]:
    if findings.run.tests != Claim.refuses_without_majority.name:
        return
    for fault in findings.faults:
        stopped_ms = (fault.record.recovering_ns - fault.record.began_ns) / 1e6
        if fault.idle_ms is not None and SETTLED_MS < fault.idle_ms < stopped_ms:
            what = f"a request got the lock {fault.idle_ms:.0f} ms after three of five servers had stopped"
            yield Violation(Claim.refuses_without_majority.name, "granted by a minority", what, [fault])
