"""Collect both accounts of the writes, by the journals and by the load's record, and compare them.

From the journals: the sum of the writes, the writes for each request, and work that was done only by half.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from msgspec.structs import asdict

from app.journal import Refusal, WroteAgain
from app.lock import Claim
from lab.evidence.history import Outcome, Request
from lab.judge.fact import EXAMPLES, Code, Fact, HalfDone, RefusedAndWritten, Repeated, Unwritten, Wait
from lab.judge.findings import Findings
from lab.judge.grant import Grant, Name
from lab.judge.losses import Ledgers


class WrittenValues:
    """Keep the values that each replica wrote for each request. Nearly all requests write once: only their value is kept."""

    def __init__(self) -> None:
        self._last: defaultdict[str, dict[str, int]] = defaultdict(dict)  # by replica and request: the value of the last write
        self._earlier: dict[tuple[str, str], set[int]] = {}  # by replica and request: the values before the last
        self._times: Counter[str] = Counter()  # by request that wrote more than once: how often it wrote
        self._sold_out: set[tuple[str, str]] = set()  # replica and request, if the request found nothing left to sell

    def add(self, replica: str, request: str, value: int) -> bool:
        """Add one confirmed write. Return whether the request has written before, in any replica."""
        mine = self._last[replica]
        again = request in self
        if again:
            self._times[request] = max(1, self._times[request]) + 1
            if request in mine:
                self._earlier.setdefault((replica, request), set()).add(mine[request])
        mine[request] = value
        return again

    def add_sold_out(self, replica: str, request: str) -> None:
        """Add a request that found nothing left to sell."""
        self._sold_out.add((replica, request))

    def was_sold_out(self, replica: str, request: str) -> bool:
        """Return whether the request found nothing left to sell in this replica."""
        return (replica, request) in self._sold_out

    def __contains__(self, request: str) -> bool:
        """Return whether any replica wrote for the request."""
        for mine in self._last.values():  # noqa: SIM110 - a generator takes twice as long, and this runs for every request
            if request in mine:
                return True
        return False

    def __len__(self) -> int:
        """Return how many requests wrote."""
        counted_again = sum(len(self.writers(request)) - 1 for request in self._times)
        return sum(map(len, self._last.values())) - counted_again

    def last_value(self, replica: str, request: str) -> int | None:
        """Return the value that this replica wrote last for the request; None if it wrote none."""
        return self._last[replica].get(request)

    def values(self, replica: str, request: str) -> set[int]:
        """Return all values that this replica wrote for the request."""
        mine = self._last[replica]
        return {mine[request]} | self._earlier.get((replica, request), set()) if request in mine else set()

    def writers(self, request: str) -> list[str]:
        """Return the replicas that wrote for the request."""
        return [replica for replica, mine in self._last.items() if request in mine]

    def most_often(self, number: int) -> list[tuple[str, int]]:
        """Return the ``number`` requests that wrote most often, and how often. Requests that wrote once are left out."""
        return self._times.most_common(number)


class Writes:
    """Collect each event of a write, and each release. The results go into the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.ledgers = Ledgers(findings.run.start)
        self.written = WrittenValues()  # the values that each request wrote, by replica
        self.unconfirmed: list[Grant] = []  # grants that were released with an error instead of the answer to their write

    def wrote(self, grant: Grant) -> None:
        if grant.wrote is None or grant.overwrote is None:
            return
        self.ledgers.write(grant.part, grant.wrote, grant.overwrote)
        if self.written.add(grant.replica, grant.request, grant.wrote):
            self.findings.duplicated += 1

    def wrote_again(self, grant: Grant, event: WroteAgain) -> None:
        if event.overwrote >= event.value:
            self._half_done(grant, f"its receipt {event.value} was written over {event.overwrote}")

    def refused(self, grant: Grant | None, event: Refusal) -> None:
        self.findings.measures["refused"] += 1
        if grant is not None and grant.wrote is not None:
            self._half_done(grant, event.why)

    def released(self, grant: Grant) -> None:
        if grant.wrote is None and grant.unconfirmed:
            self.unconfirmed.append(grant)
        elif grant.sold_out:
            self.written.add_sold_out(grant.replica, grant.request)

    def close(self, still_open: Iterable[Grant]) -> None:
        """Compare the writes with the final value of the counter: all journals have been read."""
        if self.findings.duplicated:
            self.findings.repeated = [Repeated(request, times) for request, times in self.written.most_often(EXAMPLES)]
        grants = (*self.unconfirmed, *still_open)
        intended = [grant.value for grant in grants if grant.unconfirmed]
        self.findings.account = self.ledgers.close(self.findings.run.final, intended)

    def _half_done(self, grant: Grant, how: str) -> None:
        self.findings.measures["half_done"] += 1
        if len(self.findings.half_done) < EXAMPLES:
            self.findings.half_done.append(HalfDone(**asdict(grant.facts()), how=how))


class Witnesses:
    """Compare each request of the load's record with the journals. The results go into the findings.

    replicas: the replicas that kept a journal. still_open: the grants without a release.
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
        last = self.written.last_value(request.replica, request.id)
        wrote = last is not None or request.id in self.written
        self.matched += wrote
        findings.outcomes[request.outcome] += 1
        findings.unclear_answers += request.outcome is Outcome.UNKNOWN and request.status > 0
        if not request.status and findings.run.tests == Claim.answers_a_try_at_once.name and not findings.run.has_faults:
            findings.unanswered_ns.append(request.end_ns - request.start_ns)
        if not request.status:
            for one in findings.onlookers:
                one.note(Wait(request.id, request.replica, request.start_ns, request.end_ns, got=False))
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
        """Count the requests that wrote and are not in the load's record: all requests have been read."""
        if (strangers := len(self.written) - self.matched) > 0:
            self._mismatch(Code.NEVER_SENT, None, strangers)

    def _unwritten(self, request: Request) -> None:
        """Note a request that was acknowledged without a write. A replica without a journal may have written."""
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
        """Compare the answer with the journal of the replica that gave it. last: the value that this replica wrote last.

        If the work was repeated, the replica wrote several values. The answer may have any of them, as the stage decides.
        """
        replica = request.replica
        if last is None:
            self._mismatch(Code.WRITE_OF_OTHERS, request, several=tuple(self.written.writers(request.id)))
            return
        if request.value != last and request.value not in (values := self.written.values(replica, request.id)):
            code, answered = (Code.NO_ANSWER, 0) if request.value is None else (Code.OTHER_ANSWER, request.value)
            self._mismatch(code, request, answered, values=tuple(sorted(values)))

    def _mismatch(self, code: Code, request: Request | None, n: int = 0, **more: Any) -> None:
        """Note a difference between the two accounts about a request; None for requests that are not in the load's record."""
        findings, name, replica = self.findings, request.id if request else "", request.replica if request else ""
        if len(findings.mismatches) < EXAMPLES:
            findings.mismatches.append(Fact(code, n, request=name, replica=replica, **more))
