"""Read the load's record: compare its answers with the writes in the replicas' journals, and collect the curves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from app.lock import Claim
from lab.evidence.history import Outcome, Request
from lab.judge.fact import EXAMPLES, Code, Fact, RefusedAndWritten, Unwritten, Wait
from lab.judge.findings import BIN_NS, Findings
from lab.judge.grant import Name
from lab.judge.writes import WrittenValues


class Witnesses:
    """Report each request of the load's record. The results are in the findings.

    replicas: those that kept a journal. still_open: the grants without a release.
    """

    def __init__(
        self, findings: Findings, written: WrittenValues, replicas: Collection[str], still_open: Collection[Name] = ()
    ) -> None:
        self.findings = findings
        self.replicas = replicas
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
        if not request.status:
            for one in findings.onlookers:
                one.look(Wait(request.id, request.replica, request.start_ns, request.end_ns, got=False))
        if request.outcome is Outcome.ACKNOWLEDGED:
            findings.acknowledged_by_replica[request.replica] += 1
            if wrote:
                self._compare(request, last)
            else:
                self._unwritten(request)
        elif request.outcome is Outcome.SOLD_OUT and not self.written.was_sold_out(request.replica, request.id):
            self._mismatch(Code.SOLD_OUT_NOT_JOURNALED, request)
        elif request.outcome is Outcome.FAILED and wrote:
            findings.refused_and_written += 1
            if len(findings.first_refused_and_written) < EXAMPLES:
                findings.first_refused_and_written.append(RefusedAndWritten(request.id, request.status))

    def close(self) -> None:
        """Count the requests that wrote and are not on record: all requests have been read."""
        if (strangers := len(self.written) - self.matched) > 0:
            self._mismatch(Code.NEVER_SENT, None, strangers)

    def _unwritten(self, request: Request) -> None:
        """Take note of a request that was acknowledged without a write. A replica without a journal may have written."""
        findings = self.findings
        if request.replica not in self.replicas:
            self._mismatch(Code.NO_JOURNAL_OF, request)
            return
        if (request.replica, request.id, 1) in self.open:
            self._mismatch(Code.NO_WRITE_OF, request)
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
            self._mismatch(Code.WRITE_OF_OTHERS, request, several=tuple(self.written.writers(request.id)))
            return
        if request.value != last and request.value not in (values := self.written.values(replica, request.id)):
            code, answered = (Code.NO_ANSWER, 0) if request.value is None else (Code.OTHER_ANSWER, request.value)
            self._mismatch(code, request, answered, values=tuple(sorted(values)))

    def _mismatch(self, code: Code, request: Request | None, n: int = 0, **more: Any) -> None:
        """Take note of what the two accounts say otherwise of a request; None of requests that the load has not on record."""
        findings, name, replica = self.findings, request.id if request else "", request.replica if request else ""
        findings.doubtful.add(name)
        if len(findings.mismatches) < EXAMPLES:
            findings.mismatches.append(Fact(code, n, request=name, replica=replica, **more))


class Curves:
    """Report each request: what was acknowledged when, and what the counter held when. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.ends: Counter[tuple[Outcome, int]] = Counter()  # requests by their outcome and the bin in which they ended
        self.first_ns = self.last_ns = 0

    def request(self, request: Request) -> None:
        self.ends[request.outcome, request.end_ns // BIN_NS] += 1
        if not self.first_ns or request.start_ns < self.first_ns:
            self.first_ns = request.start_ns
        self.last_ns = max(self.last_ns, request.end_ns)

    def close(self, values_by_bin: Mapping[int, int]) -> None:
        """Put all curves on one axis of time that starts with the first request: everything has been read."""
        findings = self.findings
        findings.origin_ns, findings.end_ns = self.first_ns, self.last_ns
        origin = self.first_ns // BIN_NS
        for (outcome, at), number in self.ends.items():
            if outcome is Outcome.ACKNOWLEDGED:
                findings.acknowledged_by_bin[at - origin] += number
            elif outcome is Outcome.UNKNOWN:
                findings.unknown_by_bin[at - origin] += number
        findings.value_by_bin = {at - origin: value for at, value in sorted(values_by_bin.items())}
