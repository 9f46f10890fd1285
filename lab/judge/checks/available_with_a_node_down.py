"""No request could get the lock while one of its stores was stopped."""

from __future__ import annotations

from collections.abc import Iterator

from app.lock import Claim
from lab.judge.findings import Findings
from lab.judge.violation import Violation


def violations(findings: Findings) -> Iterator[Violation]:
    """Judge by the requests that asked while the server was stopped: an election may take its time."""
    if findings.run.tests != Claim.available_with_a_node_down.name:
        return
    for fault in findings.faults:
        if not fault.granted_meanwhile:
            what = f"no request that asked after the server had died ({fault.record.failpoint}) got the lock before it was back"
            mechanism = "one of its stores was gone" if findings.run.has_votes else "its only store was gone"
            yield Violation(Claim.available_with_a_node_down.name, mechanism, what, [fault])
