"""Collect the stalls of a run."""

from __future__ import annotations

from app.journal import STALL_NS, Stalled
from lab.evidence.fault_record import Effect
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
        self.findings.lateness.add(replica, event)
        if until_ns - since_ns <= STALL_NS:
            return
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
        idle = 2 * busy_ns < event.until_ns - event.since_ns
        own = idle and event.stopped is False
        waited = 2 * event.ran_ns < event.until_ns - event.since_ns  # for a processor, or because it was stopped
        stall = Stall(replica, since_ns, until_ns, stopped=waited and not own, own=own)
        self.findings.stalls.append(stall)
        if own:
            return
        measures = self.findings.measures
        measures["stalled_ms"] = max(measures["stalled_ms"], stall.lasted_ns // 1_000_000)

    def close(self) -> None:
        """Where all replicas stood still at once, no stall was of their own making: the machine was frozen, or a container."""
        stalls = self.findings.stalls
        replicas = {*self.findings.started_ns, *(stall.replica for stall in stalls)}
        for number, stall in enumerate(stalls):
            together = {other.replica for other in stalls if other.since_ns < stall.until_ns and stall.since_ns < other.until_ns}
            if stall.own and len(replicas) > 1 and together == replicas:
                stalls[number] = stall._replace(own=False, stopped=True)
