"""Collect what followed from each fault."""

from __future__ import annotations

from collections.abc import Iterable

from app.failpoints import ACQUIRE
from app.journal import GaveUp, Renewed
from lab.evidence.fault_record import AT_THE_STORE, Effect, FaultRecord
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.grant import Grant
from lab.judge.key_history import KeyHistory
from lab.judge.onlookers import Onlookers, Want
from lab.judge.promise import PATIENT

OF_ONE_COMMAND = frozenset({Effect.COMMAND_FAILS, Effect.REPLY_LOST})  # these faults reach one command, and so one server
MAJORITY = 3  # of five servers


class Faults:
    """Report each grant, release and renewal, in the order of time. The results are in the findings."""

    def __init__(self, findings: Findings, records: Iterable[FaultRecord], history: KeyHistory) -> None:
        """Take the records of the faults, and what the store reported of its keys."""
        self.history = history
        self.keys: set[str] = set()  # that were granted
        self.outcomes = [FaultOutcome(record) for record in sorted(records, key=lambda record: record.at_ns)]
        self.ttl_ns = findings.run.ttl_ms * 1_000_000
        self.patient_ns = PATIENT * findings.run.wait_ms * 1_000_000
        self.measures = findings.measures
        self.findings = findings
        self.has_votes = findings.run.has_votes
        self.is_one_replica = findings.run.replicas == 1
        self.sent_one_by_one = False  # whether requests ask each of several servers by a command of its own
        findings.faults = self.outcomes
        findings.onlookers = [Onlookers(outcome) for outcome in self.outcomes]

    def got(self, grant: Grant) -> None:
        self._look(grant.request, Want(grant.asked_ns, grant.got_ns, got=True))
        self.keys |= {grant.key, grant.outer_key} - {""}
        for outcome in self.outcomes:
            outcome.asked(grant.replica, grant.asked_ns, self._waits_at_the_recovery(outcome, grant))
            if grant.reentered:  # such a grant does not show that the lock was free
                outcome.reentered += grant.replica == outcome.record.replica and grant.got_ns > outcome.record.began_ns
            else:
                outcome.got(grant.request, grant.replica, grant.got_ns)

    def _waits_at_the_recovery(self, outcome: FaultOutcome, grant: Grant) -> bool:
        """Return whether a request was still within its time when the recovery began, and got the lock after it."""
        return grant.asked_ns < outcome.record.recovering_ns < min(grant.got_ns, grant.asked_ns + self.patient_ns)

    def _shows_free(self, outcome: FaultOutcome, grant: Grant) -> bool:
        """Return whether a grant shows that the lock was free after the fault.

        A request that may have re-entered it shows so if the store reported the end of the key before that request's release
        began. Where the store reports no key, the grants of another replica show it; where there is none, each grant does.
        """
        if not outcome.may_reenter(grant.replica):
            return True
        if not self.history.is_known(grant.key):
            return self.is_one_replica
        since_ns, until_ns = outcome.record.began_ns, grant.releasing_ns
        expired = self.history.happened("expired", since_ns, until_ns, grant.key)
        return expired or self.history.went(since_ns, until_ns, grant.key)

    def _is_beside(self, record: FaultRecord) -> bool:
        """Return whether a fault was injected at a command that was not about the lock, although others were."""
        return bool(record.keys) and not self.keys.isdisjoint(self.history.known) and self.keys.isdisjoint(record.keys)

    def _is_at_one_vote(self, record: FaultRecord) -> bool:
        """Return whether a fault was injected at one server's command of several: without it there is still a majority."""
        return self.sent_one_by_one and record.effect in OF_ONE_COMMAND

    def _is_late(self, record: FaultRecord) -> bool:
        """Return whether clocks jumped when half of the holder's lease was over: it may have ended before others were in."""
        return record.effect is Effect.CLOCKS_JUMP and 2 * (record.began_ns - record.at_ns) > self.ttl_ns > 0

    def gave_up(self, replica: str, event: GaveUp) -> None:
        self._look(event.request, Want(event.asked_ns, event.gave_up_ns, got=False))
        waited_to_the_end = 0 < self.patient_ns < event.gave_up_ns - event.asked_ns
        for outcome in self.outcomes:
            outcome.asked(replica, event.asked_ns, waited_to_the_end)

    def _look(self, request: str, want: Want) -> None:
        for one in self.findings.onlookers:
            one.look(request, want)

    def released(self, grant: Grant) -> None:
        self.sent_one_by_one |= self.has_votes and grant.release_commands >= MAJORITY
        for outcome in self.outcomes:
            outcome.released(grant.request, grant.releasing_ns, grant.released_ns)
            if (grant.wrote is not None or grant.sold_out) and not grant.reentered:
                sent_ns = grant.sent_ns if self.has_votes else 0  # in a queue, the last command only reads
                outcome.granted(grant.request, grant.asked_ns, grant.got_ns, sent_ns, self._shows_free(outcome, grant))
            self.measures["asked_during_fault"] += grant.wrote is not None and outcome.during(grant.asked_ns)
            in_acquire = outcome.record.phase == ACQUIRE and outcome.record.request != grant.request
            self.measures["released_before_a_wait"] += in_acquire and outcome.during(grant.releasing_ns)

    def renewed(self, replica: str, event: Renewed) -> None:
        for outcome in self.outcomes:
            outcome.renewed(replica, event.renewed_ns, succeeded=event.answer == "1")

    def close(self) -> None:
        """Measure: all journals have been read."""
        measures = self.measures
        self.findings.faults_at_one_vote = sum(self._is_at_one_vote(outcome.record) for outcome in self.outcomes)
        measures["faults"] = (
            sum(not self._is_beside(outcome.record) for outcome in self.outcomes) - self.findings.faults_at_one_vote
        )
        records = [outcome.record for outcome in self.outcomes]
        measures["clocks_moved"] = sum(record.clocks_moved for record in records if not self._is_late(record))
        measures["votes"] = min((record.votes for record in records), default=0)
        for outcome in self.outcomes:
            outcome.close()
            past_ttl = outcome.lasted_longer_than(self.ttl_ns)
            granted_meanwhile = 0 < outcome.next_got_ns < outcome.record.recovered_ns
            measures["faults_past_ttl"] += past_ttl
            anew = 0 < outcome.got_ns < outcome.record.recovered_ns  # also where the resource refused its write
            measures["granted_anew"] += anew and outcome.record.effect in AT_THE_STORE
            if outcome.record.effect is Effect.STORE_SPLIT:
                measures["asked_on_each_side"] += min(outcome.asked_here, outcome.asked_there)
            measures["sessions_ended"] += outcome.record.sessions_ended
            measures["late_writes"] += outcome.record.late_writes
            measures["outlived_freezes"] += past_ttl and outcome.went_on_ns - outcome.record.at_ns > self.ttl_ns
            measures["late_releases"] += past_ttl and (granted_meanwhile or outcome.renewals > 0)
