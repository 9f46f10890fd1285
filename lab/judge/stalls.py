"""Collect the stalls of a run."""

from __future__ import annotations

from app.journal import Stalled
from lab.evidence.fault_effect import Effect
from lab.judge.findings import Findings
from lab.judge.stall import Stall

# A process that goes on after a fault beats within this time. Until then, the gap belongs to the fault.
GOES_ON_WITHIN_NS = 200_000_000


class Stalls:
    """Report each gap in a replica's heartbeat. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings

    def stalled(self, replica: str, event: Stalled) -> None:
        since_ns, until_ns = event.since_ns, event.until_ns
        for outcome in self.findings.faults:
            fault = outcome.record
            over_ns = fault.recovered_ns or until_ns
            if fault.effect is not Effect.PROCESS_STOPS or fault.replica != replica:
                continue
            if over_ns < since_ns or until_ns < fault.at_ns:
                continue
            if until_ns <= over_ns + GOES_ON_WITHIN_NS:
                return
            since_ns = max(since_ns, over_ns)  # the fault explains the gap until its recovery, and no longer
        busy_ns = event.ran_ns + (event.queued_ns or 0)
        stall = Stall(replica, since_ns, until_ns, stopped=2 * busy_ns < event.until_ns - event.since_ns)
        self.findings.stalls.append(stall)
        measures = self.findings.measures
        measures["stalled_ms"] = max(measures["stalled_ms"], stall.lasted_ns // 1_000_000)
