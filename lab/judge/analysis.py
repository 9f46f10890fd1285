"""Analyse a history in one pass, from its lines to the findings.

The pass streams. For each request it keeps only a few bytes: the number of its writes (to compare the load's requests with the
journals' writes), and its wait (for exact quantiles).

If several clocks stamped the history, each stamp is shifted to the lab's clock when it is read, and ``RunFacts.clocks`` says by
how much the order of two stamps may be wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.journal import AnyEvent, GaveUp, Got, Refusal, Released, Renewed, Stalled, Started, Wrote, WroteAgain, WroteLate
from app.lock import Claim
from lab.evidence.history import History
from lab.judge.fact import EXAMPLES, Wait, short_key
from lab.judge.faults import Faults
from lab.judge.findings import Findings
from lab.judge.grant import Grant, Grants
from lab.judge.key_history import KeyHistory
from lab.judge.losses import Attribution
from lab.judge.overlaps import Overlaps
from lab.judge.reentries import NestedLocks, Reentries
from lab.judge.run_facts import RunFacts
from lab.judge.stalls import Stalls
from lab.judge.waits import Handovers, Holds, IdleTimes, Leavers, Waits
from lab.judge.writes import Witnesses, Writes

ERROR = "error: "  # the prefix of the result of a grant whose work or release failed


def analyse(history: History, run: RunFacts) -> Findings:
    """Read the whole history once and return the findings."""
    pass_ = _Pass(history, run)
    pass_.read_events(history)
    pass_.close()
    _read_requests(history, pass_)
    return pass_.findings


def _read_requests(history: History, pass_: _Pass) -> None:
    """Read the load's record into the findings of the pass."""
    findings = pass_.findings
    shifted = findings.run.clocks.shifted
    witnesses = Witnesses(findings, pass_.writes.written, history.replicas, pass_.grants.open)
    for request in history.requests():
        if request.worker:
            request.start_ns, request.end_ns = shifted(request.worker, request.start_ns), shifted(request.worker, request.end_ns)
        witnesses.request(request)
        findings.origin_ns = min(findings.origin_ns or request.start_ns, request.start_ns)
        findings.end_ns = max(findings.end_ns, request.end_ns)
    witnesses.close()
    findings.damage += history.damaged.values()
    findings.measure_requests(history.replicas)


class _Pass:
    """Assemble grants, and report each event to the collectors that need it."""

    def __init__(self, history: History, run: RunFacts) -> None:
        self.findings = findings = Findings(run=run)
        self.grants = Grants()
        records = tuple(history.faults())
        keys = KeyHistory(history, run.clocks.worst_ns)
        self.faults = Faults(run, findings.measures, records, keys)
        findings.faults, findings.onlookers = self.faults.outcomes, self.faults.onlookers
        self.stalls = findings.stalls = Stalls([outcome.record for outcome in findings.faults])
        self.overlaps = Overlaps(findings, self.grants.open, keys)
        self.attribution = Attribution(self.overlaps.conflict, findings.trace.losses.add)
        self.writes = Writes(findings)
        self.leavers = leavers = Leavers(findings)
        waits, holds, handovers = Waits(findings), Holds(findings), Handovers(findings.measures)
        # A collector that this run does not need is left out, because each is called for each grant.
        reentries = Reentries(findings, keys) if findings.faults else None
        self.nested = nested = NestedLocks(findings) if run.nested == "same" else None
        has_idle_times = run.tests == Claim.prompt_handover.name or run.has_faults or nested is not None
        self.idle_times = idle_times = IdleTimes(findings) if has_idle_times else None
        has_faults = bool(findings.faults)
        # For each type of event, its handler. An event without one is only noted in its grant, by `Grants.take`.
        self.at: dict[type[AnyEvent], Callable[[str, Any, Any], None]] = {
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
        # The order matters: a later collector reads results of an earlier one.
        self.at_wait: list[Callable[[Wait], None]] = [
            waits.waited,
            leavers.waited,
            *([self.faults.waits.append] if has_faults else []),
        ]
        self.at_got: list[Callable[[Grant], None]] = [
            *([nested.got] if nested else []),
            *([reentries.got, self.faults.grants.append] if reentries else []),
            self.overlaps.got,  # first: it marks a lock that a thread handed over to the next one
            handovers.got,
            *([idle_times.got] if idle_times else []),
        ]
        self.at_gave_up: list[Callable[[Wait], None]] = [
            *([nested.gave_up] if nested else []),
            *([reentries.gave_up] if reentries else []),
        ]
        self.at_release: list[Callable[[Grant], None]] = [
            holds.released,
            self.writes.released,
            *([reentries.released, self.faults.released] if reentries else []),
            handovers.released,
            *([idle_times.released] if idle_times else []),
            self.overlaps.released,
            *([leavers.released] if leavers.is_tested else []),
            *([nested.released] if nested else []),
            findings.trace.released,
        ]

    def read_events(self, history: History) -> None:
        """Read the journals, and report each event."""
        # local names are faster: this loop takes four turns for each increment
        take, at = self.grants.take, self.at
        clocks = self.findings.run.clocks
        at_ns, shifted = 0, clocks.shifted if clocks.ahead_ns else None
        for at_ns, replica, event in history.stamped(shifted):  # noqa: B007 - the last stamp is kept
            grant = take(replica, event)
            if (handle := at.get(type(event))) is not None:
                handle(replica, event, grant)
        self.findings.last_ns = at_ns

    def _got(self, replica: str, event: Got, grant: Grant) -> None:
        self.findings.sent += event.commands
        self.findings.locked |= bool(event.key)
        self._waited(Wait(event.request, replica, event.asked_ns, event.got_ns, True, short_key(event.key)))
        for look in self.at_got:
            look(grant)

    def _waited(self, wait: Wait) -> None:
        for look in self.at_wait:
            look(wait)

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

    def _released(self, replica: str, event: Released, grant: Grant | None) -> None:
        if grant is not None:
            self.findings.sent += event.commands
            if grant.wrote is None and event.result.startswith(ERROR):
                self._not_served(event.result.removeprefix(ERROR))
            for look in self.at_release:
                look(grant)

    def _gave_up(self, replica: str, event: GaveUp, grant: Grant | None) -> None:
        findings, keys = self.findings, (short_key(event.wanted), short_key(event.holding))
        findings.sent += event.commands
        findings.gave_up += 1
        self._not_served(event.why)
        findings.trace.waits.add((replica, event))
        wait = Wait(event.request, replica, event.asked_ns, event.gave_up_ns, False, *keys)
        self._waited(wait)
        for look in self.at_gave_up:
            look(wait)
        if self.idle_times:
            self.idle_times.gave_up(event)

    def _not_served(self, why: str) -> None:
        """Count why a request did nothing: it got no lock, or its work failed."""
        if why in self.findings.whys or len(self.findings.whys) < EXAMPLES:
            self.findings.whys[why] += 1

    def _renewed(self, replica: str, event: Renewed, grant: Grant | None) -> None:
        self.findings.renewals += 1
        self.findings.trace.renewed(replica, event)
        self.overlaps.renewed(replica, event)
        self.faults.renewed(replica, event)

    def _refused(self, replica: str, event: Refusal, grant: Grant | None) -> None:
        self.writes.refused(grant, event)

    def _started(self, replica: str, event: Started, grant: Grant | None) -> None:
        self.findings.started_ns[replica].append(event.started_ns)

    def _stalled(self, replica: str, event: Stalled, grant: Grant | None) -> None:
        self.stalls.add(replica, event)

    def close(self) -> None:
        """Close all collectors: all journals have been read."""
        self.stalls.close(self.findings.started_ns)
        if self.idle_times:
            self.idle_times.close()
        self.faults.close()
        self.leavers.close()
        if self.nested:
            self.nested.close()
        self.overlaps.close()
        self.attribution.close()
        self.findings.trace.close(self.grants.open.values())
        self.findings.losses = self.attribution.losses
        self.writes.close(self.grants.open.values())
