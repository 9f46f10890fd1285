"""Compare the two accounts: the answers that the load has on record, and the writes in the replicas' journals."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from app.lock import Claim
from lab.evidence.damage import Damage, Flaw, Flaws
from lab.evidence.history import REQUESTS, Outcome, Request, journal_of
from lab.judge.examples import EXAMPLES, RefusedAndWritten, Unwritten
from lab.judge.findings import Findings
from lab.judge.grant import Name
from lab.judge.written_values import WrittenValues
from lab.text import counted

TICKET = "r"  # the load's own requests are r0, r1, …
MOST_TICKETS = 10**8


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
        self.flaws = Flaws()
        self.matched = 0  # requests on record that wrote
        self._tickets = bytearray()  # which of the load's own requests are on record: 1 at the number of each
        self._others: set[str] = set()  # all others

    def request(self, request: Request) -> bool:
        """Take one request. Return whether it is evidence."""
        if (flaw := self._flaw(request)) is not None:
            self.flaws.add(REQUESTS, flaw, request.id)
            return False
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
        return True

    def close(self) -> None:
        """Count the requests that wrote and are not on record: all requests have been read."""
        if strangers := len(self.written) - self.matched:
            self._mismatch("", f"{counted(strangers, 'request')} wrote that the load never sent, or whose end it never saw")

    def damages(self) -> Iterator[Damage]:
        """Yield what cannot be true by itself."""
        return self.flaws.damages()

    def _flaw(self, request: Request) -> Flaw | None:
        """Return what is wrong with a line of the record; None if nothing is."""
        if self._again(request.id):
            return Flaw.DOUBLED
        in_order = request.intended_ns <= request.start_ns <= request.end_ns
        answered = request.outcome not in (Outcome.ACKNOWLEDGED, Outcome.SOLD_OUT) or request.status == 200
        return None if in_order and answered else Flaw.IMPOSSIBLE

    def _again(self, name: str) -> bool:
        """Return whether the request is on record already, and put it there. The load's own requests take a byte each."""
        try:
            number = int(name[len(TICKET) :])
        except ValueError:
            number = -1
        if not 0 <= number < MOST_TICKETS or name != f"{TICKET}{number}":
            seen = name in self._others
            self._others.add(name)
            return seen
        tickets = self._tickets
        if number >= len(tickets):
            tickets.extend(bytes(number + 1))  # twice as many as needed: the requests that follow have higher numbers
        seen = tickets[number] == 1
        tickets[number] = 1
        return seen

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
        if request.value is None:
            self.flaws.add(REQUESTS, Flaw.INCOMPLETE, request.id)
        elif request.value != last and request.value not in (values := self.written.values(replica, request.id)):
            known = " and ".join(map(str, sorted(values)))
            self._mismatch(request.id, f"{request.id} was acknowledged with {request.value}, but {replica} wrote {known}")
        if self.open and any((replica, request.id, turn) in self.open for turn in self.written.turns(replica, request.id)):
            self.flaws.add(journal_of(replica), Flaw.UNRELEASED, request.id)

    def _mismatch(self, request: str, what: str) -> None:
        self.findings.doubtful.add(request)
        if len(self.findings.mismatches) < EXAMPLES:
            self.findings.mismatches.append(what)
