"""One pass over a history: everything that checks, verdicts and charts need to know about it.

The pass streams. What it keeps grows with the number of requests only by a few bytes each: a flag by request id (so that
the two witnesses can be compared), and one wait each (for exact quantiles).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from app.journal import AnyEvent, GaveUp, Got, Refusal, Released, Renewed, Writing, Wrote
from lab.account import Account, Ledger
from lab.history import ACKNOWLEDGED, FAILED, UNKNOWN, History
from lab.increment import Increment
from lab.losses import Losses
from lab.mechanism import Case, Truth, explain
from lab.strike import Strike

NEIGHBOURS = 256  # writes before and after a culprit's among which its victim is looked for
EXAMPLES = 5
BIN_NS = 20_000_000
WROTE, SEEN = 1, 2


@dataclass
class Findings:
    """What a history says. Times are nanoseconds; ``by_bin`` counts are per BIN_NS since ``origin_ns``."""

    outcomes: Counter[str] = field(default_factory=Counter)
    acknowledged_by_replica: Counter[str] = field(default_factory=Counter)
    origin_ns: int = 0
    end_ns: int = 0
    account: Account = field(default_factory=lambda: Account(0, 0, 0, 0, ""))
    losses: dict[str, Losses] = field(default_factory=dict)
    duplicated: int = 0
    duplicates: list[str] = field(default_factory=list)
    mismatches: list[str] = field(default_factory=list)
    overlapping_beliefs: int = 0
    renewals: int = 0
    gave_up: int = 0
    not_owner: int = 0
    measures: Counter[str] = field(default_factory=Counter)
    strikes: list[Strike] = field(default_factory=list)
    ttl_ms: int = 0
    nested: str = ""
    tests: str = ""
    users: int = 0
    idle_ns: array[int] = field(default_factory=lambda: array("q"))
    most_overtaken: int = 0
    waits_ns: array[int] = field(default_factory=lambda: array("q"))
    acknowledged_by_bin: Counter[int] = field(default_factory=Counter)
    unknown_by_bin: Counter[int] = field(default_factory=Counter)
    value_by_bin: dict[int, int] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        return self.outcomes.total()

    @property
    def duration_s(self) -> float:
        """From the first request's start to the last one's end."""
        return max(0, self.end_ns - self.origin_ns) / 1e9


Tell = Callable[[dict[str, Any]], object]


@dataclass(frozen=True)
class Circumstances:
    """What a pass must know of a run. ttl_ms: 0 without one. final: the counter in the end, None if it could not be read."""

    has_store: bool
    final: int | None
    ttl_ms: int = 0
    retry_ms: int = 30
    start: int = 0
    nested: str = ""
    store_persists: bool = False
    tests: str = ""
    users: int = 0


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
        strikes = sorted(history.strikes(), key=lambda strike: strike.at_ns)
        self.findings = Findings(strikes=strikes, ttl_ms=about.ttl_ms, nested=about.nested, tests=about.tests, users=about.users)
        self.strikes = strikes
        self.findings.measures["struck"] = len(strikes)
        self.has_store = about.has_store
        self.store_persists = about.store_persists
        self.ttl_ns = about.ttl_ms * 1_000_000
        self.retry_ns = about.retry_ms * 1_000_000
        self.tell = tell
        self.ledger = Ledger(about.start)
        self.truth = Truth(history)
        self.open: dict[tuple[str, str, int], Increment] = {}
        self.latest: dict[str, Increment] = {}  # key → who got it last
        self.gots: dict[str, list[int]] = {}  # key → when it was got, for overlaps
        self.writes: deque[Increment] = deque()  # the last 2 × NEIGHBOURS, so that a culprit sees both sides
        self.renewed_ns: dict[str, int] = {}  # replica → when it last renewed anything
        self.unconfirmed: list[Increment] = []  # over, with an error where the answer to their write should have come
        self.releases: deque[Increment] = deque(maxlen=4 * NEIGHBOURS)
        self.asked_before: list[int] = []  # of all grants so far, where fairness is the question
        self.judged = 0  # how many of them have been looked at
        self.state: dict[str, int] = {}  # request id → WROTE, SEEN
        self.parts: dict[str, int] = {}  # what each part of the counter holds
        self.values_at: dict[int, int] = {}

    def read_journals(self, events: Iterable[tuple[str, AnyEvent]]) -> None:
        reactions: dict[type, Callable[[str, Any], None]] = {
            Got: self.got,
            Writing: self.writing,
            Wrote: self.wrote,
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
        self.findings.waits_ns.append(one.got_ns - one.asked_ns)
        for strike in self.strikes:
            if not strike.next_got_ns and strike.at_ns < one.got_ns and strike.request != one.request:
                strike.next_got_ns, strike.next_request = one.got_ns, one.request
            self.findings.measures["asked_while_struck"] += strike.at_ns < one.asked_ns < strike.healed_ns
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
        self.ledger.write(event.value, event.overwrote)
        self.parts[event.part] = event.value
        self.values_at[event.wrote_ns // BIN_NS] = sum(self.parts.values())
        if self.state.get(event.request, 0) & WROTE:
            self.findings.duplicated += 1
            if len(self.findings.duplicates) < EXAMPLES:
                self.findings.duplicates.append(event.request)
        self.state[event.request] = WROTE
        self.writes.append(one)
        if len(self.writes) - self.judged > NEIGHBOURS:
            self.judge_next_write()
        if len(self.writes) > 2 * NEIGHBOURS:
            self.writes.popleft()
            self.judged -= 1

    def refused(self, replica: str, event: Refusal) -> None:
        self.findings.measures["refused"] += 1
        if one := self.open.get((replica, event.request, event.turn)):
            one.refused = True

    def released(self, replica: str, event: Released) -> None:
        one = self.open.pop((replica, event.request, event.turn), None)
        if one is None:
            return
        one.released(event)
        self.unconfirmed += [one] * one.intended
        self.releases.append(one)
        self.findings.not_owner += event.result == "not_owner"
        for strike in self.strikes:
            if strike.request == one.request:
                strike.went_on_ns = one.released_ns
        if one.successor is not None:
            self.handed_over(one)
        if one.key:
            self.overlaps(one)
        if self.ttl_ns and one.releasing_ns - one.got_ns > self.ttl_ns:
            self.findings.measures["outlasted_ttl"] += 1
            one.outlived = one.releasing_ns - max(one.got_ns, self.renewed_ns.get(replica, 0)) > self.ttl_ns
        if one.robbed:
            self.robbed_by(one)

    def robbed_by(self, thief: Increment) -> None:
        """It had lost its lock and deleted one all the same: whoever holds it now has lost it in turn."""
        for one in self.open.values():
            if one.key == thief.key and one.got_ns < thief.released_ns:
                one.outlived = True

    def gave_up(self, replica: str, event: GaveUp) -> None:
        self.findings.gave_up += 1

    def renewed(self, replica: str, event: Renewed) -> None:
        self.findings.renewals += 1
        self.renewed_ns[replica] = event.renewed_ns
        for strike in self.findings.strikes:
            strike.renewals += strike.replica == replica and strike.at_ns < event.renewed_ns < strike.healed_ns

    def handed_over(self, one: Increment) -> None:
        """``one`` is over and has a successor: was that one already waiting?"""
        after, one.successor = one.successor, None
        if after is not None and after.asked_ns < one.releasing_ns:
            self.findings.idle_ns.append(max(0, after.got_ns - one.releasing_ns))
            self.findings.measures["handovers"] += 1
            if after.replica != one.replica:
                self.findings.measures["handovers_between_replicas"] += 1

    def overtaken(self, one: Increment) -> None:
        """How many who had asked later got it before."""
        later = sum(asked_ns > one.asked_ns for asked_ns in self.asked_before)
        self.findings.most_overtaken = max(self.findings.most_overtaken, later)
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

    def judge_next_write(self) -> None:
        culprit = self.writes[self.judged]
        self.judged += 1
        destroyed = culprit.destroyed
        if destroyed == 0:
            return
        victim = self.victim_of(culprit, self.judged - 1)
        mechanism = explain(
            Case(culprit, victim, self.has_store, self.truth, self.releases, self.findings.strikes, self.store_persists)
        )
        losses = self.findings.losses.setdefault(mechanism.name, Losses())
        if destroyed > 0:
            losses.destroyed += destroyed
            losses.writes += 1
        else:
            losses.restored -= destroyed
        about = {
            "destroyed": destroyed,
            "mechanism": mechanism.name,
            "culprit": culprit.facts(),
            "victim": victim and victim.facts(),
        }
        if len(losses.examples) < EXAMPLES and destroyed > 0:
            losses.examples.append(about)
        if self.tell is not None:
            self.tell(about)

    def victim_of(self, culprit: Increment, place: int) -> Increment | None:
        """Whose value the culprit found: a neighbour that left it, and whose write fell between the culprit's read and write.

        Earlier ones first; a later one is later by its stamp only, when a thread was held up between answer and stamp.
        """
        earlier = range(place - 1, max(-1, place - NEIGHBOURS - 1), -1)
        later = range(place + 1, min(len(self.writes), place + NEIGHBOURS + 1))
        for index in chain(earlier, later):
            one = self.writes[index]
            if (
                (one.wrote, one.part) == (culprit.overwrote, culprit.part)
                and one.wrote_ns > culprit.reading_ns
                and one.read_ns < culprit.wrote_ns
            ):
                return one
        return None

    def close(self, final: int | None) -> None:
        """The journals are read: settle what is still open."""
        measures = self.findings.measures
        measures["waited"] = sum(wait_ns >= self.retry_ns for wait_ns in self.findings.waits_ns)
        measures["tries"] = len(self.findings.waits_ns) + self.findings.gave_up
        for strike in self.findings.strikes:
            past_ttl = strike.healed_ns - strike.at_ns > self.ttl_ns
            measures["struck_past_ttl"] += past_ttl
            measures["sessions_ended"] += strike.sessions_ended
            measures["outlived_freezes"] += past_ttl and strike.went_on_ns - strike.at_ns > self.ttl_ns
            measures["late_releases"] += past_ttl and (0 < strike.next_got_ns < strike.healed_ns or strike.renewals > 0)
        while self.judged < len(self.writes):
            self.judge_next_write()
        intended = [one.value for one in (*self.unconfirmed, *self.open.values()) if one.intended and one.value is not None]
        self.findings.account = self.ledger.close(final, intended)

    def read_requests(self, history: History) -> None:
        findings, state = self.findings, self.state
        first_ns, last_ns, matched = 0, 0, 0
        ends: Counter[tuple[str, int]] = Counter()
        for request in history.requests():
            outcome = request.outcome
            findings.outcomes[outcome] += 1
            wrote = state.get(request.id, 0)
            matched += bool(wrote)
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
        if strangers := len(state) - matched:
            self.mismatch(f"{strangers} requests wrote that the load never sent or never heard the end of")
        findings.origin_ns, findings.end_ns = first_ns, last_ns
        self.draw_curves(ends)
        if acknowledged := findings.outcomes[ACKNOWLEDGED]:
            least = min((findings.acknowledged_by_replica[name] for name in history.replicas), default=0)
            findings.measures["least_share_percent"] = 100 * least // acknowledged

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
