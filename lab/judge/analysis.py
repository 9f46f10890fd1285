"""Analyse a history whose stamps come from one clock: one pass, from its lines to the findings.

The pass streams. Its memory grows with the number of requests only by a few bytes each: how often each request wrote (to
compare the two counts, the load's requests and the journals' writes), and each wait (for exact quantiles).
"""

from __future__ import annotations

from collections.abc import Callable

from app.journal import AnyEvent, GaveUp, Got, Refusal, Released, Renewed, Stalled, Started, Wrote, WroteAgain
from lab.evidence.history import History
from lab.judge.attribution import Attribution, OnLoss
from lab.judge.curves import Curves
from lab.judge.faults import Faults
from lab.judge.findings import Findings, RunFacts
from lab.judge.grant import Grant, Grants
from lab.judge.handovers import Handovers
from lab.judge.integrity import Integrity
from lab.judge.key_history import KeyHistory
from lab.judge.leases import Leases
from lab.judge.leavers import Leavers
from lab.judge.long_holds import LongHolds
from lab.judge.nested_waits import NestedWaits
from lab.judge.overlaps import Overlaps
from lab.judge.stalls import Stalls
from lab.judge.waits import Waits
from lab.judge.witnesses import Witnesses
from lab.judge.writes import Writes


def analyse(history: History, run: RunFacts, on_loss: OnLoss | None = None) -> Findings:
    """Read the whole history once. on_loss: is called with each write that destroyed increments."""
    pass_ = _Pass(history, run, on_loss)
    for replica, event in history.events():
        pass_.take(replica, event)
    pass_.close()
    pass_.read_requests(history)
    return pass_.findings


class _Pass:
    """Assemble grants, and report each event to the collectors that need it."""

    def __init__(self, history: History, run: RunFacts, on_loss: OnLoss | None) -> None:
        self.findings = findings = Findings(run=run)
        self.grants = Grants()
        self.faults = Faults(findings, history.faults())
        self.stalls = Stalls(findings)
        self.waits = Waits(findings)
        self.handovers = Handovers(findings)
        self.overlaps = Overlaps(findings, self.grants.open, KeyHistory(history))
        self.leases = Leases(findings)
        self.leavers = Leavers(findings)
        self.long_holds = LongHolds(findings)
        self.nested_waits = NestedWaits(findings)
        self.writes = Writes(findings)
        self.integrity = Integrity(self.grants.open, self.writes.written, run.start)
        self.curves = Curves(findings)
        self.attribution = Attribution(self.overlaps.conflict, on_loss)
        # The order matters: a later collector reads what an earlier one has found.
        self.at_got: list[Callable[[Grant], None]] = [
            self.waits.got,
            self.leavers.got,
            *([self.nested_waits.got] if run.nested else []),
            self.faults.got,
            self.handovers.got,
            self.overlaps.got,
        ]
        self.at_release: list[Callable[[Grant], None]] = [
            self.waits.released,
            self.writes.released,
            self.curves.released,
            self.faults.released,
            self.handovers.released,
            self.overlaps.released,
            self.leases.released,
            self.leavers.released,
            *([self.long_holds.released] if run.ttl_ms else []),
            *([self.nested_waits.released] if run.nested else []),
        ]

    def take(self, replica: str, event: AnyEvent) -> None:
        """Report one event of a journal."""
        if not self.integrity.admits(replica, event):
            return
        grant = self.grants.take(replica, event)
        match event:
            case GaveUp():
                self.findings.sent += event.commands
                self.waits.gave_up(replica, event)
                self.leavers.gave_up(replica, event)
                self.nested_waits.gave_up(replica, event)
            case Renewed():
                self.leases.renewed(event)
                self.overlaps.renewed(replica, event)
                self.faults.renewed(replica, event)
            case Refusal():
                self.writes.refused(grant, event)
            case Started():
                self.findings.starts[replica] += 1
                self.overlaps.started(replica, event.started_ns)
            case Stalled():
                self.stalls.stalled(replica, event)
        if grant is not None:
            self._take(grant, event)

    def _take(self, grant: Grant, event: AnyEvent) -> None:
        """Report one event of a grant."""
        if isinstance(event, Got):
            self.findings.sent += event.commands
            for look in self.at_got:
                look(grant)
        elif isinstance(event, Wrote):
            self.writes.wrote(grant)
            self.attribution.wrote(grant)
        elif isinstance(event, Released):
            self.findings.sent += event.commands
            for look in self.at_release:
                look(grant)
        elif isinstance(event, WroteAgain):
            self.writes.wrote_again(grant, event)

    def close(self) -> None:
        """Settle the rest: all journals have been read."""
        self.waits.close()
        self.faults.close()
        self.leavers.close()
        self.nested_waits.close()
        self.overlaps.close()
        self.attribution.close()
        self.findings.losses = self.attribution.losses
        self.writes.close(self.grants.open.values())

    def read_requests(self, history: History) -> None:
        """Read the load's record."""
        witnesses = Witnesses(self.findings, self.writes.written, history.replicas, self.grants.open)
        for request in history.requests():
            if witnesses.request(request):
                self.curves.request(request)
        witnesses.close()
        self.findings.damage += [*history.flaws.damages(), *self.integrity.damages(), *witnesses.damages()]
        self.curves.close(self.grants.open.values(), self.writes.values_by_bin)
        self.findings.measure_shares(history.replicas)
