"""Compute what followed from each fault, from the fault record and the journals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from app.failpoints import ACQUIRE, BEFORE_LAST, RELEASE
from app.journal import Renewed
from lab.evidence.fault_record import AT_THE_STORE, Effect, FaultRecord
from lab.judge.fact import Wait
from lab.judge.grant import Grant
from lab.judge.key_history import FOREVER_NS, KeyHistory
from lab.judge.run_facts import RunFacts

SENT_AT_ONCE_NS = 20_000_000  # votes that are asked for within this time belong to the time before the fault
SETTLED_NS = 200_000_000  # until then, a request that asked before the fault may still get its answer
OF_ONE_COMMAND = frozenset({Effect.COMMAND_FAILS, Effect.REPLY_LOST})  # these faults reach one command, and so one server
# these faults end, or prolong, the lease of a holder that is inside
OF_A_LEASE = frozenset({Effect.CLOCKS_JUMP, Effect.CLOCKS_BACK, Effect.SERVERS_RESTART})
MAJORITY = 3  # of five servers


class FaultOutcome(msgspec.Struct, tag="fault", tag_field="what"):
    """One fault and its consequences. ``Faults`` reports each wait, grant, release and renewal to it, in order of time."""

    record: FaultRecord
    # when another request got the lock for the first time after the fault; 0 if none did
    next_got_ns: int = 0
    # that request
    next_request: str = ""
    # when the request at the failpoint had released in spite of the fault; 0 if it never did
    went_on_ns: int = 0
    # renewals by the same replica, from the fault to its recovery
    renewals: int = 0
    # grants before the recovery began, to requests that asked, or asked again, when the fault was in force
    granted_meanwhile: int = 0
    # when the first and the last of these grants were; how many requests asked after the first and before the recovery; how many
    # of these were still waiting at the recovery, or gave up after all of their time (behind a busy lock); how many got the lock
    served_again_ns: int = 0
    served_last_ns: int = 0
    asked_again: int = 0
    waited_again: int = 0
    granted_again: int = 0
    # successful renewals by other replicas, before another request got the lock
    foreign_renewals: int = 0
    # when another request got the lock for the first time after the fault, whether it wrote or not; 0 if none did
    got_ns: int = 0
    # requests that asked between the fault and its recovery, with or without success: in the same replica, and in others
    asked_here: int = 0
    asked_there: int = 0
    # when another replica got the lock for the first time after the fault, 0 if none did; and the requests that asked after that,
    # with or without success: in the same replica, and in others
    got_there_ns: int = 0
    asked_since_here: int = 0
    asked_since_there: int = 0
    # grants of other requests that were in force when the fault was over, by the journals
    held_at_its_end: int = 0
    # requests of the same replica that entered the lock that the request at the failpoint left behind; each restarts its TTL
    reentered: int = 0
    # whether the store reported a new TTL of a lock that another request held when the fault was over, before that request wrote
    extended_anothers: bool = False
    # whether the store had reported the end of the lock before the fault reached its release
    came_after_the_end: bool = False

    @property
    def idle_ms(self) -> float | None:
        """Return the time from the fault to the next grant, or None if there was none."""
        return max(0, self.next_got_ns - self.record.began_ns) / 1e6 if self.next_got_ns else None

    def during(self, at_ns: int) -> bool:
        """Return whether a moment lies between the fault and its recovery."""
        return self.record.began_ns < at_ns < self.record.recovered_ns

    def serves(self, share: float) -> bool:
        """Return whether at least this share of the requests that asked after the first grant under the fault got the lock.

        On a busy machine more requests may wait than can be served. So a request that waited for all of its time, or until the
        recovery, does not count, provided that others were served in the second half of the fault as well.
        """
        to_the_end = 2 * self.served_last_ns > self.record.began_ns + self.record.recovering_ns
        counted = self.asked_again - self.waited_again * to_the_end
        return bool(self.granted_meanwhile) and self.granted_again >= share * counted

    def asked(self, replica: str, asked_ns: int, waited_to_the_end: bool = False) -> None:
        """Take note of a request that has got the lock, or has given up.

        waited_to_the_end: whether it waited for all of its time, or, if its time was longer, until the recovery.
        """
        if self.record.began_ns < asked_ns < self.record.recovering_ns:
            self.asked_here += replica == self.record.replica
            self.asked_there += replica != self.record.replica
            since = 0 < self.got_there_ns < asked_ns
            self.asked_since_here += since and replica == self.record.replica
            self.asked_since_there += since and replica != self.record.replica
            again = 0 < self.served_again_ns < asked_ns
            self.asked_again += again
            self.waited_again += again and waited_to_the_end

    def got(self, request: str, replica: str, got_ns: int) -> None:
        """Take note of a grant, before its work."""
        if not self.got_ns and self.record.began_ns < got_ns and request != self.record.request:
            self.got_ns = got_ns
        if not self.got_there_ns and self.record.began_ns < got_ns and replica != self.record.replica:
            self.got_there_ns = got_ns

    def granted(self, request: str, asked_ns: int, got_ns: int, sent_ns: int = 0) -> None:
        """Take note of a grant under which the resource was written: a refused write shows nothing.

        sent_ns: when the last command of its acquire was sent. A waiter that polls may have asked long before.
        """
        is_of_now = self.record.began_ns + SETTLED_NS < asked_ns or self.record.began_ns + SENT_AT_ONCE_NS < sent_ns
        if is_of_now and got_ns < self.record.recovering_ns:
            self.granted_meanwhile += 1
            self.granted_again += 0 < self.served_again_ns < asked_ns
            self.served_again_ns = self.served_again_ns or got_ns
            self.served_last_ns = got_ns
        is_first = not self.next_got_ns or got_ns < self.next_got_ns
        if request != self.record.request and is_first and self.record.began_ns < got_ns:
            self.next_got_ns, self.next_request = got_ns, request

    def released(self, grant: Grant) -> None:
        """Take note of a release."""
        if grant.request == self.record.request:
            self.went_on_ns = grant.released_ns
        else:
            self.held_at_its_end += grant.got_ns < self.record.recovered_ns < grant.releasing_ns

    @property
    def met_another(self) -> bool:
        """Return whether the delayed command met a lock of another request, or a lock that its holder had renewed.

        A release does harm only to the request that holds the lock when it arrives.
        """
        granted_meanwhile = 0 < self.next_got_ns < self.record.recovered_ns
        is_in_danger = self.held_at_its_end > 0 or self.record.phase != RELEASE
        return self.renewals > 0 or (granted_meanwhile and is_in_danger)

    def renewed(self, replica: str, renewed_ns: int, succeeded: bool) -> None:
        """Take note of a renewal."""
        if replica == self.record.replica:
            self.renewals += self.during(renewed_ns)
        elif succeeded and self.record.began_ns < renewed_ns and not self.got_ns:
            self.foreign_renewals += 1


@dataclass
class Onlookers:
    """The requests that wanted the lock after one fault, until another request got it: only they can show that it stays taken."""

    fault: FaultOutcome
    waits: list[Wait] = field(default_factory=list)

    def look(self, wait: Wait) -> None:
        """Take note of a request that was still waiting, or asked, after the fault."""
        is_over = 0 < self.fault.next_got_ns <= wait.asked_ns
        if wait.request != self.fault.record.request and wait.until_ns > self.fault.record.began_ns and not is_over:
            self.waits.append(wait)

    @property
    def wanted_meanwhile(self) -> bool:
        """Return whether any request wanted the lock before the recovery began."""
        return any(one.asked_ns < self.fault.record.recovering_ns for one in self.waits)

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
    """Report each wait, grant, release and renewal, in the order of time."""

    def __init__(self, run: RunFacts, measures: Counter[str], records: Iterable[FaultRecord], history: KeyHistory) -> None:
        """Take the records of the faults, and the store's report of its keys. measures: those of the findings."""
        self.run = run
        self.measures = measures
        self.history = history
        self.keys: set[str] = set()  # the keys that were granted
        self.outcomes = [FaultOutcome(record) for record in sorted(records, key=lambda record: record.at_ns)]
        self.onlookers = [Onlookers(outcome) for outcome in self.outcomes]
        self.sent_one_by_one = False  # whether requests send each of several servers a command of its own

    def waited(self, wait: Wait) -> None:
        """Take note of a request that has got the lock, or has given up."""
        for onlookers in self.onlookers:
            onlookers.look(wait)
            outcome, patience_ns = onlookers.fault, self.run.patience_ns
            # a request without the lock: for all of its time; a request with the lock: until the recovery, within its time
            to_the_end = 0 < patience_ns < wait.until_ns - wait.asked_ns
            if wait.got:
                to_the_end = wait.asked_ns < outcome.record.recovering_ns < min(wait.until_ns, wait.asked_ns + patience_ns)
            outcome.asked(wait.replica, wait.asked_ns, to_the_end)

    def got(self, grant: Grant) -> None:
        self.keys |= grant.keys
        for outcome in self.outcomes:
            if grant.reentered:  # such a grant does not show that the lock was free
                outcome.reentered += grant.replica == outcome.record.replica and grant.got_ns > outcome.record.began_ns
            else:
                outcome.got(grant.request, grant.replica, grant.got_ns)

    def _is_beside(self, outcome: FaultOutcome) -> bool:
        """Return whether a fault reached no command on which the lock depends.

        The command was about other keys; or the lock was free by then; or the command went to one server of several.
        """
        keys, are_known = outcome.record.keys, not self.keys.isdisjoint(self.history.known)
        is_one_vote = self.sent_one_by_one and outcome.record.effect in OF_ONE_COMMAND
        return outcome.came_after_the_end or is_one_vote or (bool(keys) and are_known and self.keys.isdisjoint(keys))

    def _is_late(self, record: FaultRecord) -> bool:
        """Return whether a fault that acts on the holder's lease was done only after half of it.

        Then the lease may have ended before, and the fault may have changed nothing.
        """
        return record.effect in OF_A_LEASE and 2 * (record.done_ns - record.at_ns) > self.run.ttl_ns > 0

    def released(self, grant: Grant) -> None:
        self.sent_one_by_one |= self.run.has_votes and grant.release_commands >= MAJORITY
        for outcome in self.outcomes:
            outcome.released(grant)
            if grant.request == outcome.record.request and outcome.record.failpoint == f"{RELEASE}.{BEFORE_LAST}":
                outcome.came_after_the_end = self.history.went(grant.releasing_ns, outcome.record.at_ns, grant.key)
            if grant.request != outcome.record.request and grant.got_ns < outcome.record.recovered_ns < grant.writing_ns:
                since_ns = outcome.record.recovering_ns
                outcome.extended_anothers |= self.history.happened("expire", since_ns, grant.writing_ns, grant.key)
            if (grant.wrote is not None or grant.sold_out) and not grant.reentered:
                sent_ns = grant.sent_ns if self.run.has_votes and grant.commands else 0  # in a queue, the last command only reads
                # a lock with votes that a replica handed over without a command was granted before the fault
                asked_ns = grant.asked_ns if grant.commands or not self.run.has_votes else 0
                outcome.granted(grant.request, asked_ns, grant.got_ns, sent_ns)
            in_danger = outcome.during(grant.asked_ns) and not self._is_late(outcome.record)
            self.measures["asked_during_fault"] += grant.wrote is not None and in_danger
            in_acquire = outcome.record.phase == ACQUIRE and outcome.record.request != grant.request
            self.measures["released_before_a_wait"] += in_acquire and outcome.during(grant.releasing_ns)

    def renewed(self, replica: str, event: Renewed) -> None:
        for outcome in self.outcomes:
            outcome.renewed(replica, event.renewed_ns, succeeded=event.answer == "1")

    def close(self) -> None:
        """Compute the measures: all journals have been read."""
        measures, records = self.measures, [outcome.record for outcome in self.outcomes]
        measures["faults_beside"] = sum(map(self._is_beside, self.outcomes))
        measures["faults"] = len(records) - measures["faults_beside"]
        measures["clocks_moved"] = sum(record.clocks_moved for record in records if not self._is_late(record))
        for outcome in self.outcomes:
            past_ttl = outcome.record.recovered_ns - outcome.record.began_ns > self.run.ttl_ns
            measures["faults_past_ttl"] += past_ttl
            anew = 0 < outcome.got_ns < outcome.record.recovered_ns  # even if the resource refused its write
            measures["granted_anew"] += anew and outcome.record.effect in AT_THE_STORE
            if outcome.record.effect is Effect.STORE_SPLIT:
                measures["asked_on_each_side"] += min(outcome.asked_since_here, outcome.asked_since_there)
            measures["sessions_ended"] += outcome.record.sessions_ended
            measures["late_writes"] += outcome.record.late_writes
            measures["outlived_freezes"] += past_ttl and outcome.went_on_ns - outcome.record.at_ns > self.run.ttl_ns
            measures["resumed_beside_another"] += (
                past_ttl and outcome.went_on_ns > 0 and (outcome.held_at_its_end > 0 or not anew)
            )
            measures["late_releases"] += past_ttl and outcome.met_another and not outcome.came_after_the_end
