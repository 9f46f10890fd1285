"""Compare the two counts: the requests that the load has on record, and the writes in the replicas' journals."""

from __future__ import annotations

from collections.abc import Mapping

from lab.evidence.history import Outcome, Request
from lab.judge.examples import EXAMPLES
from lab.judge.findings import Findings


class Witnesses:
    """Report each request of the load's record. The results are in the findings.

    times: how often each request wrote, by the journals.
    """

    def __init__(self, findings: Findings, times: Mapping[str, int]) -> None:
        self.findings = findings
        self.times = times
        self.matched = 0  # requests on record that wrote

    def request(self, request: Request) -> None:
        findings, times = self.findings, self.times.get(request.id, 0)
        self.matched += times > 0
        findings.outcomes[request.outcome] += 1
        if request.outcome is Outcome.ACKNOWLEDGED:
            findings.acknowledged_by_replica[request.replica] += 1
            if not times:
                self._mismatch(f"{request.id} was acknowledged, but no replica wrote for it")
        elif request.outcome is Outcome.FAILED and times:
            self._mismatch(f"{request.id} was refused with {request.status}, but a replica wrote for it")

    def close(self) -> None:
        """Count the requests that wrote and are not on record: all requests have been read."""
        if strangers := len(self.times) - self.matched:
            self._mismatch(f"{strangers} requests wrote that the load never sent, or whose end it never saw")

    def _mismatch(self, what: str) -> None:
        if len(self.findings.mismatches) < EXAMPLES:
            self.findings.mismatches.append(what)
