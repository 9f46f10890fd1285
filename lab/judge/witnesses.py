"""Compare the two accounts: the answers that the load has on record, and the writes in the replicas' journals."""

from __future__ import annotations

from lab.evidence.history import Outcome, Request
from lab.judge.examples import EXAMPLES
from lab.judge.findings import Findings
from lab.judge.written import Written


class Witnesses:
    """Report each request of the load's record. The results are in the findings."""

    def __init__(self, findings: Findings, written: Written) -> None:
        self.findings = findings
        self.written = written
        self.matched = 0  # requests on record that wrote

    def request(self, request: Request) -> None:
        findings, wrote = self.findings, request.id in self.written
        self.matched += wrote
        findings.outcomes[request.outcome] += 1
        if request.outcome is Outcome.ACKNOWLEDGED:
            findings.acknowledged_by_replica[request.replica] += 1
            if not wrote:
                self._mismatch(f"{request.id} was acknowledged, but no replica wrote for it")
            elif request.value is not None:
                self._compare(request, request.value)
        elif request.outcome is Outcome.FAILED and wrote:
            self._mismatch(f"{request.id} was refused with {request.status}, but a replica wrote for it")

    def close(self) -> None:
        """Count the requests that wrote and are not on record: all requests have been read."""
        if strangers := len(self.written) - self.matched:
            self._mismatch(f"{strangers} requests wrote that the load never sent, or whose end it never saw")

    def _compare(self, request: Request, value: int) -> None:
        """Compare the answer with the journal of the replica that gave it. Work that was done again wrote several values.

        Any of them may be in the answer: a stage decides which result it returns.
        """
        values = self.written.values(request.replica, request.id)
        if not values:
            others = " and ".join(self.written.writers(request.id))
            self._mismatch(f"{request.replica} acknowledged {request.id}, but its write is in the journal of {others}")
        elif value not in values:
            known = " and ".join(map(str, sorted(values)))
            self._mismatch(f"{request.id} was acknowledged with {value}, but {request.replica} wrote {known}")

    def _mismatch(self, what: str) -> None:
        if len(self.findings.mismatches) < EXAMPLES:
            self.findings.mismatches.append(what)
