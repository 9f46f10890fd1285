"""A loss in at most six steps, each a plain sentence: two holders, the lock, and the counter.

Holder A got the lock first, and holder B later. Everything comes from the run's timeline, which has the line of ``losses.jsonl``,
the grants of the two, the faults, and what the lock's store reported. So a kept run has its steps as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from lab.evidence.fault_effect import AT_THE_STORE, Effect
from lab.evidence.mechanism import Mechanism
from lab.story import say
from lab.story.timeline import NEVER, RECEIVED_WITHIN_US, DrawnFault, DrawnGrant, DrawnLoss, Timeline
from lab.text import counted, thousands

MOST = 6  # steps
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
# a third request lost its own lock before its release
LATE_RELEASE = (Mechanism.DELETED_BY_ANOTHER, Mechanism.EXPIRED_BETWEEN_CHECK_AND_DELETE)
# one of the two was granted nothing, and the timeline does not have which of them
NOT_GRANTED = (Mechanism.WORKED_AGAIN_WITHOUT_LOCK, Mechanism.ENTERED_ALTHOUGH_REFUSED, Mechanism.NEVER_ASKED_STORE)
# of too many events, those with the largest rank are left out first
WRITE, AT_THE_LOCK, READ, GOT, FAULT, VICTIMS_READ, OTHER_FAULT = range(7)


class Line(StrEnum):
    """A lifeline, from the left to the right."""

    A = "A"
    LOCK = "lock"
    B = "B"
    COUNTER = "counter"


class Event(NamedTuple):
    """One event, at one lifeline or from one lifeline to another."""

    # when, in microseconds since the first request
    at: float
    source: Line
    # the same as the source for an event at one lifeline
    target: Line
    # the words at its mark
    label: str
    # the rest of the sentence after A or B; for an event of neither, the whole sentence without its full stop
    does: str
    rank: int
    # whether A or B does it
    is_own: bool = True
    # whether it is the write that destroyed increments
    is_harm: bool = False

    @property
    def loses_lock(self) -> bool:
        """Return whether A has lost its lock by then."""
        return self.rank == AT_THE_LOCK

    @property
    def actor(self) -> Line | None:
        """Return the holder that does it; None if neither does."""
        if not self.is_own:
            return None
        return self.target if self.source in (Line.LOCK, Line.COUNTER) else self.source


class Step(NamedTuple):
    """One step: an event, or several of one holder with nothing in between."""

    events: tuple[Event, ...]
    sentence: str
    # the moment, as in the timeline: ``1.105 s``
    clock: str

    @property
    def is_harm(self) -> bool:
        return any(event.is_harm for event in self.events)


class FiveSteps(NamedTuple):
    """The steps of one loss."""

    stage: str
    mechanism: Mechanism
    # the requests A and B, each with its replica
    a: str
    b: str
    # the name of the lock's lifeline; empty for a stage without a lock
    lock: str
    steps: tuple[Step, ...]
    # the request that destroyed increments, what it wrote, and what it replaced
    culprit: str
    wrote: int
    overwrote: int

    @property
    def heading(self) -> str:
        return f"This loss in {NUMBERS[len(self.steps)]} steps"

    @property
    def finding(self) -> str:
        """Return the title of the still picture."""
        number = NUMBERS[len(self.steps)]
        wrote = f"{self.culprit} writes {self.wrote} over {self.overwrote}"
        return f"{self.stage}, one loss in {number} steps: {wrote} ({say.mechanism(self.mechanism)})"


def five_steps(picture: Timeline) -> FiveSteps | None:
    """Return the steps of the loss that the run is about; None if the run lost nothing by a conflict of two known requests."""
    loss = _loss(picture)
    return None if loss is None else _Story(picture, loss).steps()


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
    if loss.victim == NEVER or picture.mechanisms[loss.mechanism] == Mechanism.WROTE_OVER_UNREAD:
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
        self.places = (loss.culprit, loss.victim)
        lease = picture.lives[self.a.lease] if self.a.lease != NEVER else None
        thief = lease.by if lease is not None and lease.how == "del" else NEVER
        # the request that deleted A's lock, if it is neither A nor B
        self.thief = picture.held[thief] if thief not in (NEVER, *self.places) else None

    def steps(self) -> FiveSteps:
        """Return the steps."""
        at_the_lock = list(self._lost_lock())
        events = [*self._holders(bool(at_the_lock)), *at_the_lock, *self._faults()]
        events.sort(key=lambda event: event.at)
        while len(grouped := _grouped(events)) > MOST:
            events.remove(max(events, key=lambda event: event.rank))
        clocks = _clocks([events[0].at for events in grouped])
        found = (Step(tuple(events), _sentence(events), clock) for events, clock in zip(grouped, clocks, strict=True))
        culprit = self.culprit
        named = (self._named(self.a), self._named(self.b), self._lock_name())
        return FiveSteps(
            self.picture.stage, self.mechanism, *named, tuple(found), culprit.request, culprit.wrote or 0, culprit.overwrote or 0
        )

    def _named(self, held: DrawnGrant) -> str:
        return f"{held.request} at {self.picture.replicas[held.replica]}"

    def _lock_name(self) -> str:
        if not self.picture.is_locked:
            return ""
        return "local locks" if self.mechanism == Mechanism.PROCESS_LOCAL else "the lock"

    def _holders(self, lock_was_lost: bool) -> Iterator[Event]:
        """Yield what A and B do."""
        for line, held in ((Line.A, self.a), (Line.B, self.b)):
            if self.picture.is_locked:
                yield self._got(line, held, lock_was_lost)
            if held.read is not None:
                rank = READ if held is self.culprit else VICTIMS_READ
                yield Event(held.read_moment, Line.COUNTER, line, f"reads {held.read}", f"reads {held.read}", rank)
            yield self._wrote(line, held)

    def _got(self, line: Line, held: DrawnGrant, lock_was_lost: bool) -> Event:
        if self.mechanism == Mechanism.PROCESS_LOCAL:
            does = f"gets the lock of {self.picture.replicas[held.replica]}"
        else:
            goes_in = "goes in" if self.mechanism in NOT_GRANTED else "gets the lock"
            at_once = held is self.b and self.a.until > self.b.got and not lock_was_lost
            does = f"{goes_in} as well" if at_once else goes_in
        if self.mechanism in NOT_GRANTED:
            return Event(held.got, line, line, "goes in", does, GOT)
        return Event(held.got, Line.LOCK, line, "gets the lock", does, GOT)

    def _wrote(self, line: Line, held: DrawnGrant) -> Event:
        label = f"writes {held.wrote}"
        if held is not self.culprit:
            return Event(held.wrote_moment, line, Line.COUNTER, label, label, WRITE)
        back = (held.overwrote or 0) - (held.wrote or 0)
        # one more than the counter goes back by: its own increment is none of those that it destroys
        then = f"that destroys {counted(back + 1, 'increment')}" if back > 0 else "the counter does not grow"
        over = f"{label} over {held.overwrote}"
        return Event(
            held.wrote_moment,
            line,
            Line.COUNTER,
            over,
            f"{over}: {then}",
            WRITE,
            is_harm=True,
        )

    def _lost_lock(self) -> Iterator[Event]:
        """Yield how A lost its lock before B got it, where the evidence has the moment.

        The lab receives an event of the store some time after the fact, so it may seem to come after the grant to B.
        """
        a, lease = self.a, self.picture.lives[self.a.lease] if self.a.lease != NEVER else None
        if lease is not None and lease.gone != NEVER and lease.gone <= self.b.got + RECEIVED_WITHIN_US:
            ended = min(lease.due, lease.gone) if lease.due != NEVER else lease.gone
            if lease.how == "expired" and ended < a.until:
                ttl = f" of {thousands(self.picture.ttl / 1000)} ms" if self.picture.ttl else ""
                yield self._at_the_lock(ended, "A's lease ends", f"A's lease{ttl} ends while A is inside")
                return
            if self.thief is not None and lease.gone < a.until:
                name = self.thief.request
                late = ", late with its release," if self.mechanism in LATE_RELEASE else ""
                yield self._at_the_lock(lease.gone, f"{name} deletes it", f"{name}{late} deletes A's lock")
                return
        for fault in self._faults_of((a.request, self.b.request)) if self.mechanism != Mechanism.PROCESS_LOCAL else ():
            if a.got <= fault.at < fault.next_got < min(a.until, self.b.got) and fault.next_request not in (a.request, ""):
                after_ms = thousands((fault.next_got - fault.at) / 1000)
                got = f"{fault.next_request} gets the lock {after_ms} ms after the fault, and A has not released it"
                yield self._at_the_lock(fault.next_got, f"{fault.next_request} gets it", got)
                return

    def _at_the_lock(self, at: float, label: str, sentence: str) -> Event:
        return Event(min(at, self.b.got - 0.5), Line.LOCK, Line.LOCK, label, sentence, AT_THE_LOCK, is_own=False)

    def _faults_of(self, requests: Sequence[str]) -> list[DrawnFault]:
        return [fault for fault in self.picture.faults if fault.request and fault.request in requests]

    def _faults(self) -> Iterator[Event]:
        """Yield the faults in A, B or the thief, those of the lock's store, and those of A's renewals."""
        thief = self.thief.request if self.thief is not None else ""
        requests = (self.a.request, self.b.request, thief)
        own = self._faults_of(requests)
        for fault in self.picture.faults:
            if fault.at >= self.culprit.wrote_moment:
                continue
            of_store = fault.effect in AT_THE_STORE or fault.effect is Effect.STORE_SPLIT
            of_renewal = fault.effect is Effect.RENEWAL_FAILS and fault.replica == self.a.replica
            if fault in own or (fault.at >= self.a.got and (of_store or of_renewal)):
                yield self._fault(fault, of_store, FAULT if fault in own else OTHER_FAULT)

    def _fault(self, fault: DrawnFault, of_store: bool, rank: int) -> Event:
        lines = {self.a.request: Line.A, self.b.request: Line.B}
        of_renewal = fault.effect is Effect.RENEWAL_FAILS
        line = Line.LOCK if of_store else lines.get(fault.request, Line.A if of_renewal else Line.LOCK)
        label = fault.kind.replace("_", " ")
        return Event(fault.at, line, line, label, self._fault_sentence(fault, lines.get(fault.request)), rank, is_own=False)

    def _fault_sentence(self, fault: DrawnFault, line: Line | None) -> str:
        who = line.value if line is not None else fault.request
        where = self.picture.replicas[fault.replica] if fault.replica != NEVER else "a replica"
        lasted = fault.back == NEVER and fault.recovered > fault.at
        time = f" for {thousands((fault.recovered - fault.at) / 1000)} ms" if lasted else ""
        words = FAULTS.get(fault.effect)
        if words is None or ("{who}" in words and not who):
            begins = f"The fault “{fault.kind.replace('_', ' ')}” begins"
            return f"{begins} in {who}" if who else begins
        sentence = words.format(who=who, where=where, time=time)
        in_release = fault.effect is Effect.REQUEST_WAITS and fault.failpoint.startswith("release")
        return f"{sentence} in its release" if in_release else sentence


FAULTS = {
    Effect.PROCESS_STOPS: "The process of {who} is stopped{time}",
    Effect.REQUEST_WAITS: "{who} is held up{time}",
    Effect.WRITE_DELAYED: "The network delays the write of {who}{time}",
    Effect.RENEWAL_FAILS: "One renewal of {where} fails",
    Effect.CUT_OFF: "{where} and the lock's store cannot reach each other{time}",
    Effect.SESSION_ENDS: "The lock's store ends the session of {where}",
    Effect.STORE_SILENT: "The lock's store does not answer{time}",
    Effect.STORE_RESTARTS: "The lock's store is killed and started again",
    Effect.POWER_LOST: "The lock's store loses its power and is started again",
    Effect.PRIMARY_DIES: "The primary of the lock's store dies",
    Effect.STORE_SPLIT: "The lock's store is split: {where} reaches the old primary only",
    Effect.LEADER_DIES: "The leader of the lock's store dies",
    Effect.SERVERS_DIE: "Servers of the lock's store die",
    Effect.SERVERS_RESTART: "Servers of the lock's store are killed and started again",
    Effect.CLOCKS_JUMP: "Clocks of the lock's store jump ahead",
    Effect.CLOCKS_FAST: "Clocks of the lock's store run too fast",
    Effect.CLOCKS_BACK: "Clocks of the lock's store jump back",
}


def _grouped(events: Sequence[Event]) -> list[list[Event]]:
    """Put events of one holder with nothing in between into one group. The write that destroys has a group of its own."""
    groups: list[list[Event]] = []
    for event in events:
        before = groups[-1][-1] if groups else None
        if before is not None and event.actor is not None and event.actor is before.actor and not event.is_harm:
            groups[-1].append(event)
        else:
            groups.append([event])
    return groups


def _sentence(events: Sequence[Event]) -> str:
    actor = events[0].actor
    does = [event.does for event in events]
    words = does[0] if len(does) == 1 else f"{', '.join(does[:-1])} and {does[-1]}"
    return f"{words}." if actor is None else f"{actor.value} {words}."


def _clocks(moments: Sequence[float]) -> list[str]:
    """Write moments as seconds, with as many decimals as they need to differ."""
    gap = min((later - sooner for sooner, later in pairwise(moments) if later > sooner), default=1000)
    decimals = next((places for places, least in ((3, 1000), (4, 100)) if gap >= least), 5)
    return [f"{at / 1e6:.{decimals}f} s" for at in moments]
