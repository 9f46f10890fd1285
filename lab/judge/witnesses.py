"""Compare the two accounts: the answers that the load has on record, and the writes in the replicas' journals."""

from __future__ import annotations

from collections.abc import Collection

from app.lock import Claim
from lab.evidence.history import Outcome, Request
from lab.judge.examples import EXAMPLES, RefusedAndWritten, Unwritten
from lab.judge.findings import Findings
from lab.judge.grant import Name
from lab.judge.written_values import WrittenValues
from lab.text import counted


class Witnesses:
    """Report each request of the load's record. The results are in the findings.

    replicas: those that kept a journal. still_open: the grants without a release.
    """

    def __init__(
        self, findings: Findings, written: WrittenValues, replicas: Collection[str], still_open: Collection[Name] = ()
    ) -> None:
        self.findings = findings
        self.replicas = replicas  # that kept a journal
        self.written = written
        self.open = still_open
        self.matched = 0  # requests on record that wrote

    def request(self, request: Request) -> None:
        """Take one request."""
        findings = self.findings
        last = self.written.last(request.replica, request.id)
        wrote = last is not None or request.id in self.written
        self.matched += wrote
        findings.outcomes[request.outcome] += 1
        if not request.status and findings.run.tests == Claim.answers_a_try_at_once.name and not findings.run.has_faults:
            findings.never_answered += 1
        if request.outcome is Outcome.ACKNOWLEDGED:
            findings.acknowledged_by_replica[request.replica] += 1
            if wrote:
                self._compare(request, last)
            else:
                self._unwritten(request)
        elif request.outcome is Outcome.SOLD_OUT and not self.written.was_sold_out(request.replica, request.id):
            self._mismatch(
                request.id, f"{request.replica} answered {request.id} that nothing is left, and journaled no such thing"
            )
        elif request.outcome is Outcome.FAILED and wrote:
            findings.refused_and_written += 1
            if len(findings.first_refused_and_written) < EXAMPLES:
                findings.first_refused_and_written.append(RefusedAndWritten(request.id, request.status))

    def close(self) -> None:
        """Count the requests that wrote and are not on record: all requests have been read."""
        if (strangers := len(self.written) - self.matched) > 0:
            self._mismatch("", f"{counted(strangers, 'request')} wrote that the load never sent, or whose end it never saw")

    def _unwritten(self, request: Request) -> None:
        """Take note of a request that was acknowledged without a write. A replica without a journal may have written."""
        findings = self.findings
        if request.replica not in self.replicas:
            name = request.replica
            self._mismatch(request.id, f"{request.id} was acknowledged by {name}, and there is no journal of {name}")
            return
        if (request.replica, request.id, 1) in self.open:
            self._mismatch(request.id, f"{request.id} was acknowledged, but no replica wrote for it")
            return
        findings.unwritten += 1
        if len(findings.first_unwritten) < EXAMPLES:
            findings.first_unwritten.append(Unwritten(request.id, request.replica))

    def _compare(self, request: Request, last: int | None) -> None:
        """Compare the answer with the journal of the replica that gave it. Work that was done again wrote several values.

        Any of them may be in the answer: a stage decides which result it returns. last: the value that this replica wrote last.
        """
        replica = request.replica
        if last is None:
            others = " and ".join(self.written.writers(request.id))
            self._mismatch(request.id, f"{replica} acknowledged {request.id}, but its write is in the journal of {others}")
            return
        if request.value != last and request.value not in (values := self.written.values(replica, request.id)):
            known = " and ".join(map(str, sorted(values)))
            self._mismatch(request.id, f"{request.id} was acknowledged with {request.value}, but {replica} wrote {known}")

    def _mismatch(self, request: str, what: str) -> None:
        self.findings.doubtful.add(request)
        if len(self.findings.mismatches) < EXAMPLES:
            self.findings.mismatches.append(what)
