"""What a history says when its stamps come from the clocks of several hosts: only what needs no clock.

Stamps of two hosts cannot be compared, so who was inside when, who waited on whom and why something was lost is not asked.
What is left is counted in the resource's own order: each value that was written is overwritten once, by a write that had
read it or (a culprit) had not. Lengths of time within one process stand, and so do the two witnesses' lists of requests.
"""

from __future__ import annotations

from itertools import chain

import msgspec

from app.journal import GaveUp, Got, Refusal, Released, Renewed, Writing, Wrote
from lab.evidence.history import ACKNOWLEDGED, FAILED, History
from lab.judge.attribution import EXAMPLES, Loss, Losses, Tell
from lab.judge.findings import Circumstances, Findings
from lab.judge.grant import Increment
from lab.judge.ledger import Books
from lab.judge.mechanisms import UNREAD
from lab.judge.waits import Repeated

CLAIMS = ("exclusive", "counts_once")  # those that can be judged by this


def examine(history: History, about: Circumstances, tell: Tell | None = None) -> Findings:
    """Read the history twice, replica by replica. tell: as in ``lab/judge/analysis.py``. Raises Damaged."""
    pass_ = _Pass(about, tell)
    for replica, event in history.by_replica():
        pass_.count(replica, event)
    pass_.close(about.final)
    pass_.requests(history)
    return pass_.findings


class _Pass:
    """The state of both passes: the second is over what the first has kept, a writer for each value."""

    def __init__(self, about: Circumstances, tell: Tell | None) -> None:
        self.findings = Findings(ttl_ms=about.ttl_ms, retry_ms=about.retry_ms, tests=about.tests, users=about.users)
        self.tell = tell
        self.books = Books(about.start)
        self.open: dict[tuple[str, str, int], Increment] = {}
        self.left: dict[tuple[str, int], list[Increment]] = {}  # who left which value in which part: several, where some are lost
        self.unconfirmed: list[Increment] = []
        self.wrote_times: dict[str, int] = {}

    def count(self, replica: str, event: object) -> None:
        findings = self.findings
        match event:
            case Got():
                self.open[replica, event.request, event.turn] = Increment(replica, event)
                findings.sent += event.commands
                findings.waits_ns.append(event.got_ns - event.asked_ns)
            case Writing() if one := self.open.get((replica, event.request, event.turn)):
                one.writing(event)
            case Wrote() if one := self.open.get((replica, event.request, event.turn)):
                one.wrote_it(event)
                self.wrote(one)
            case Released():
                findings.sent += event.commands
                findings.not_owner += event.result == "not_owner"
                if one := self.open.pop((replica, event.request, event.turn), None):
                    one.released(event)
                    self.unconfirmed += [one] * one.intended
            case GaveUp():
                findings.gave_up += 1
                findings.sent += event.commands
            case Refusal():
                findings.measures["refused"] += 1
                if one := self.open.get((replica, event.request, event.turn)):
                    one.refused = True
            case Renewed():
                findings.renewals += 1

    def wrote(self, one: Increment) -> None:
        if one.wrote is None or one.overwrote is None:
            return
        self.books.write(one.part, one.wrote, one.overwrote)
        times = self.wrote_times.get(one.request, 0)
        self.findings.duplicated += times > 0
        self.wrote_times[one.request] = times + 1
        self.left.setdefault((one.part, one.wrote), []).append(one)

    def close(self, final: dict[str, int] | None) -> None:
        """All journals are read: follow the values from writer to writer."""
        losses, measures = Losses(), self.findings.measures
        for one in chain.from_iterable(self.left.values()):
            before = [other for other in self.left.get((one.part, one.overwrote or 0), ()) if other is not one]
            if len(before) == 1:  # of several that left one value, nobody can say which it was
                measures["handovers"] += 1
                measures["handovers_between_replicas"] += before[0].replica != one.replica
            if one.destroyed:
                self.lost(losses, one, before[0] if len(before) == 1 else None)
        self.findings.losses = {UNREAD: losses} if losses.writes or losses.restored else {}
        if self.findings.duplicated:
            several = sorted(self.wrote_times.items(), key=lambda item: -item[1])[:EXAMPLES]
            self.findings.repeated = [Repeated(request, times) for request, times in several if times > 1]
        measures["turned_away"] = self.findings.gave_up
        measures["tries"] = len(self.findings.waits_ns) + self.findings.gave_up
        left = (*self.unconfirmed, *self.open.values())
        intended = [one.value for one in left if one.intended and one.value is not None]
        self.findings.account = self.books.close(final, intended)

    def lost(self, losses: Losses, culprit: Increment, victim: Increment | None) -> None:
        destroyed = culprit.destroyed
        if destroyed > 0:
            losses.destroyed += destroyed
            losses.writes += 1
        else:
            losses.restored -= destroyed
        about = Loss(destroyed, UNREAD, culprit.facts(), None if victim is None else victim.facts())
        if len(losses.examples) < EXAMPLES and destroyed > 0:
            losses.examples.append(msgspec.to_builtins(about))
        if self.tell is not None:
            self.tell(about)

    def requests(self, history: History) -> None:
        """Compare the load's list with the replicas'."""
        findings, matched = self.findings, 0
        for request in history.requests():
            findings.outcomes[request.outcome] += 1
            wrote = self.wrote_times.get(request.id, 0)
            matched += wrote > 0
            if request.outcome == ACKNOWLEDGED:
                findings.acknowledged_by_replica[request.replica] += 1
            if (request.outcome == ACKNOWLEDGED and not wrote) or (request.outcome == FAILED and wrote):
                self.mismatch(f"{request.id} was {request.outcome}, and replicas wrote {wrote} times for it")
        if strangers := len(self.wrote_times) - matched:
            self.mismatch(f"{strangers} requests wrote that the load never sent or never heard the end of")
        findings.measure_shares(history.replicas)

    def mismatch(self, what: str) -> None:
        if len(self.findings.mismatches) < EXAMPLES:
            self.findings.mismatches.append(what)
