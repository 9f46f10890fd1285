"""Compute the consequences of each fault, from the fault record and the journals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from app.failpoints import ACQUIRE, BEFORE_LAST, RELEASE
from app.journal import Renewed
from lab.evidence.fault_record import AT_THE_STORE, Effect, FaultRecord
from lab.judge.fact import Wait
from lab.judge.grant import GOT, Grant
from lab.judge.key_history import FOREVER_NS, KeyHistory
from lab.judge.run_facts import RunFacts

SENT_AT_ONCE_NS = 20_000_000  # a request for a vote, sent this soon after a fault began, counts as sent before the fault
SETTLED_NS = 200_000_000  # until then, a request that asked before the fault may still get its answer
OF_ONE_COMMAND = frozenset({Effect.COMMAND_FAILS, Effect.REPLY_LOST})  # these faults reach one command, and so one server
# these faults end, or prolong, the lease of a holder that is inside
OF_A_LEASE = frozenset({Effect.CLOCKS_JUMP, Effect.CLOCKS_BACK, Effect.SERVERS_RESTART})
MAJORITY = 3  # the majority of five servers


class FaultOutcome(msgspec.Struct, tag="fault", tag_field="what"):
    """One fault and its consequences. ``Faults`` finds them when all journals have been read."""

    record: FaultRecord
    # when another request that wrote got the lock for the first time after the fault, 0 if none did; and that request
    next_got_ns: int = 0
    next_request: str = ""
    # when the request at the failpoint had released in spite of the fault; 0 if it never did
    went_on_ns: int = 0
    # requests that asked between the fault and its recovery, with or without success
    asked: int = 0
    # grants before the recovery began, to requests that asked, or asked again, when the fault was in force
    granted_meanwhile: int = 0
    # requests that asked after the first of these grants, and that the lock had the time to serve; and how many got the lock
    asked_again: int = 0
    granted_again: int = 0
    # successful renewals by other replicas, before another request got the lock
    foreign_renewals: int = 0
    # requests of the same replica that entered the lock that the request at the failpoint left behind; each restarts its TTL
    reentered: int = 0
    # whether the store reported a new TTL of a lock that another request held when the fault was over, before that request wrote
    extended_anothers: bool = False

    @property
    def idle_ms(self) -> float | None:
        """Return the time from the fault to the next grant, or None if there was none."""
        return max(0, self.next_got_ns - self.record.began_ns) / 1e6 if self.next_got_ns else None


@dataclass
class Onlookers:
    """The requests that wanted the lock after one fault, until another request got it: only they can show that it stays taken."""

    fault: FaultOutcome
    waits: list[Wait] = field(default_factory=list)

    def note(self, wait: Wait) -> None:
        """Take note of a request that was still waiting, or asked, after the fault."""
        is_over = 0 < self.fault.next_got_ns <= wait.asked_ns
        if wait.request != self.fault.record.request and wait.until_ns > self.fault.record.began_ns and not is_over:
            self.waits.append(wait)

    def show_taken(self, bound_ms: float) -> bool:
        """Return whether any wait shows that the lock was taken for longer than ``bound_ms`` milliseconds.

        A request that was waiting when the bound was over shows it. A request that asked later shows it if it gave up before
        another request got the lock, or waited for as long again.
        """
        bound_ns = int(bound_ms * 1e6)
        late_ns, until_ns = self.fault.record.began_ns + bound_ns, self.fault.next_got_ns or FOREVER_NS
        return any(
            one.asked_ns <= late_ns
            or (not one.got and one.until_ns <= until_ns)
            or min(one.until_ns, until_ns) - one.asked_ns > bound_ns
            for one in self.waits
            if one.asked_ns < until_ns and one.until_ns > late_ns
        )


class Faults:
    """Keep the waits, grants and renewals of a run with faults; find the outcome of each fault when all are known."""

    def __init__(self, run: RunFacts, measures: Counter[str], records: Iterable[FaultRecord], history: KeyHistory) -> None:
        """Take the records of the faults, and the store's report of its keys. measures: the findings' measures, to add to."""
        self.run = run
        self.measures = measures
        self.history = history
        self.outcomes = [FaultOutcome(record) for record in sorted(records, key=lambda record: record.at_ns)]
        self.onlookers = [Onlookers(outcome) for outcome in self.outcomes]
        self.waits: list[Wait] = []
        self.grants: list[Grant] = []
        # of each command outside all requests: the replica, the time of the answer, and whether the store agreed
        self.renewals: list[tuple[str, int, bool]] = []

    def renewed(self, replica: str, event: Renewed) -> None:
        if self.outcomes:
            self.renewals.append((replica, event.renewed_ns, event.answer == "1"))

    def released(self, grant: Grant) -> None:
        """Find out whether a fault extended this grant's lock: its loss may be explained before all journals have been read."""
        for outcome in self.outcomes:
            record = outcome.record
            if grant.request != record.request and grant.got_ns < record.recovered_ns < grant.writing_ns:
                outcome.extended_anothers |= self.history.happened("expire", record.recovering_ns, grant.writing_ns, grant.key)

    def close(self) -> None:
        """Find the outcome of each fault, and compute the measures: all journals have been read."""
        released = [grant for grant in self.grants if grant.is_over]
        served = [grant for grant in released if (grant.wrote is not None or grant.sold_out) and not grant.reentered]
        for onlookers in self.onlookers:
            outcome, record = onlookers.fault, onlookers.fault.record
            own = [grant for grant in released if grant.request == record.request]
            outcome.went_on_ns = own[-1].released_ns if own else 0
            after = [grant for grant in served if grant.request != record.request and record.began_ns < grant.got_ns]
            if after:
                first = min(after, key=GOT)
                outcome.next_got_ns, outcome.next_request = first.got_ns, first.request
            for wait in self.waits:
                onlookers.note(wait)
            asked = [wait for wait in self.waits if record.began_ns < wait.asked_ns < record.recovering_ns]
            outcome.asked = len(asked)
            self._count_served(outcome, [one for one in served if self._is_under(record, one)], asked)
            was_free = record.failpoint == f"{RELEASE}.{BEFORE_LAST}" and any(
                self.history.was_removed(grant.releasing_ns, record.at_ns, grant.key) for grant in own
            )
            self._measure(outcome, [grant for grant in released if grant.request != record.request], asked, was_free)
            is_beside = was_free or self._is_beside(record)
            self.measures["faults_beside"] += is_beside
            self.measures["faults"] += not is_beside
            if not self._is_late(record):
                self.measures["clocks_moved"] += record.clocks_moved
                during = (one for one in released if one.wrote is not None and _is_during(record, one.asked_ns))
                self.measures["asked_during_fault"] += len(list(during))

    def _is_beside(self, record: FaultRecord) -> bool:
        """Return whether a fault reached a command about other keys than the lock's, or the command to one server of several."""
        granted = frozenset().union(*(grant.keys for grant in self.grants))
        one_by_one = self.run.has_votes and any(grant.release_commands >= MAJORITY for grant in self.grants)
        is_one_vote = one_by_one and record.effect in OF_ONE_COMMAND
        are_known = not granted.isdisjoint(self.history.names)
        return is_one_vote or (bool(record.keys) and are_known and granted.isdisjoint(record.keys))

    def _is_late(self, record: FaultRecord) -> bool:
        """Return whether a fault that acts on the holder's lease was done only after half of it.

        Then the lease may have ended before, and the fault may have changed nothing.
        """
        return record.effect in OF_A_LEASE and 2 * (record.done_ns - record.at_ns) > self.run.ttl_ns > 0

    def _is_under(self, record: FaultRecord, grant: Grant) -> bool:
        """Return whether a request got the lock under a fault, and asked, or asked again, when the fault was in force."""
        sent_ns, asked_ns = 0, grant.asked_ns
        if self.run.has_votes:  # in a queue, the last command only reads; a lock that a replica handed over was granted before
            sent_ns, asked_ns = (grant.sent_ns, asked_ns) if grant.commands else (0, 0)
        is_of_now = record.began_ns + SETTLED_NS < asked_ns or record.began_ns + SENT_AT_ONCE_NS < sent_ns
        return is_of_now and grant.got_ns < record.recovering_ns

    def _count_served(self, outcome: FaultOutcome, meanwhile: list[Grant], waits: list[Wait]) -> None:
        """Count how many of the requests that asked under a fault were served. meanwhile: the grants under the fault.

        On a busy machine more requests may wait than can be served. So a request that waited for all of its time, or until the
        recovery, does not count, provided that others were served in the second half of the fault as well.
        """
        if not meanwhile:
            return
        record, first_ns = outcome.record, min(map(GOT, meanwhile))
        outcome.granted_meanwhile = len(meanwhile)
        outcome.granted_again = sum(first_ns < grant.asked_ns for grant in meanwhile)
        again = [wait for wait in waits if first_ns < wait.asked_ns]
        if 2 * max(map(GOT, meanwhile)) > record.began_ns + record.recovering_ns:
            again = [wait for wait in again if not self._waited_to_the_end(wait, record)]
        outcome.asked_again = len(again)

    def _waited_to_the_end(self, wait: Wait, record: FaultRecord) -> bool:
        """Return whether a request waited for all of its time; or, if it got the lock, until the recovery and within its time."""
        patience_ns = self.run.patience_ns
        if wait.got:
            return wait.asked_ns < record.recovering_ns < min(wait.until_ns, wait.asked_ns + patience_ns)
        return 0 < patience_ns < wait.until_ns - wait.asked_ns

    def _measure(self, outcome: FaultOutcome, others: list[Grant], waits: list[Wait], was_free: bool) -> None:
        """Compute the measures of a fault; a grant counts even if the resource refused its write.

        others: the grants of other requests; waits: the requests that asked under the fault; was_free: whether the store had
        reported the end of the lock before the fault reached its release.
        """
        measures, record = self.measures, outcome.record
        after = [one for one in self.grants if not one.reentered and record.began_ns < one.got_ns]
        got_ns = min((one.got_ns for one in after if one.request != record.request), default=FOREVER_NS)
        outcome.foreign_renewals = sum(
            agreed and by != record.replica and record.began_ns < at_ns < got_ns for by, at_ns, agreed in self.renewals
        )
        left = [one for one in self.grants if one.reentered and one.replica == record.replica and one.got_ns > record.began_ns]
        outcome.reentered = len(left)
        renewed = any(by == record.replica and _is_during(record, at_ns) for by, at_ns, _ in self.renewals)
        held = any(one.got_ns < record.recovered_ns < one.releasing_ns for one in others)
        past_ttl = record.recovered_ns - record.began_ns > self.run.ttl_ns
        anew = got_ns < record.recovered_ns
        measures["faults_past_ttl"] += past_ttl
        measures["granted_anew"] += anew and record.effect in AT_THE_STORE
        measures["sessions_ended"] += record.sessions_ended
        measures["late_writes"] += record.late_writes
        measures["outlived_freezes"] += past_ttl and outcome.went_on_ns - record.at_ns > self.run.ttl_ns
        measures["resumed_beside_another"] += past_ttl and outcome.went_on_ns > 0 and (held or not anew)
        # a delayed release does harm only to the request that holds the lock when it arrives, or that has renewed it
        met = renewed or (0 < outcome.next_got_ns < record.recovered_ns and (held or record.phase != RELEASE))
        measures["late_releases"] += past_ttl and met and not was_free
        in_acquire = [one for one in others if record.phase == ACQUIRE and _is_during(record, one.releasing_ns)]
        measures["released_before_a_wait"] += len(in_acquire)
        if record.effect is Effect.STORE_SPLIT:
            there_ns = min((one.got_ns for one in after if one.replica != record.replica), default=FOREVER_NS)
            here = [wait.replica == record.replica for wait in waits if there_ns < wait.asked_ns]
            measures["asked_on_each_side"] += min(sum(here), len(here) - sum(here))


def _is_during(record: FaultRecord, at_ns: int) -> bool:
    """Return whether a moment lies between a fault and its recovery."""
    return record.began_ns < at_ns < record.recovered_ns
