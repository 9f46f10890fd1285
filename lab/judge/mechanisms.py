"""Why an increment was lost: the first mechanism, in the order below, that explains the two increments involved.

The *culprit* wrote over the *victim*: its write came after the victim's, its read before. Each mechanism is read off the
evidence (what the two sent to the lock's store, what the store told of its keys), never off the stage's name, and belongs
to the claim that it breaks.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from app.lock import Claim
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.evidence.history import History
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.grant import Increment


class Truth:
    """What the lock's store told of its keys, read only when something has to be explained."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._times: dict[str, list[int]] | None = None
        self._locked: set[str] = set()

    def granted_over(self, since_ns: int, until_ns: int) -> bool:
        """Whether a key was set over a living one in that time: the order of the store's words is exact."""
        return self.told("set over", since_ns, until_ns)

    def told(self, event: str, since_ns: int, until_ns: int) -> bool:
        """Whether the store told of such an event in that time, as far as the lab's hearing goes (it is late, never early)."""
        times = self._read().get(event, [])
        return bisect_right(times, until_ns) > bisect_left(times, since_ns)

    def keys_locked(self) -> int:
        """How many different keys were ever locked."""
        self._read()
        return len(self._locked)

    def _read(self) -> dict[str, list[int]]:
        if self._times is None:
            self._times = {}
            living: set[tuple[str, str]] = set()
            for told in self._history.key_events():
                here = (told.node, told.key)
                event = "set over" if told.event == "set" and here in living else told.event
                self._times.setdefault(event, []).append(told.at_ns)
                if told.event in ("set", "hincrby"):
                    self._locked.add(told.key)
                    living.add(here)
                elif told.event in ("del", "expired"):
                    living.discard(here)
        return self._times


@dataclass(slots=True)  # and not frozen, which would make it three times as slow: a run can have a million of them
class Case:
    """One lost increment (or more, by one write) to be explained.

    victim: None where the evidence does not name it. releases: who let go around that time. faults: those of the run.
    """

    culprit: Increment
    victim: Increment | None
    has_store: bool
    truth: Truth
    releases: Sequence[Increment] = ()
    faults: Sequence[FaultOutcome] = ()
    store_persists: bool = False

    @property
    def both(self) -> tuple[Increment, ...]:
        return (self.culprit, self.victim) if self.victim else (self.culprit,)

    @property
    def first_got_ns(self) -> int:
        """When the earlier of the two got the lock."""
        return min(one.got_ns for one in self.both)

    @property
    def second_got_ns(self) -> int:
        """When the later of the two got it as well: the first one's lock had ended by then, whatever ended it."""
        return max(one.got_ns for one in self.both)

    def records(self, effect: Effect) -> Iterator[FaultRecord]:
        """Return the records of the faults that had this effect."""
        return (fault.record for fault in self.faults if fault.record.effect is effect)


LAST_FAILPOINT = "write.before"
STAMPED_WITHIN_NS = 50_000_000  # a busy thread stamps what it was given late
HEARD_WITHIN_NS = 200_000_000  # an expiry is told up to 100 ms late, and the lab may be late in hearing of it


def _no_lock(case: Case) -> bool:
    return not case.has_store and not _across(case) and any(not one.key for one in case.both)


def _no_lock_across(case: Case) -> bool:
    return not case.has_store and any(not one.key for one in case.both)


def _process_local(case: Case) -> bool:
    return not case.has_store and _across(case)


def _broken_local(case: Case) -> bool:
    return not case.has_store


def _across(case: Case) -> bool:
    return case.victim is None or case.victim.replica != case.culprit.replica


def _never_asked(case: Case) -> bool:
    return any(one.commands == 0 for one in case.both)


def _let_go_early(case: Case) -> bool:
    return any(one.released_ns and one.release_commands == 0 and one.result == "ok" for one in case.both)


def _frozen(case: Case) -> bool:
    """One of the two was stopped between getting the lock and writing, and not at a failpoint after its last look."""
    stopped = [record for record in case.records(Effect.PROCESS_STOPS) if record.failpoint != LAST_FAILPOINT]
    return any(_inside_during(record, one) for record in stopped for one in case.both)


def _frozen_late(case: Case) -> bool:
    stopped = [record for record in case.records(Effect.PROCESS_STOPS) if record.failpoint == LAST_FAILPOINT]
    return any(_inside_during(record, one) for record in stopped for one in case.both)


def _inside_during(record: FaultRecord, one: Increment) -> bool:
    """Return whether a request was inside during a fault of its replica: the request at the failpoint, or another one."""
    return one.replica == record.replica and one.got_ns < record.recovered_ns and record.at_ns < one.wrote_ns


def _to_one_of_them(case: Case, effect: Effect) -> bool:
    """Return whether one of the two was inside during such a fault of its replica."""
    return any(_inside_during(record, one) for record in case.records(effect) for one in case.both)


def _while_held(case: Case, effect: Effect) -> bool:
    """Return whether such a fault lasted at some moment after the first of the two got the lock and before the second did."""
    return any(case.first_got_ns < record.recovered_ns and record.at_ns < case.second_got_ns for record in case.records(effect))


def _store_silent(case: Case) -> bool:
    return _while_held(case, Effect.STORE_SILENT)


def _store_forgot_what_it_wrote(case: Case) -> bool:
    return case.store_persists and _store_forgot(case)


def _store_forgot(case: Case) -> bool:
    return _while_held(case, Effect.STORE_RESTARTS)


def _replaced(case: Case) -> bool:
    """The store died and its replica took over while the first of the two was inside."""
    return _while_held(case, Effect.PRIMARY_DIES)


def _clock_leapt(case: Case) -> bool:
    return _while_held(case, Effect.CLOCKS_JUMP)


def _forgot_its_vote_on_disk(case: Case) -> bool:
    return case.store_persists and _forgot_its_vote(case)


def _forgot_its_vote(case: Case) -> bool:
    return _while_held(case, Effect.SERVERS_RESTART)


def _leader_died(case: Case) -> bool:
    """The server that led the store died, and another was elected, while the first of the two was inside."""
    return _while_held(case, Effect.LEADER_DIES)


def _between_look_and_delete(case: Case) -> bool:
    """A third one was held up in its release until its lease had run out, and then deleted something."""
    held_up = {record.request for record in case.records(Effect.REQUEST_WAITS) if record.phase == "release"}
    return any(
        one.request in held_up
        and one.answer == "1"
        and case.first_got_ns < one.released_ns
        and one.releasing_ns < case.second_got_ns
        for one in case.releases
        if one not in case.both
    )


def _session_ended(case: Case) -> bool:
    """One of the two was inside while its replica's session ended."""
    return _to_one_of_them(case, Effect.SESSION_ENDS)


def _cut_off(case: Case) -> bool:
    """One of the two was inside while its replica could not reach the store."""
    return _to_one_of_them(case, Effect.CUT_OFF)


def _told_no(case: Case) -> bool:
    """One of the two went in although the store had answered that nothing was set: it was there already."""
    return any(one.told_no for one in case.both)


def _told_no_here(case: Case) -> bool:
    return _told_no(case) and not _across(case)


def _worked_again(case: Case) -> bool:
    return any(one.turn > 1 for one in case.both)


def _worked_again_here(case: Case) -> bool:
    return _worked_again(case) and not _across(case)


def _granted_over(case: Case) -> bool:
    since_ns = min(one.asked_ns for one in case.both)  # the store grants some time before a thread stamps that it got
    return case.truth.granted_over(since_ns, case.second_got_ns + HEARD_WITHIN_NS)


def _deleted_by_another(case: Case) -> bool:
    """A third one, who had lost its own lock, let go around the time the first of the two held it, and something was deleted.

    A release belongs to the time from when it is sent to when it is answered; and a grant is stamped some time after the
    store has given it.
    """
    since_ns = case.first_got_ns - STAMPED_WITHIN_NS
    return any(
        one.robbed and one.released_ns > since_ns and one.releasing_ns < case.second_got_ns and one not in case.both
        for one in case.releases
    )


def _expired(case: Case) -> bool:
    nested = len({one.key for one in case.both}) > 1  # the outer lock can run out while the inner one is waited for
    since_ns = min(one.asked_ns for one in case.both) if nested else case.first_got_ns - STAMPED_WITHIN_NS
    return case.truth.told("expired", since_ns, case.second_got_ns + HEARD_WITHIN_NS)


def _different_keys(case: Case) -> bool:
    return case.truth.keys_locked() > 1


@dataclass(frozen=True)
class Mechanism:
    """name: as verdicts and charts call it. claim: the promise it breaks. explains: whether it fits a case."""

    name: str
    claim: Claim
    explains: Callable[[Case], bool]


UNEXPLAINED = "unexplained"
UNREAD = "wrote over what it had not read"
MECHANISMS = (
    Mechanism(UNREAD, Claim.exclusive, lambda case: False),  # where nobody can say why: lab/judge/analysis_without_clock.py
    Mechanism("no lock", Claim.exclusive_in_process, _no_lock),
    Mechanism("no lock between replicas", Claim.exclusive, _no_lock_across),
    Mechanism("process-local lock", Claim.exclusive, _process_local),
    Mechanism("granted twice in one process", Claim.exclusive_in_process, _broken_local),
    Mechanism("worked again without the lock, in one process", Claim.exclusive_in_process, _worked_again_here),
    Mechanism("worked again without the lock", Claim.exclusive, _worked_again),
    Mechanism("went in though the store had said no, in one process", Claim.exclusive_in_process, _told_no_here),
    Mechanism("went in though the store had said no", Claim.exclusive, _told_no),
    Mechanism("never asked the store", Claim.exclusive, _never_asked),
    Mechanism("let go before the end of the work", Claim.held_to_the_end, _let_go_early),
    Mechanism("stopped after its last look", Claim.survives_a_late_freeze, _frozen_late),
    Mechanism("stopped until its lease had run out", Claim.survives_a_freeze, _frozen),
    Mechanism("the store was silent for longer than the TTL", Claim.stops_when_lost, _store_silent),
    Mechanism("cut off from the store for longer than the TTL", Claim.stops_when_lost, _cut_off),
    Mechanism("the store had forgotten what it wrote", Claim.survives_persisted_restart, _store_forgot_what_it_wrote),
    Mechanism("the store had forgotten the lock", Claim.survives_store_restart, _store_forgot),
    Mechanism("the new primary had not heard of the lock", Claim.survives_failover, _replaced),
    Mechanism("the store's clock had leapt past the TTL", Claim.survives_clock_jump, _clock_leapt),
    Mechanism("a server had forgotten the vote on its disk", Claim.survives_persisted_amnesia, _forgot_its_vote_on_disk),
    Mechanism("a server had forgotten its vote", Claim.survives_amnesia, _forgot_its_vote),
    Mechanism("the new leader had not heard of the lock", Claim.survives_failover, _leader_died),
    Mechanism("its session ended in the work", Claim.survives_session_loss, _session_ended),
    Mechanism("granted twice", Claim.exclusive, _granted_over),
    Mechanism("expired between look and delete", Claim.releases_atomically, _between_look_and_delete),
    Mechanism("deleted by another", Claim.releases_only_its_own, _deleted_by_another),
    Mechanism("the TTL ran out in the work", Claim.held_to_the_end, _expired),
    Mechanism("locked different keys", Claim.exclusive, _different_keys),
    Mechanism(UNEXPLAINED, Claim.exclusive, lambda case: True),
)


def explain(case: Case) -> Mechanism:
    """The first that fits; the last fits everything."""
    return next(mechanism for mechanism in MECHANISMS if mechanism.explains(case))
