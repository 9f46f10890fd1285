"""Analyse a history whose stamps come from the clocks of several hosts: only what needs no clock.

Stamps of two hosts cannot be compared. So the judge does not ask which requests were inside at the same time, which request
waited for which, or why an increment was lost. It counts in the resource's own order: each value that was written is
overwritten once, by a write that had read it, or by a culprit that had not. Lengths of time within one process are valid, and
so is the comparison of the two counts: the load's requests, and the writes in the replicas' journals.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from app.journal import AnyEvent, GaveUp, Got, Refusal, Released, Renewed, Started, Wrote
from lab.evidence.history import History
from lab.evidence.loss import Mechanism
from lab.judge.attribution import OnLoss
from lab.judge.findings import Findings, RunFacts
from lab.judge.grant import Grant, Grants
from lab.judge.losses import Losses
from lab.judge.witnesses import Witnesses
from lab.judge.writes import Writes

CLAIMS = ("exclusive", "counts_once")  # the claims that can be judged without a clock


def analyse(history: History, run: RunFacts, on_loss: OnLoss | None = None) -> Findings:
    """Read the journals replica by replica, then the load's record. on_loss: as in ``lab/judge/analysis.py``."""
    pass_ = _ClocklessPass(run, on_loss)
    for replica, event in history.by_replica():
        pass_.take(replica, event)
    pass_.close()
    witnesses = Witnesses(pass_.findings, pass_.writes.written, history.replicas, pass_.grants.open)
    for request in history.requests():
        witnesses.request(request)
    witnesses.close()
    pass_.findings.damage += history.flaws.damages()
    pass_.findings.measure_shares(history.replicas)
    return pass_.findings


class _ClocklessPass:
    """Keep a grant for each value that was written, and follow the values afterwards."""

    def __init__(self, run: RunFacts, on_loss: OnLoss | None) -> None:
        self.findings = Findings(run=replace(run, nested=""))  # how long a nested lock was waited for is not asked
        self.on_loss = on_loss
        self.grants = Grants()
        self.writes = Writes(self.findings)
        # the grants that left a value in a part of the counter: several, where increments are lost
        self.writers: dict[tuple[str, int], list[Grant]] = {}

    def take(self, replica: str, event: AnyEvent) -> None:
        """Report one event of a journal."""
        findings, grant = self.findings, self.grants.take(replica, event)
        findings.last_ns = max(findings.last_ns, event.at_ns)
        match event:
            case Got():
                findings.sent += event.commands
                findings.waits_ns.append(event.got_ns - event.asked_ns)
                findings.locked = findings.locked or bool(event.key)
            case Wrote() if grant is not None:
                self.writes.wrote(grant)
                self.writers.setdefault((event.part, event.value), []).append(grant)
            case Released():
                findings.sent += event.commands
                findings.not_owner += event.result == "not_owner"
                if grant is not None:
                    self.writes.released(grant)
                    findings.trace.released(grant)
            case GaveUp():
                findings.gave_up += 1
                findings.sent += event.commands
                findings.trace.gave_up(replica, event)
            case Refusal():
                self.writes.refused(None, event)
            case Renewed():
                findings.renewals += 1
                findings.trace.renewed(replica, event)
            case Started():
                findings.started_ns[replica].append(event.started_ns)

    def close(self) -> None:
        """Follow the values from writer to writer: all journals have been read."""
        losses, measures = Losses(), self.findings.measures
        for grant in chain.from_iterable(self.writers.values()):
            before = [other for other in self.writers.get((grant.part, grant.overwrote or 0), ()) if other is not grant]
            known = before[0] if len(before) == 1 else None  # of several that left one value, the evidence names none
            if known is not None:
                measures["handovers"] += 1
                measures["handovers_between_replicas"] += known.replica != grant.replica
            if grant.destroyed:
                loss = losses.add(Mechanism.WROTE_OVER_UNREAD, grant, known)
                if self.on_loss is not None:
                    self.on_loss(loss)
        self.findings.losses = {Mechanism.WROTE_OVER_UNREAD: losses} if losses.writes or losses.restored else {}
        measures["turned_away"] = self.findings.gave_up
        measures["tries"] = len(self.findings.waits_ns) + self.findings.gave_up
        self.writes.close(self.grants.open.values())
        self.findings.trace.close(self.grants.open.values())
