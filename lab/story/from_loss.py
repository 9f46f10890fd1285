"""A loss of a judged run, as happenings in the order of time: who was inside, how the other came in, and both writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lab.evidence.fault_effect import AT_THE_STORE, Effect
from lab.evidence.mechanism import Mechanism
from lab.story.from_fault import began
from lab.story.happening import Happening, Kind
from lab.story.timeline import NEVER, DrawnGrant, DrawnLoss, Life, Timeline


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
