"""Tell a loss, or a lock that stayed taken, in at most six steps: happenings of two holders, the lock and the counter.

Holder A got the lock first, and holder B later. Everything comes from the run's timeline: the loss, the grants of A and B, the
faults, and the reports of the lock's store. So a kept run has its steps as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from operator import itemgetter
from typing import NamedTuple

from msgspec.structs import replace

from lab.evidence.fault_record import OF_THE_STORE, Effect
from lab.evidence.loss import Mechanism
from lab.story.happening import Happening, Kind
from lab.story.timeline import FORGOTTEN, NEVER, RECEIVED_WITHIN_US, DrawnFault, DrawnGrant, DrawnLoss, Timeline, Waited, began

MOST = 6  # steps
# a third request lost its own lock before its release
LATE_RELEASE = (Mechanism.DELETED_BY_ANOTHER, Mechanism.EXPIRED_BETWEEN_CHECK_AND_DELETE)
# one of the two was granted nothing, and the timeline does not show which of them
NOT_GRANTED = (Mechanism.WORKED_AGAIN_WITHOUT_LOCK, Mechanism.ENTERED_ALTHOUGH_REFUSED, Mechanism.NEVER_ASKED_STORE)
# effects whose words name a request, and a replica
OF_A_REQUEST = (Effect.PROCESS_STOPS, Effect.REQUEST_WAITS, Effect.WRITE_DELAYED)
OF_A_REPLICA = (Effect.RENEWAL_FAILS, Effect.CUT_OFF, Effect.SESSION_ENDS, Effect.STORE_SPLIT)
IN_RELEASE, AFTER_CHECK = "request_waits_in_release", "request_waits_after_check"
# the ranks of happenings: if there are too many, the one with the largest rank is left out first
WRITE, AT_THE_LOCK, READ, GOT, FAULT, VICTIMS_READ, OTHER_FAULT = range(7)

# the happenings that A or B causes: alone, at the lock, or at the counter
ALONE = (Kind.CAME_IN, Kind.CAME_IN_AS_WELL, Kind.GAVE_UP_WAITING)
FROM_LOCK = (Kind.GRANTED, Kind.GRANTED_AS_WELL, Kind.GRANTED_LOCALLY, Kind.GRANTED_BY_VOTES, Kind.NEXT_GOT)
WRITES = (Kind.WROTE, Kind.DESTROYED, Kind.NO_GROWTH)
OWN = (*ALONE, *FROM_LOCK, *WRITES, Kind.ASKED, Kind.READ)
# the write that destroyed increments, or how a wait for a lock that stayed taken ended
HARM = (Kind.DESTROYED, Kind.NO_GROWTH, Kind.GAVE_UP_WAITING, Kind.NEXT_GOT)
# happenings that show that A has lost its votes, or its lock
LOST_VOTES = (Kind.VOTES_FORGOTTEN, Kind.VOTES_LAPSED)
LOST_LOCK = (Kind.LEASE_ENDED, Kind.DELETED_LATE, Kind.DELETED_OTHERS, Kind.GOT_MEANWHILE, *LOST_VOTES)


class Line(StrEnum):
    """A lifeline, from the left to the right."""

    A = "A"
    LOCK = "lock"
    # a request that is neither A nor B: it deletes A's lock, or gets the lock before B
    THIRD = "third"
    B = "B"
    COUNTER = "counter"


# one thing that happened, or several that one holder did with nothing in between
Step = tuple[Happening, ...]
Ranked = tuple[int, Happening]


def holder(happening: Happening) -> Line | None:
    """Return which of the two holders causes a happening; None if neither does."""
    return Line(happening.actor) if happening.kind in OWN else None


def lines_of(happening: Happening) -> tuple[Line, Line]:
    """Return the lifelines from which and to which a happening goes; twice the same one if it happens at one lifeline."""
    own, kind = holder(happening), happening.kind
    if own is not None:
        source = Line.LOCK if kind in FROM_LOCK else Line.COUNTER if kind is Kind.READ else own
        return source, Line.COUNTER if kind in WRITES else Line.LOCK if kind is Kind.ASKED else own
    if kind in (Kind.DELETED_LATE, Kind.DELETED_OTHERS):
        return Line.THIRD, Line.LOCK
    if kind is Kind.GOT_MEANWHILE:
        return Line.LOCK, Line.THIRD
    line = Line.COUNTER if kind is Kind.RESTORED else Line.LOCK
    if kind in (Kind.FAULT, Kind.FAULT_ANYWHERE) and happening.effect not in OF_THE_STORE:
        known = Line(happening.actor) if happening.actor in (Line.A, Line.B) else Line.THIRD if happening.actor else line
        line = Line.A if happening.effect == Effect.RENEWAL_FAILS else known
    return line, line


class StepsOfLoss(NamedTuple):
    """The steps of one loss, or of a lock that stayed taken after a fault."""

    stage: str
    # the requests A and B, each with its replica
    a: tuple[str, str]
    b: tuple[str, str]
    # whether the stage has a lock, and whether each replica has its own
    locked: bool
    local: bool
    # the write that destroyed increments, with the cause; or the grant that came too late; or that no request got the lock
    harm: Happening
    steps: tuple[Step, ...]
    # the third request with its replica, if one acts
    third: tuple[str, str] | None = None
    # how many servers vote on the lock, if the votes of A and B are known
    voters: int = 0

    @property
    def has_counter(self) -> bool:
        """Return whether any step is at the counter."""
        return any(Line.COUNTER in lines_of(one) for step in self.steps for one in step)

    @property
    def lines(self) -> list[Line]:
        """Return the lifelines, from the left. The lifeline of a lock is there even if no step is at it."""
        used = {line for step in self.steps for one in step for line in lines_of(one)}
        has_lock = self.locked or not self.has_counter
        return [line for line in Line if (has_lock if line is Line.LOCK else line in used)]

    def lamps(self) -> Iterator[tuple[str, ...]]:
        """Yield for each step the letter of the request that has each server's vote: "×" for a lost vote, "" for no vote."""
        lamps = [""] * self.voters
        for step in self.steps:
            for one in step:
                for server in one.servers:
                    lamps[server - 1] = "×" if one.kind in LOST_VOTES else one.actor
            yield tuple(lamps)


def steps_of_run(picture: Timeline) -> StepsOfLoss | None:
    """Return the steps of the loss that a run is about, or of the fault that kept the lock from others; None without either."""
    return steps(picture) or steps_of_wait(picture)


def steps(picture: Timeline) -> StepsOfLoss | None:
    """Return the steps of the loss that the run is about; None if the run lost nothing by a conflict of two known requests."""
    loss = _loss(picture)
    return None if loss is None else _Story(picture, loss).steps()


def of_focus(picture: Timeline) -> tuple[tuple[Step, ...], dict[str, str]]:
    """Return the steps of the loss on which the picture opens, and the requests by their letters.

    If its evidence is not clear, the only step is the write.
    """
    loss = picture.losses[picture.focus]
    if _is_clear(picture, loss):
        found = _Story(picture, loss).steps()
        return found.steps, {Line.A: found.a[0], Line.B: found.b[0]}
    culprit = picture.held[loss.culprit]
    return ((harm(culprit, Line.A),),), {Line.A: culprit.request}


def _loss(picture: Timeline) -> DrawnLoss | None:
    """Return the loss on which the timeline opens, if its evidence is clear; else the first by a fault; else the first."""
    if picture.lost <= 0:
        return None
    clear = [loss for loss in picture.losses if _is_clear(picture, loss)]
    if picture.focus != NEVER and (focus := picture.losses[picture.focus]) in clear:
        return focus
    faulty = {fault.request for fault in picture.faults}
    by_fault = [loss for loss in clear if {picture.held[loss.culprit].request, picture.held[loss.victim].request} & faulty]
    return next(iter([*by_fault, *clear]), None)


def _is_clear(picture: Timeline, loss: DrawnLoss) -> bool:
    """Return whether both requests are known, and the evidence has the order of their writes."""
    if (
        loss.victim == NEVER or picture.mechanisms[loss.mechanism] == Mechanism.WROTE_OVER_UNREAD
    ):  # moments of several clocks have no order
        return False
    culprit, victim = picture.held[loss.culprit], picture.held[loss.victim]
    has_numbers = None not in (culprit.wrote, culprit.overwrote, victim.wrote)
    return has_numbers and victim.wrote_moment < culprit.wrote_moment


class _Story:
    """The events of one loss."""

    def __init__(self, picture: Timeline, loss: DrawnLoss) -> None:
        self.picture = picture
        self.mechanism = picture.mechanisms[loss.mechanism]
        self.culprit, self.victim = picture.held[loss.culprit], picture.held[loss.victim]
        self.a, self.b = sorted((self.victim, self.culprit), key=lambda held: held.got)
        self.lines = {self.b.request: Line.B, self.a.request: Line.A}
        self.is_local = self.mechanism is Mechanism.PROCESS_LOCAL
        lease = picture.lease(self.a)
        thief = lease.by if lease is not None and lease.how == "del" else NEVER
        # the request that deleted A's lock, if it is neither A nor B
        self.thief = picture.held[thief] if thief not in (NEVER, loss.culprit, loss.victim) else None
        a, b = (loss.victim, loss.culprit) if self.a is self.victim else (loss.culprit, loss.victim)
        self.place_of_a = a
        votes = {Line.A: picture.voted_for(a), Line.B: picture.voted_for(b)}
        # the servers that voted for A and for B, counted from 1; none if the votes of one of them are not known
        self.votes = {line: self._numbers(servers) for line, servers in votes.items()} if all(votes.values()) else {}

    def steps(self) -> StepsOfLoss:
        """Return the steps."""
        lost = list(self._lost_lock())
        ranked = [*self._holders(bool(lost)), *((AT_THE_LOCK, one) for one in lost), *self._faults(), *self._restored()]
        ranked.sort(key=lambda event: event[1].at_ms)
        while len(groups := grouped(one for _, one in ranked)) > MOST:
            ranked.remove(max(ranked, key=itemgetter(0)))
        harm = destroyed(self.culprit, self.culprit.request, cause=self.mechanism)
        thirds = {one.actor for step in groups for one in step if Line.THIRD in lines_of(one)}
        third = [held for held in self.picture.held if held.request in thirds][:1]
        a, b, *others = ((held.request, self.picture.replicas[held.replica]) for held in (self.a, self.b, *third))
        voters = len(self.picture.voters) if self.votes else 0
        locked, local = self.picture.is_locked, self.is_local
        return StepsOfLoss(self.picture.stage, a, b, locked, local, harm, groups, next(iter(others), None), voters)

    def _numbers(self, servers: Iterable[int]) -> tuple[int, ...]:
        """Return the numbers of servers. servers: their places in the list of the servers that vote."""
        return tuple(sorted(int(self.picture.voters[place].rpartition(" ")[2]) for place in servers))

    def _holders(self, lost_lock: bool) -> Iterator[Ranked]:
        """Yield the grants, the reads and the writes of A and B."""
        for line, held in ((Line.A, self.a), (Line.B, self.b)):
            if self.picture.is_locked:
                as_well = held is self.b and self.a.until > self.b.got and not lost_lock
                if self.mechanism in NOT_GRANTED:
                    kind = Kind.CAME_IN_AS_WELL if as_well else Kind.CAME_IN
                else:
                    kind = Kind.GRANTED_LOCALLY if self.is_local else Kind.GRANTED_AS_WELL if as_well else Kind.GRANTED
                kind = Kind.GRANTED_BY_VOTES if self.votes else kind
                place, servers = self.picture.replicas[held.replica], self.votes.get(line, ())
                yield GOT, Happening(kind, held.got / 1000, line, servers=servers, place=place)
            if held.read is not None:
                rank = READ if held is self.culprit else VICTIMS_READ
                yield rank, Happening(Kind.READ, held.read_moment / 1000, line, value=held.read)
            wrote = Happening(Kind.WROTE, held.wrote_moment / 1000, line, value=held.wrote or 0)
            yield WRITE, harm(held, line) if held is self.culprit else wrote

    def _lost_lock(self) -> Iterator[Happening]:
        """Yield how A lost its lock before B got it, if the evidence has the moment.

        The lab receives an event of the store some time after the fact, so it may seem to come after the grant to B.
        """
        a, lease = self.a, self.picture.lease(self.a)
        if self.votes:
            yield from self._lost_votes()
            return
        if lease is not None and lease.gone != NEVER and lease.gone <= self.b.got + RECEIVED_WITHIN_US:
            over = min(lease.due, lease.gone) if lease.due != NEVER else lease.gone
            if lease.how == "expired" and over < a.until:
                yield self._at_the_lock(Happening(Kind.LEASE_ENDED, lease.ended, Line.A, ttl_ms=self.picture.ttl / 1000))
                return
            if self.thief is not None and lease.gone < a.until:
                kind = Kind.DELETED_LATE if self.mechanism in LATE_RELEASE else Kind.DELETED_OTHERS
                yield self._at_the_lock(Happening(kind, lease.gone, self.thief.request, (Line.A,)))
                return
        for fault in self._faults_of((a.request, self.b.request)) if not self.is_local else ():
            if a.got <= fault.at < fault.next_got < min(a.until, self.b.got) and fault.next_request not in (a.request, ""):
                after_ms = (fault.next_got - fault.at) / 1000
                got = Happening(Kind.GOT_MEANWHILE, fault.next_got, fault.next_request, (Line.A,), for_ms=after_ms)
                yield self._at_the_lock(got)
                return

    def _lost_votes(self) -> Iterator[Happening]:
        """Yield how A lost votes before B got the lock: their servers forgot them at a restart, or they expired."""
        latest = min(self.a.until, self.b.got + RECEIVED_WITHIN_US)
        own = [vote for vote in self.picture.votes if vote.holder == self.place_of_a and NEVER < vote.gone <= latest]
        for kind, how in ((Kind.VOTES_FORGOTTEN, FORGOTTEN), (Kind.VOTES_LAPSED, "expired")):
            if lost := [vote for vote in own if vote.how == how]:
                after = max(vote.gone for vote in lost) + 1  # the fault has the same moment, and comes first
                numbers = self._numbers(vote.place for vote in lost)
                yield self._at_the_lock(Happening(kind, after, others=(Line.A,), servers=numbers))

    def _restored(self) -> Iterator[Ranked]:
        """Yield the first later write that brings back more than half of the lost increments: its request had read before."""
        after, gone = self.culprit.wrote_moment, (self.culprit.overwrote or 0) - (self.culprit.wrote or 0) + 1
        late = (held for held in self.picture.held if NEVER < held.read_moment < after < held.wrote_moment)
        back = ((held, (held.wrote or 0) - (held.overwrote or 0) - 1) for held in late)
        most = [destroyed(held, held.request, Kind.RESTORED, number) for held, number in back if number > max(1, gone / 2)]
        yield from ((WRITE, first) for first in sorted(most, key=lambda one: one.at_ms)[:1])

    def _at_the_lock(self, happening: Happening) -> Happening:
        """Return a happening with its time in milliseconds, before the grant to B. The argument has its time in microseconds."""
        return replace(happening, at_ms=min(happening.at_ms, self.b.got - 0.5) / 1000)

    def _faults_of(self, requests: Sequence[str]) -> list[DrawnFault]:
        return [fault for fault in self.picture.faults if fault.request and fault.request in requests]

    def _faults(self) -> Iterator[Ranked]:
        """Yield the faults in A, B or the thief, the faults of the lock's store, and the faults of A's renewals."""
        thief = self.thief.request if self.thief is not None else ""
        own = self._faults_of((self.a.request, self.b.request, thief))
        for fault in self.picture.faults:
            if fault.at < self.culprit.wrote_moment:
                of_renewal = fault.effect is Effect.RENEWAL_FAILS and fault.replica == self.a.replica
                if fault in own or (fault.at >= self.a.got and (fault.effect in OF_THE_STORE or of_renewal)):
                    yield FAULT if fault in own else OTHER_FAULT, self._fault(fault)

    def _fault(self, fault: DrawnFault) -> Happening:
        actor = self.lines.get(fault.request, fault.request)
        in_release = fault.effect is Effect.REQUEST_WAITS and fault.failpoint.partition(".")[0] == "release"
        unknown = (fault.effect in OF_A_REQUEST and not actor) or (fault.effect in OF_A_REPLICA and fault.replica == NEVER)
        after_check = self.mechanism is Mechanism.EXPIRED_BETWEEN_CHECK_AND_DELETE
        effect = "" if unknown else (AFTER_CHECK if after_check else IN_RELEASE) if in_release else fault.effect.value
        kind = Kind.FAULT if actor else Kind.FAULT_ANYWHERE
        return replace(began(self.picture, fault), kind=kind, actor=actor, effect=effect)


def harm(held: DrawnGrant, actor: str) -> Happening:
    """Return the write that destroyed increments, as a step."""
    # it destroys one increment more than the counter goes back by, because it adds its own
    back = (held.overwrote or 0) - (held.wrote or 0)
    return destroyed(held, actor, *((Kind.DESTROYED, back + 1) if back > 0 else (Kind.NO_GROWTH,)))


def destroyed(
    held: DrawnGrant, actor: str, kind: Kind = Kind.DESTROYED, number: int = 1, cause: Mechanism | None = None
) -> Happening:
    """Return a write that destroyed increments, or restored them. number: how many increments."""
    wrote, over = held.wrote or 0, held.overwrote or 0
    return Happening(kind, held.wrote_moment / 1000, actor, value=wrote, over=over, number=number, cause=cause)


def grouped(happened: Iterable[Happening]) -> tuple[Step, ...]:
    """Return the steps: successive happenings of one holder are one step. The write that destroys is a step of its own."""
    found: list[Step] = []
    for one in happened:
        goes_on = found and one.kind not in HARM and holder(one) is not None and holder(one) is holder(found[-1][-1])
        found[-1:] = [(*found[-1], one)] if goes_on else [*found[-1:], (one,)]
    return tuple(found)


def steps_of_wait(picture: Timeline) -> StepsOfLoss | None:
    """Return the steps of the fault that kept the lock from others; None without one in a request, or if no request waited."""
    if not picture.is_kept_from_others or picture.focus_fault == NEVER:
        return None
    fault = picture.faults[picture.focus_fault]
    waited = _in_vain(picture, fault) if fault.next_got == NEVER else _late(picture, fault)
    if not fault.request or waited is None:
        return None
    happened = sorted(_happened(picture, fault, waited), key=lambda one: one.at_ms)
    a, b = ((one.request, picture.replicas[one.replica]) for one in (fault, waited))
    return StepsOfLoss(picture.stage, a, b, True, False, _outcome(picture, fault), grouped(happened))


def _in_vain(picture: Timeline, fault: DrawnFault) -> Waited | None:
    """Return the first request that asked after the fault and gave up; without one, the first that gave up after it."""
    after = sorted((one for one in picture.waited if one.gave_up > fault.at), key=lambda one: one.asked)
    return next((one for one in after if one.asked > fault.at), next(iter(after), None))


def _late(picture: Timeline, fault: DrawnFault) -> DrawnGrant | None:
    """Return the grant that came next."""
    return next((one for one in picture.held if one.got == fault.next_got), None)


def _outcome(picture: Timeline, fault: DrawnFault) -> Happening:
    """Return the last happening of the steps, in the form of a title."""
    if fault.next_got == NEVER:
        return Happening(Kind.NOBODY_GOT, others=(fault.request,), fault=fault.kind, for_ms=(picture.end - fault.at) / 1000)
    after_ms = (fault.next_got - fault.at) / 1000
    return Happening(Kind.NEXT_GOT, fault.next_got / 1000, fault.next_request, fault=fault.kind, for_ms=after_ms)


def _happened(picture: Timeline, fault: DrawnFault, waited: Waited | DrawnGrant) -> Iterator[Happening]:
    own = [held for held in picture.held if held.request == fault.request]
    of_a = next((held for held in own if held.got <= fault.at), None)
    if of_a is not None:
        yield Happening(Kind.GRANTED, of_a.got / 1000, Line.A, place=picture.replicas[of_a.replica])
    yield replace(began(picture, fault), kind=Kind.FAULT, actor=Line.A, effect=fault.effect.value)
    yield Happening(Kind.ASKED, waited.asked / 1000, Line.B)
    lease = picture.lease(of_a) if of_a is not None else None  # of A's key, if the store reported it
    if lease is not None and lease.gone == lease.due == NEVER:
        yield Happening(Kind.KEY_STAYED, max(waited.asked, fault.at) / 1000 + 0.001, others=(Line.A,))
    elif lease is not None and lease.how == "expired" and lease.gone > fault.at:
        yield Happening(Kind.LEASE_OVER, lease.ended / 1000, others=(Line.A,), ttl_ms=picture.ttl / 1000)
    if isinstance(waited, DrawnGrant):
        yield Happening(Kind.NEXT_GOT, waited.got / 1000, Line.B, for_ms=(waited.got - fault.at) / 1000)
        return
    yield Happening(Kind.GAVE_UP_WAITING, waited.gave_up / 1000, Line.B, for_ms=(waited.gave_up - waited.asked) / 1000)
    others = [one.gave_up for one in picture.waited if one.gave_up > fault.at and one is not waited]
    if others:
        yield Happening(Kind.OTHERS_GAVE_UP, max(*others, waited.gave_up) / 1000 + 0.001, number=len(others))
