"""A loss of a judged run, and a fault, as happenings in the order of time: who was inside, how the other came in, both writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lab.evidence.fault_record import AT_THE_STORE, Effect
from lab.evidence.loss import Mechanism
from lab.story.happening import Happening, Kind
from lab.story.timeline import NEVER, RECEIVED_WITHIN_US, DrawnFault, DrawnGrant, DrawnLoss, Life, Timeline

SHORTEST_US = 10_000  # a fault that is over at once, such as an exception or a lost reply, has no duration to report
SECOND_WRITE = "write_again"  # the phase of its failpoint


def began(picture: Timeline, fault: DrawnFault, kind: Kind = Kind.FAULT) -> Happening:
    """Return that a fault began: in a request, as far as the evidence names it."""
    kind = kind if fault.request and fault.replica != NEVER else Kind.FAULT_ANYWHERE
    lasted = fault.back == NEVER and fault.recovered - fault.at >= SHORTEST_US
    return Happening(
        kind,
        fault.at / 1000,
        fault.request,
        place=picture.replicas[fault.replica] if fault.replica != NEVER else "",
        fault=fault.kind,
        for_ms=(fault.recovered - fault.at) / 1000 if lasted else 0,
        locked=picture.is_locked,
    )


def of_a_fault(picture: Timeline, fault: DrawnFault) -> Iterator[Happening]:
    """Yield what a caption states of a fault: whether it hit a holder, and who got the lock next."""
    own = [held for held in picture.held if held.request == fault.request]
    holder = next((held for held in own if held.got <= fault.at <= held.until), None)
    inside = Kind.HELD_AT_FAULT if fault.back == NEVER else Kind.HELD_AT_DEATH
    yield began(picture, fault, Kind.FAULT if holder is None else inside)
    life = picture.lives[holder.lease] if holder is not None and holder.lease != NEVER else None
    if holder is not None and life is not None and life.how == "expired" and _is_over(life, fault.next_got):
        yield Happening(Kind.LEASE_ENDED, min(life.due, fault.next_got) / 1000, holder.request, ttl_ms=picture.ttl / 1000)
    yield _next(picture, fault)
    in_vain = sum(fault.at < waited.gave_up <= fault.next_got for waited in picture.waited)
    if fault.next_got == NEVER:
        yield from _gave_up(picture, fault)
    elif in_vain and picture.is_locked:
        yield Happening(Kind.GAVE_UP_BEFORE, number=in_vain)
    yield from _nobody_since(picture, fault)
    yield from _kept_from_writing(fault, own)


def _is_over(life: Life, got: int) -> bool:
    """Return whether the TTL of a life was over when the next request got the lock. The lab may receive late when it began."""
    return NEVER not in (life.due, got) and life.due <= got + RECEIVED_WITHIN_US


def _next(picture: Timeline, fault: DrawnFault) -> Happening:
    """Return which request got the lock after a fault; or that none did until the end of the run."""
    died, others = fault.back != NEVER, (fault.request,) if fault.request else ()
    if fault.next_got == NEVER:
        kind, for_ms = Kind.NOBODY_GOT_AFTER_DEATH if died else Kind.NOBODY_GOT, (picture.end - fault.at) / 1000
        return Happening(kind, others=others, fault=fault.kind, for_ms=for_ms, locked=picture.is_locked)
    place = next((place for place, held in enumerate(picture.held) if held.got == fault.next_got), NEVER)
    given = {vote.node for vote in picture.votes if vote.holder == place} if place != NEVER else set()
    return Happening(
        Kind.NEXT_GOT_AFTER_DEATH if died else Kind.NEXT_GOT,
        fault.next_got / 1000,
        fault.next_request,
        others,
        value=len(given),
        of=len(picture.voters) if given else 0,
        fault=fault.kind,
        for_ms=(fault.next_got - fault.at) / 1000,
        locked=picture.is_locked,
    )


def _nobody_since(picture: Timeline, fault: DrawnFault) -> Iterator[Happening]:
    """Yield that the lock was granted after a fault, and then never again, although requests asked after its last holder."""
    last = max(picture.held, key=lambda held: held.until, default=None)
    in_vain = sum(waited.asked > last.until for waited in picture.waited) if last is not None else 0
    if fault.next_got == NEVER or last is None or not in_vain:
        return
    for_ms = (picture.end - last.until) / 1000
    yield Happening(Kind.NOBODY_GOT_SINCE, last.until / 1000, last.request, for_ms=for_ms, locked=picture.is_locked)
    yield Happening(Kind.GAVE_UP, number=in_vain)


def _gave_up(picture: Timeline, fault: DrawnFault) -> Iterator[Happening]:
    if in_vain := sum(waited.gave_up > fault.at for waited in picture.waited):
        yield Happening(Kind.GAVE_UP, number=in_vain)


def aftermath(picture: Timeline, fault: DrawnFault) -> Iterator[Happening]:
    """Yield what followed from a fault, as a title has it: a write was refused, or who got the lock."""
    own = [held for held in picture.held if held.request == fault.request]
    refused = next((held for held in own if held.is_refused), None)
    if fault.next_got == NEVER:
        yield from (_next(picture, fault), *_gave_up(picture, fault))
    elif refused is None:
        yield from (*_kept_from_writing(fault, own), *(tuple(_nobody_since(picture, fault)) or (_next(picture, fault),)))
    else:
        yield from (*_kept_from_writing(fault, own), *_why(picture, refused))


def _why(picture: Timeline, refused: DrawnGrant) -> Iterator[Happening]:
    """Yield by which number a resource refused a write: its fence; without one, how many such writes the picture has."""
    others = sum(held.is_refused for held in picture.held) - 1
    if refused.fences is not None:
        fence, seen = refused.fences
        yield Happening(Kind.FENCE_OLDER if fence < seen else Kind.FENCE_OF_ANOTHER, value=fence, over=seen)
    elif others > 0:
        yield Happening(Kind.OTHERS_REFUSED, number=others)


def _kept_from_writing(fault: DrawnFault, own: Sequence[DrawnGrant]) -> Iterator[Happening]:
    """Yield how the request at the failpoint did not write: its write was refused, or it gave up; nothing if it was free to."""
    if any(held.is_refused for held in own):
        is_second = fault.failpoint.partition(".")[0] == SECOND_WRITE
        yield Happening(Kind.SECOND_WRITE_REFUSED if is_second else Kind.WRITE_REFUSED, actor=fault.request)
    elif any(held.is_abandoned for held in own):
        yield Happening(Kind.GAVE_WORK_UP, actor=fault.request)


def of_a_loss(picture: Timeline, loss: DrawnLoss) -> Iterator[Happening]:
    """Yield what a caption states of a loss. Without a story of its own, a mechanism is named."""
    mechanism, culprit = picture.mechanisms[loss.mechanism], picture.held[loss.culprit]
    if loss.victim == NEVER:
        happened = [_read(picture, culprit), destroyed(culprit, culprit.request, Kind.OVERWROTE_ANOTHER)]
        has_story = False
    else:
        pair = _Pair(picture, culprit, picture.held[loss.victim])
        has_story = mechanism in LOSSES
        happened = [*LOSSES.get(mechanism, _otherwise)(pair), *pair.writes()]
        yield from pair.heading(mechanism)
    happened += [*_fault_of(picture, loss), *_renewal_that_failed(picture, loss)]
    yield from sorted(happened, key=lambda one: one.at_ms)
    if not has_story:
        yield Happening(Kind.CAUSE, cause=mechanism)
    if picture.lost <= 0:  # later writes may bring back what this write overwrote: it has no figure
        yield Happening(Kind.BROUGHT_BACK)
    else:
        yield Happening(Kind.LOST_BY_IT if loss.destroyed == picture.lost else Kind.RUN_LOST, number=picture.lost)


def _read(picture: Timeline, held: DrawnGrant, inside: DrawnGrant | None = None) -> Happening:
    """Return how a request came in. inside: who was inside at that time."""
    kind, kind_inside = (Kind.CAME_IN, Kind.CAME_IN_INSIDE) if held.read is None else (Kind.READ, Kind.READ_INSIDE)
    return Happening(
        kind if inside is None else kind_inside,
        held.read_moment / 1000,
        held.request,
        others=(inside.request,) if inside is not None else (),
        value=held.read or 0,
        place=picture.replicas[held.replica],
        other_place=picture.replicas[inside.replica] if inside is not None else "",
    )


@dataclass(frozen=True)
class _Pair:
    """The culprit and the victim of a loss. The elder of the two got the lock first."""

    picture: Timeline
    culprit: DrawnGrant
    victim: DrawnGrant

    @property
    def elder(self) -> DrawnGrant:
        return min(self.culprit, self.victim, key=lambda held: held.got)

    @property
    def younger(self) -> DrawnGrant:
        return max(self.culprit, self.victim, key=lambda held: held.got)

    @property
    def lease(self) -> Life | None:
        """Return the life of the elder's key at the store."""
        return self.picture.lives[self.elder.lease] if self.elder.lease != NEVER else None

    def where(self, held: DrawnGrant) -> str:
        return self.picture.replicas[held.replica]

    def heading(self, mechanism: Mechanism) -> Iterator[Happening]:
        """Yield what comes before all moments."""
        if mechanism is Mechanism.PROCESS_LOCAL:
            yield Happening(Kind.OWN_LOCKS, place=self.where(self.elder), other_place=self.where(self.younger))
        elif mechanism is Mechanism.NO_LOCK:
            yield Happening(Kind.NO_LOCK_BETWEEN)

    def reads_inside(self) -> Happening:
        """Return the read of the younger, at a time when the elder was inside."""
        return _read(self.picture, self.younger, self.elder)

    def writes(self) -> Iterator[Happening]:
        """Yield both writes: at the second of them the increment was lost."""
        victim, culprit = self.victim, self.culprit
        is_ordered = victim.wrote_moment <= culprit.wrote_moment
        if is_ordered:
            yield Happening(Kind.WROTE, victim.wrote_moment / 1000, victim.request, value=victim.wrote or 0)
        if is_ordered and culprit.overwrote != victim.wrote:
            yield destroyed(culprit, culprit.request, Kind.OVERWROTE_ANOTHER)
        else:
            at_ms, wrote, over = culprit.wrote_moment / 1000, culprit.wrote or 0, victim.wrote or 0
            yield Happening(Kind.OVERWROTE, at_ms, culprit.request, (victim.request,), value=wrote, over=over)

    def lease_ended(self) -> Happening:
        """Return the end of the elder's lease. Without its moment it comes before the read of the younger."""
        lease, ttl_ms = self.lease, self.picture.ttl / 1000
        if lease is None or lease.gone == NEVER:
            return Happening(Kind.LEASE_HAD_ENDED, self.younger.read_moment / 1000, self.elder.request, ttl_ms=ttl_ms)
        return Happening(Kind.LEASE_ENDED, ended(lease) / 1000, self.elder.request, ttl_ms=ttl_ms)


def ended(lease: Life) -> int:
    """Return when a lease was over. The store reports an expiry late; where its clock jumped, the key was gone too early."""
    return min(lease.due, lease.gone) if lease.how == "expired" and lease.due != NEVER else lease.gone


def _inside(pair: _Pair) -> list[Happening]:
    return [pair.reads_inside()]


def _ran_out(pair: _Pair) -> list[Happening]:
    return [pair.lease_ended(), pair.reads_inside()]


def _deleted(pair: _Pair) -> list[Happening]:
    lease = pair.lease
    if lease is not None and lease.how == "expired":  # the store reported another end of this lease
        return _ran_out(pair)
    others = (pair.elder.request,)
    if lease is None or lease.how != "del" or lease.by == NEVER or pair.picture.held[lease.by] is pair.elder:
        # nobody knows when: before the younger came in
        return [Happening(Kind.DELETED_BY_ANOTHER, pair.younger.got / 1000, others=others), pair.reads_inside()]
    thief = pair.picture.held[lease.by]
    stolen = Happening(Kind.DELETED_LATE, lease.gone / 1000, thief.request, others, place=pair.where(thief))
    return [stolen, pair.reads_inside()]


def _granted_twice(pair: _Pair) -> list[Happening]:
    elder, younger = pair.elder, pair.younger
    return [
        Happening(Kind.GRANTED, elder.got / 1000, elder.request, place=pair.where(elder)),
        Happening(Kind.GRANTED_AS_WELL, younger.got / 1000, younger.request, (elder.request,), place=pair.where(younger)),
    ]


def _otherwise(pair: _Pair) -> list[Happening]:
    """Return how the younger came in. The story of a stale write begins with its read."""
    if pair.elder is not pair.culprit:
        return [pair.reads_inside()]
    lease = pair.lease
    expired = lease is not None and lease.how == "expired" and lease.gone <= pair.victim.wrote_moment
    return [_read(pair.picture, pair.culprit), *([pair.lease_ended()] if expired else [])]


LOSSES: dict[Mechanism, Callable[[_Pair], list[Happening]]] = {
    Mechanism.NO_LOCK: _inside,
    Mechanism.PROCESS_LOCAL: _inside,
    Mechanism.GRANTED_TWICE: _granted_twice,
    Mechanism.GRANTED_TO_TWO: _granted_twice,
    Mechanism.DELETED_BY_ANOTHER: _deleted,
    Mechanism.TTL_OVER_IN_WORK: _ran_out,
}


def _fault_of(picture: Timeline, loss: DrawnLoss) -> Iterator[Happening]:
    """Yield the fault whose failpoint one of the two reached, of the store if possible."""
    requests = {picture.held[place].request for place in (loss.culprit, loss.victim) if place != NEVER}
    of_the_store_first = sorted(picture.faults, key=lambda fault: fault.effect not in AT_THE_STORE)
    for fault in [fault for fault in of_the_store_first if fault.request in requests][:1]:
        yield began(picture, fault)


def _renewal_that_failed(picture: Timeline, loss: DrawnLoss) -> Iterator[Happening]:
    """Yield the first renewal that failed in the replica of one of the two: no request reaches its failpoint."""
    replicas = {picture.held[place].replica for place in (loss.culprit, loss.victim) if place != NEVER}
    failed = [fault for fault in picture.faults if fault.effect is Effect.RENEWAL_FAILS and fault.replica in replicas]
    for fault in failed[:1]:
        yield Happening(Kind.RENEWAL_FAILED, fault.at / 1000, place=picture.replicas[fault.replica])


def destroyed(
    held: DrawnGrant, actor: str, kind: Kind = Kind.DESTROYED, number: int = 1, cause: Mechanism | None = None
) -> Happening:
    """Return the write that overwrote what it should not. number: how many increments it destroyed."""
    wrote, over = held.wrote or 0, held.overwrote or 0
    return Happening(kind, held.wrote_moment / 1000, actor, value=wrote, over=over, number=number, cause=cause)


def restored(held: DrawnGrant) -> Happening:
    """Return a write that brings increments back: of a request that had read before they were destroyed."""
    wrote, over = held.wrote or 0, held.overwrote or 0
    return Happening(Kind.RESTORED, held.wrote_moment / 1000, held.request, value=wrote, over=over, number=wrote - over - 1)
