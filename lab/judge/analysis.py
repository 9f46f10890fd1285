"""Analyse a history whose stamps come from one clock: one pass, from its lines to the findings.

The pass streams. Its memory grows with the number of requests only by a few bytes each: how often each request wrote (to
compare the two counts, the load's requests and the journals' writes), and each wait (for exact quantiles).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.journal import AnyEvent, GaveUp, Got, Refusal, Released, Renewed, Stalled, Started, Wrote, WroteAgain, WroteLate
from lab.evidence.history import History
from lab.judge.attribution import Attribution, OnLoss
from lab.judge.curves import Curves
from lab.judge.faults import Faults
from lab.judge.findings import Findings, RunFacts
from lab.judge.grant import Grant, Grants
from lab.judge.handovers import Handovers, IdleTimes
from lab.judge.key_history import KeyHistory
from lab.judge.leases import Leases, LongHolds
from lab.judge.leavers import Leavers
from lab.judge.overlaps import Overlaps
from lab.judge.reentries import Reentries
from lab.judge.stalls import Stalls
from lab.judge.waits import NestedWaits, Waits
from lab.judge.witnesses import Witnesses
from lab.judge.writes import Writes


def analyse(history: History, run: RunFacts, on_loss: OnLoss | None = None) -> Findings:
    """Read the whole history once. on_loss: is called with each write that destroyed increments."""
    pass_ = _Pass(history, run, on_loss)
    pass_.read_events(history)
    pass_.close()
    pass_.read_requests(history)
    return pass_.findings


class _Pass:
    """Assemble grants, and report each event to the collectors that need it."""

    def __init__(self, history: History, run: RunFacts, on_loss: OnLoss | None) -> None:
        self.findings = findings = Findings(run=run)
        self.grants = Grants()
        records = tuple(history.faults())
        keys = KeyHistory(history, records)
        self.faults = Faults(findings, records, keys)
        self.stalls = Stalls(findings)
        self.waits = Waits(findings)
        self.handovers = Handovers(findings)
        self.idle_times = IdleTimes(findings)
        self.overlaps = Overlaps(findings, self.grants.open, keys)
        self.reentries = Reentries(findings, keys)
        self.leases = Leases(findings)
        self.leavers = Leavers(findings)
        self.long_holds = LongHolds(findings)
        self.nested_waits = NestedWaits(findings)
        self.writes = Writes(findings)
        self.curves = Curves(findings)
        self.attribution = Attribution(self.overlaps.conflict, on_loss)
        # By type of event, what is done with it; nothing more with an event that only belongs to its grant.
        self.at: dict[type[AnyEvent], Callable[[str, Any, Grant | None], None]] = {
            Got: self._got,
            Wrote: self._wrote,
            WroteAgain: self._wrote_again,
            WroteLate: self._wrote_late,
            Released: self._released,
            GaveUp: self._gave_up,
            Renewed: self._renewed,
            Refusal: self._refused,
            Started: self._started,
            Stalled: self._stalled,
        }
        # The order matters: a later collector reads what an earlier one has found. A collector of which this run has no use is
        # not asked, because each is asked for each grant.
        has_faults, is_left = bool(findings.faults), self.leavers.is_tested
        self.at_got: list[Callable[[Grant], None]] = [
            self.waits.got,
            self.leavers.got,
            *([self.nested_waits.got] if run.nested else []),
            *([self.reentries.got, self.faults.got] if has_faults else []),
            self.overlaps.got,  # first: it marks a lock that a thread left to the next one
            self.handovers.got,
            *([self.idle_times.got] if self.idle_times.is_asked else []),
        ]
        self.at_release: list[Callable[[Grant], None]] = [
            self.waits.released,
            self.writes.released,
            *([self.reentries.released, self.faults.released] if has_faults else []),
            self.handovers.released,
            *([self.idle_times.released] if self.idle_times.is_asked else []),
            self.overlaps.released,
            self.leases.released,
            *([self.leavers.released] if is_left else []),
            *([self.long_holds.released] if run.ttl_ms else []),
            *([self.nested_waits.released] if run.nested else []),
            findings.trace.released,
        ]

    def read_events(self, history: History) -> None:
        """Read the journals, and report each event."""
        # local names: this loop takes four turns for each increment
        take, at = self.grants.take, self.at
        at_ns = 0
        for at_ns, replica, event in history.stamped():  # noqa: B007 - the last stamp is kept
            grant = take(replica, event)
            if (handle := at.get(type(event))) is not None:
                handle(replica, event, grant)
        self.findings.last_ns = at_ns

    def _got(self, replica: str, event: Got, grant: Grant | None) -> None:
        self.findings.sent += event.commands
        if grant is not None:
            for look in self.at_got:
                look(grant)

    def _wrote(self, replica: str, event: Wrote, grant: Grant | None) -> None:
        if grant is not None:
            self.writes.wrote(grant)
            self.attribution.wrote(grant)

    def _wrote_again(self, replica: str, event: WroteAgain, grant: Grant | None) -> None:
        if grant is not None:
            self.writes.wrote_again(grant, event)

    def _wrote_late(self, replica: str, event: WroteLate, grant: Grant | None) -> None:
        grant = self.grants.unwritten.pop((replica, event.request, event.turn), None)
        if grant is not None:
            grant.confirmed(event)
            self.writes.wrote(grant)
            self.attribution.wrote(grant)
            self.overlaps.wrote_late(grant)

    def _released(self, replica: str, event: Released, grant: Grant | None) -> None:
        if grant is not None:
            self.findings.sent += event.commands
            for look in self.at_release:
                look(grant)

    def _gave_up(self, replica: str, event: GaveUp, grant: Grant | None) -> None:
        self.findings.sent += event.commands
        self.findings.trace.gave_up(replica, event)
        self.faults.gave_up(replica, event)
        self.waits.gave_up(replica, event)
        self.leavers.gave_up(replica, event)
        self.reentries.gave_up(replica, event)
        self.nested_waits.gave_up(replica, event)
        self.idle_times.gave_up(replica, event)

    def _renewed(self, replica: str, event: Renewed, grant: Grant | None) -> None:
        self.findings.trace.renewed(replica, event)
        self.leases.renewed(event)
        self.overlaps.renewed(replica, event)
        self.faults.renewed(replica, event)

    def _refused(self, replica: str, event: Refusal, grant: Grant | None) -> None:
        self.writes.refused(grant, event)

    def _started(self, replica: str, event: Started, grant: Grant | None) -> None:
        self.findings.started_ns[replica].append(event.started_ns)

    def _stalled(self, replica: str, event: Stalled, grant: Grant | None) -> None:
        self.stalls.stalled(replica, event)

    def close(self) -> None:
        """Settle the rest: all journals have been read."""
        self.stalls.close()
        self.waits.close()
        self.handovers.close()
        self.idle_times.close()
        self.faults.close()
        self.leavers.close()
        self.nested_waits.close()
        self.overlaps.close()
        self.attribution.close()
        self.findings.trace.close(self.grants.open.values())
        self.findings.losses = self.attribution.losses
        self.writes.close(self.grants.open.values())

    def read_requests(self, history: History) -> None:
        """Read the load's record."""
        witnesses = Witnesses(self.findings, self.writes.written, history.replicas, self.grants.open)
        for request in history.requests():
            witnesses.request(request)
            self.curves.request(request)
        witnesses.close()
        self.findings.damage += history.flaws.damages()
        self.curves.close(self.writes.values_by_bin)
        self.findings.measure_shares(history.replicas)
