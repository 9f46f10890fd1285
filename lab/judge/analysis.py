"""One pass over a history, from its lines to its findings.

The pass streams. What it keeps grows with the number of requests only by a few bytes each: a flag by request id (so that
the two witnesses can be compared), and one wait each (for exact quantiles).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from heapq import nlargest
from operator import itemgetter
from typing import Any

import msgspec

from app.journal import AnyEvent, GaveUp, Got, Refusal, Released, Renewed, Writing, Wrote, WroteAgain
from lab.evidence.fault_effect import Effect
from lab.evidence.history import ACKNOWLEDGED, FAILED, UNKNOWN, History
from lab.judge.attribution import EXAMPLES, Blame, Tell
from lab.judge.concurrency import BIN_NS
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.findings import Circumstances, Findings
from lab.judge.grant import Increment
from lab.judge.ledger import Books
from lab.judge.mechanisms import Truth
from lab.judge.waits import Idle, Overtaken, Repeated, Wait, short


def examine(history: History, about: Circumstances, tell: Tell | None = None) -> Findings:
    """Read the whole history once.

    tell: is given each write that destroyed increments, as plain data. Raises Damaged.
    """
    pass_ = _Pass(history, about, tell)
    pass_.read_journals(history.events())
    pass_.close(about.final)
    pass_.read_requests(history)
    return pass_.findings


class _Pass:
    """The state of the pass."""

    def __init__(self, history: History, about: Circumstances, tell: Tell | None) -> None:
        self.faults = [FaultOutcome(record) for record in sorted(history.faults(), key=lambda record: record.at_ns)]
        self.findings = Findings(
            faults=self.faults, ttl_ms=about.ttl_ms, nested=about.nested, tests=about.tests, users=about.users
        )
        self.findings.measures["struck"] = len(self.faults)
        self.findings.measures["clocks_moved"] = sum(fault.record.clocks_moved for fault in self.faults)
        self.ttl_ns = about.ttl_ms * 1_000_000
        self.findings.retry_ms = about.retry_ms
        self.retry_ns = about.retry_ms * 1_000_000
        self.books = Books(about.start)
        self.nested = about.nested
        self.blame = Blame(Truth(history), about.has_store, about.store_persists, self.faults, tell)
        self.unconfirmed: list[Increment] = []  # over, with an error where the answer to their write should have come
        self.open: dict[tuple[str, str, int], Increment] = {}
        self.latest: dict[str, Increment] = {}  # key → who got it last
        self.gots: dict[str, list[int]] = {}  # key → when it was got, for overlaps
        self.renewed_ns: dict[str, int] = {}  # replica → when it last renewed anything
        self.asked_before: list[int] = []  # of all grants so far, where fairness is the question
        self.wrote_times: dict[str, int] = {}  # by request id
        self.parts: dict[str, int] = {}  # what each part of the counter holds
        self.values_at: dict[int, int] = {}
        self.longest_ns = self.most_idle_ns = -1

    def read_journals(self, events: Iterable[tuple[str, AnyEvent]]) -> None:
        reactions: dict[type, Callable[[str, Any], None]] = {
            Got: self.got,
            Writing: self.writing,
            Wrote: self.wrote,
            WroteAgain: self.wrote_again,
            Refusal: self.refused,
            Released: self.released,
            GaveUp: self.gave_up,
            Renewed: self.renewed,
        }
        for replica, event in events:
            if (reaction := reactions.get(type(event))) is not None:
                reaction(replica, event)

    def got(self, replica: str, event: Got) -> None:
        one = Increment(replica, event)
        self.open[replica, event.request, event.turn] = one
        self.findings.sent += event.commands
        wait_ns = one.got_ns - one.asked_ns
        self.findings.waits_ns.append(wait_ns)
        if wait_ns > self.longest_ns:
            self.longest_ns = wait_ns
            self.findings.longest = Wait(one.request, replica, one.asked_ns, one.got_ns, got=True, wanted=short(one.key))
        self.findings.crowd.last_got_ns = one.got_ns
        if one.turn == 1:  # who does the work again has not waited since it asked
            self.findings.crowd.waiting.stay(one.asked_ns, one.got_ns)
        for fault in self.faults:
            fault.granted(one.request, replica, one.got_ns)
            self.findings.measures["asked_while_struck"] += fault.during(one.asked_ns)
        if self.findings.tests == "fair":
            self.overtaken(one)
        before = self.latest.get(one.key)
        if before is not None:
            before.successor = one
            if before.releasing_ns:
                self.handed_over(before)
        self.latest[one.key] = one
        self.gots.setdefault(one.key, []).append(one.got_ns)

    def writing(self, replica: str, event: Writing) -> None:
        if one := self.open.get((replica, event.request, event.turn)):
            one.writing(event)

    def wrote(self, replica: str, event: Wrote) -> None:
        one = self.open.get((replica, event.request, event.turn))
        if one is None:
            return
        one.wrote_it(event)
        self.books.write(event.part, event.value, event.overwrote)
        self.parts[event.part] = event.value
        self.values_at[event.wrote_ns // BIN_NS] = sum(self.parts.values())
        times = self.wrote_times.get(event.request, 0)
        self.findings.duplicated += times > 0
        self.wrote_times[event.request] = times + 1
        self.blame.wrote(one)

    def refused(self, replica: str, event: Refusal) -> None:
        self.findings.measures["refused"] += 1
        if one := self.open.get((replica, event.request, event.turn)):
            one.refused = True
            if one.wrote is not None:
                self.half_done(one, event.why)

    def wrote_again(self, replica: str, event: WroteAgain) -> None:
        one = self.open.get((replica, event.request, event.turn))
        if one is not None and event.overwrote >= event.value:
            self.half_done(one, f"its receipt {event.value} was written over {event.overwrote}")

    def half_done(self, one: Increment, how: str) -> None:
        self.findings.measures["half_done"] += 1
        if len(self.findings.half_done) < EXAMPLES:
            self.findings.half_done.append(msgspec.to_builtins(one.facts()) | {"how": how})

    def released(self, replica: str, event: Released) -> None:
        one = self.open.pop((replica, event.request, event.turn), None)
        if one is None:
            return
        one.released(event)
        self.findings.sent += event.commands
        self.unconfirmed += [one] * one.intended
        self.blame.released(one)
        self.findings.crowd.inside.stay(one.got_ns, one.releasing_ns)
        self.findings.not_owner += event.result == "not_owner"
        for fault in self.faults:
            fault.released(one.request, one.released_ns)
        if one.successor is not None:
            self.handed_over(one)
        if one.key:
            self.overlaps(one)
        if self.ttl_ns and one.releasing_ns - one.got_ns > self.ttl_ns:
            self.findings.measures["outlasted_ttl"] += 1
            one.outlived |= one.releasing_ns - max(one.got_ns, self.renewed_ns.get(replica, 0)) > self.ttl_ns
        if one.robbed:
            self.findings.thefts += 1
            self.robbed_by(one)
        if self.nested == "same" and one.found_nothing and not (self.ttl_ns and one.releasing_ns - one.asked_ns > self.ttl_ns):
            self.findings.freed_early += 1
            self.findings.freed_first = self.findings.freed_first or one

    def robbed_by(self, thief: Increment) -> None:
        """It had lost its lock and deleted one all the same: whoever holds it now has lost it in turn."""
        for one in self.open.values():
            if one.key == thief.key and one.got_ns < thief.released_ns:
                one.outlived = True

    def gave_up(self, replica: str, event: GaveUp) -> None:
        self.findings.gave_up += 1
        if event.why in self.findings.whys or len(self.findings.whys) < EXAMPLES:
            self.findings.whys[event.why] += 1
        self.findings.sent += event.commands
        self.findings.in_vain_ns.append(event.gave_up_ns - event.asked_ns)
        if len(self.findings.in_vain) < EXAMPLES:
            keys = short(event.wanted), short(event.holding)
            self.findings.in_vain.append(Wait(event.request, replica, event.asked_ns, event.gave_up_ns, False, *keys))
        self.findings.crowd.waiting.stay(event.asked_ns, event.gave_up_ns)

    def renewed(self, replica: str, event: Renewed) -> None:
        self.findings.renewals += 1
        succeeded = event.answer == "1"
        if succeeded:  # a renewal that failed prolongs nothing
            self.renewed_ns[replica] = event.renewed_ns
        for fault in self.faults:
            fault.renewed(replica, event.renewed_ns, succeeded)

    def handed_over(self, one: Increment) -> None:
        """``one`` is over and has a successor: was that one already waiting?"""
        after, one.successor = one.successor, None
        if after is not None and after.asked_ns < one.releasing_ns:
            idle_ns = max(0, after.got_ns - one.releasing_ns)
            self.findings.idle_ns.append(idle_ns)
            if idle_ns > self.most_idle_ns:
                self.most_idle_ns = idle_ns
                self.findings.idlest = Idle(one.request, after.request, one.releasing_ns, after.got_ns)
            self.findings.measures["handovers"] += 1
            if after.replica != one.replica:
                self.findings.measures["handovers_between_replicas"] += 1

    def overtaken(self, one: Increment) -> None:
        """How many who had asked later got it before."""
        later = sum(asked_ns > one.asked_ns for asked_ns in self.asked_before)
        if later > (self.findings.overtaken.overtaken if self.findings.overtaken else 0):
            self.findings.overtaken = Overtaken(one.request, one.replica, later, one.asked_ns, one.got_ns)
        self.asked_before.append(one.asked_ns)

    def overlaps(self, one: Increment) -> None:
        """Did anybody else get the key while ``one`` believed to hold it?"""
        gots = self.gots[one.key]
        if bisect_left(gots, one.releasing_ns) > bisect_right(gots, one.got_ns):
            self.findings.overlapping_beliefs += 1
            one.outlived = True
        if len(gots) > 4096:
            oldest_ns = min((other.got_ns for other in self.open.values()), default=gots[-1])
            del gots[: max(0, min(bisect_left(gots, oldest_ns), len(gots) - 1))]

    def close(self, final: dict[str, int] | None) -> None:
        """The journals are read: settle what is still open."""
        measures = self.findings.measures
        measures["waited"] = sum(wait_ns >= self.retry_ns for wait_ns in self.findings.waits_ns)
        measures["turned_away"] = self.findings.gave_up
        measures["tries"] = len(self.findings.waits_ns) + self.findings.gave_up
        for fault in self.faults:
            past_ttl = fault.lasted_longer_than(self.ttl_ns)
            granted_meanwhile = 0 < fault.next_got_ns < fault.record.recovered_ns
            measures["struck_past_ttl"] += past_ttl
            measures["sessions_ended"] += fault.record.sessions_ended
            measures["outlived_freezes"] += past_ttl and fault.went_on_ns - fault.record.at_ns > self.ttl_ns
            measures["late_releases"] += past_ttl and (granted_meanwhile or fault.renewals > 0)
        if self.findings.duplicated:
            most = nlargest(EXAMPLES, self.wrote_times.items(), key=itemgetter(1))
            self.findings.repeated = [Repeated(request, times) for request, times in most if times > 1]
        self.blame.close()
        self.findings.losses = self.blame.losses
        left = (*self.unconfirmed, *self.open.values())
        intended = [one.value for one in left if one.intended and one.value is not None]
        self.findings.account = self.books.close(final, intended)

    def read_requests(self, history: History) -> None:
        findings, wrote_times = self.findings, self.wrote_times
        first_ns, last_ns, matched = 0, 0, 0
        ends: Counter[tuple[str, int]] = Counter()
        for request in history.requests():
            outcome = request.outcome
            findings.outcomes[outcome] += 1
            wrote = wrote_times.get(request.id, 0)
            if wrote:
                matched += 1
            if outcome == ACKNOWLEDGED:
                findings.acknowledged_by_replica[request.replica] += 1
                if not wrote:
                    self.mismatch(f"{request.id} was acknowledged, but no replica wrote for it")
            elif outcome == FAILED and wrote:
                self.mismatch(f"{request.id} was refused with {request.status}, but a replica wrote for it")
            ends[outcome, request.end_ns // BIN_NS] += 1
            if not first_ns or request.start_ns < first_ns:
                first_ns = request.start_ns
            last_ns = max(last_ns, request.end_ns)
            findings.crowd.on_the_way.stay(request.start_ns, request.end_ns)
        if strangers := len(wrote_times) - matched:
            self.mismatch(f"{strangers} requests wrote that the load never sent or never heard the end of")
        findings.origin_ns, findings.end_ns = first_ns, last_ns
        self.end_the_open(last_ns)
        self.draw_curves(ends)
        findings.measure_shares(history.replicas)

    def end_the_open(self, last_ns: int) -> None:
        """Who never let go was inside until its process was killed, or else until the end."""
        for one in self.open.values():
            killed = (fault.record for fault in self.faults if fault.record.effect is Effect.PROCESS_DIES)
            deaths = (record.at_ns for record in killed if record.replica == one.replica)
            death_ns = min((at_ns for at_ns in deaths if at_ns >= one.got_ns), default=last_ns)
            self.findings.crowd.inside.stay(one.got_ns, max(one.got_ns, death_ns))

    def draw_curves(self, ends: Counter[tuple[str, int]]) -> None:
        """Put what ended when, and what the counter held when, on one time axis that starts with the first request."""
        findings, origin = self.findings, self.findings.origin_ns // BIN_NS
        for (outcome, at), number in ends.items():
            if outcome == ACKNOWLEDGED:
                findings.acknowledged_by_bin[at - origin] += number
            elif outcome == UNKNOWN:
                findings.unknown_by_bin[at - origin] += number
        findings.value_by_bin = {at - origin: value for at, value in sorted(self.values_at.items())}

    def mismatch(self, what: str) -> None:
        if len(self.findings.mismatches) < EXAMPLES:
            self.findings.mismatches.append(what)
