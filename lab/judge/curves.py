"""Collect curves: what was acknowledged when, what the counter held when, and how many requests were where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from lab.evidence.fault_record import Effect
from lab.evidence.history import Outcome, Request
from lab.judge.concurrency import BIN_NS
from lab.judge.findings import Findings
from lab.judge.grant import Grant


class Curves:
    """Report each release, and then each request of the load's record. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.ends: Counter[tuple[Outcome, int]] = Counter()  # requests by their outcome and the bin in which they ended
        self.first_ns = self.last_ns = 0
        self.inside, self.on_the_way = findings.concurrency.inside, findings.concurrency.on_the_way

    def released(self, grant: Grant) -> None:
        self.inside.stay(grant.got_ns, grant.releasing_ns)

    def request(self, request: Request) -> None:
        self.ends[request.outcome, request.end_ns // BIN_NS] += 1
        if not self.first_ns or request.start_ns < self.first_ns:
            self.first_ns = request.start_ns
        self.last_ns = max(self.last_ns, request.end_ns)
        self.on_the_way.stay(request.start_ns, request.end_ns)

    def close(self, still_open: Iterable[Grant], values_by_bin: Mapping[int, int]) -> None:
        """Put all curves on one axis of time that starts with the first request: everything has been read."""
        findings = self.findings
        findings.origin_ns, findings.end_ns = self.first_ns, self.last_ns
        for grant in still_open:
            findings.concurrency.inside.stay(grant.got_ns, max(grant.got_ns, self._end_of(grant)))
        origin = self.first_ns // BIN_NS
        for (outcome, at), number in self.ends.items():
            if outcome is Outcome.ACKNOWLEDGED:
                findings.acknowledged_by_bin[at - origin] += number
            elif outcome is Outcome.UNKNOWN:
                findings.unknown_by_bin[at - origin] += number
        findings.value_by_bin = {at - origin: value for at, value in sorted(values_by_bin.items())}

    def _end_of(self, grant: Grant) -> int:
        """Return when a holder without a release ended: when its process was killed, or else at the run's end."""
        killed = (fault.record for fault in self.findings.faults if fault.record.effect is Effect.PROCESS_DIES)
        deaths = (record.at_ns for record in killed if record.replica == grant.replica)
        return min((at_ns for at_ns in deaths if at_ns >= grant.got_ns), default=self.last_ns)
