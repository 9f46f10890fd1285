"""Tell the subject of a judged run as happenings: for the caption of its picture, for the title; and the effects of a fault.

Both are about the picture's first view: a loss, a fault, the claim under test, or the grants in view. All is from the evidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lab.story.happening import Happening, Kind
from lab.story.steps import destroyed
from lab.story.timeline import NEVER, RECEIVED_WITHIN_US, DrawnFault, DrawnGrant, Life, Timeline, at_once, began

SHORTEST_US = 10_000  # a picture that opens later states from when on

Happened = tuple[Happening, ...]


def caption(picture: Timeline) -> tuple[Happened, ...]:
    """Return a caption's statements beside the steps of a loss: whether the claim under test held, and the fault of the picture.

    Each is a sentence. Without any of them, a caption states the writes of the run.
    """
    if picture.focus != NEVER:
        return (picture.claim,) if picture.claim else ()
    if picture.focus_fault != NEVER:
        return ((*of_a_fault(picture, picture.faults[picture.focus_fault]), *_cost(picture)),)
    return ((*picture.claim, *_cost(picture)) if picture.claim else tuple(_of_a_quiet_run(picture)),)


def title(picture: Timeline) -> Happened:
    """Return the statements of a title. Its last part may be the run's losses: that part is left out if it has no room."""
    if picture.focus != NEVER:
        loss = picture.losses[picture.focus]
        wrote = picture.held[loss.culprit]
        happened: Happened = (destroyed(wrote, wrote.request, cause=picture.mechanisms[loss.mechanism]),)
    elif picture.focus_fault != NEVER:
        fault = picture.faults[picture.focus_fault]
        happened = tuple(aftermath(picture, fault))
        if fault.next_got == NEVER:
            return happened
    elif picture.claim:
        return picture.claim
    else:
        happened = (_of_grants(picture),)
    return (*happened, _lost(picture))


def outcome(picture: Timeline) -> Happened:
    """Return the happenings after the steps of the loss on which a picture opens: its cause, and the run's losses."""
    cause = picture.mechanisms[picture.losses[picture.focus].mechanism]
    # later writes may restore the increments that this one overwrote
    lost = _lost(picture) if picture.lost > 0 else Happening(Kind.BROUGHT_BACK)
    return Happening(Kind.CAUSE, cause=cause), lost


def _lost(picture: Timeline) -> Happening:
    return Happening(Kind.RUN_LOST, number=picture.lost) if picture.lost > 0 else Happening(Kind.NOTHING_LOST)


def _cost(picture: Timeline) -> Iterator[Happening]:
    yield _lost(picture)
    if picture.duplicated:
        yield Happening(Kind.COUNTED_TWICE, number=picture.duplicated)


def _of_a_quiet_run(picture: Timeline) -> Iterator[Happening]:
    if picture.writes:
        yield Happening(Kind.WRITTEN, number=picture.writes, for_ms=picture.end / 1000)
        yield from _cost(picture)
    else:
        yield Happening(Kind.NOTHING_WRITTEN)


def _of_grants(picture: Timeline) -> Happening:
    """Return the common trait of the grants in view: renewals, keys, a hand-over inside a replica, or only their number."""
    since, until = picture.opens
    visible = [held for held in picture.held if since <= held.got <= until]
    most = max((number for _, number in at_once((held.got, held.until) for held in visible)), default=0)
    if not picture.is_locked:
        return Happening(Kind.AT_ONCE, number=most)
    renewals = sum(one.succeeded and picture.renews(one) and since <= one.at <= until for one in picture.renewals)
    longest = max((held.until - held.got for held in visible), default=0)
    if renewals and 0 < picture.ttl < longest:
        return Happening(Kind.RENEWALS_KEPT, number=renewals, for_ms=longest / 1000, ttl_ms=picture.ttl / 1000)
    keys = len({held.key for held in visible})
    if keys > 1:
        return Happening(Kind.LOCKS_AT_ONCE, number=most, of=keys)
    if picture.asked_store and (handed := _most_handed_over(visible)) > 1:
        return Happening(Kind.IN_TURN, number=handed)
    kind = Kind.GOT_WITHIN_FROM if since >= SHORTEST_US else Kind.GOT_WITHIN
    return Happening(kind, since / 1000, number=len(visible), for_ms=(until - since) / 1000)


def _most_handed_over(grants: Iterable[DrawnGrant]) -> int:
    """Return how many requests of one replica shared a grant of the store, at most: only the first of them sent commands."""
    most = number = 0
    for held in sorted(grants, key=lambda held: (held.replica, held.got)):
        number = number + 1 if not held.commands else 1
        most = max(most, number)
    return most


SECOND_WRITE = "write_again"  # the phase of a request's second write


def of_a_fault(picture: Timeline, fault: DrawnFault) -> Iterator[Happening]:
    """Yield a caption's statements about a fault: whether it hit a holder, and the next request that got the lock."""
    own = [held for held in picture.held if held.request == fault.request]
    holder = next((held for held in own if held.got <= fault.at <= held.until), None)
    inside = Kind.HELD_AT_FAULT if fault.back == NEVER else Kind.HELD_AT_DEATH
    yield began(picture, fault, Kind.FAULT if holder is None else inside)
    life = picture.lease(holder) if holder is not None else None
    if holder is not None and life is not None and life.how == "expired" and _is_over(life, fault.next_got):
        yield Happening(Kind.LEASE_ENDED, min(life.due, fault.next_got) / 1000, holder.request, ttl_ms=picture.ttl / 1000)
    yield _next_grant(picture, fault)
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


def _next_grant(picture: Timeline, fault: DrawnFault) -> Happening:
    """Return which request got the lock after a fault; or that none did until the end of the run."""
    died, others = fault.back != NEVER, (fault.request,) if fault.request else ()
    if fault.next_got == NEVER:
        kind, for_ms = Kind.NOBODY_GOT_AFTER_DEATH if died else Kind.NOBODY_GOT, (picture.end - fault.at) / 1000
        return Happening(kind, others=others, fault=fault.kind, for_ms=for_ms, locked=picture.is_locked)
    place = next((place for place, held in enumerate(picture.held) if held.got == fault.next_got), NEVER)
    given = picture.voted_for(place)
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
    """Yield the effect of a fault for a title: a refused write, or the request that got the lock."""
    own = [held for held in picture.held if held.request == fault.request]
    refused = next((held for held in own if held.is_refused), None)
    if fault.next_got == NEVER:
        yield from (_next_grant(picture, fault), *_gave_up(picture, fault))
    elif refused is None:
        yield from (*_kept_from_writing(fault, own), *(tuple(_nobody_since(picture, fault)) or (_next_grant(picture, fault),)))
    else:
        yield from (*_kept_from_writing(fault, own), *_why_refused(picture, refused))


def _why_refused(picture: Timeline, refused: DrawnGrant) -> Iterator[Happening]:
    """Yield by which number a resource refused a write: its fence; without one, how many such writes the picture has."""
    others = sum(held.is_refused for held in picture.held) - 1
    if refused.fences is not None:
        fence, seen = refused.fences
        yield Happening(Kind.FENCE_OLDER if fence < seen else Kind.FENCE_OF_ANOTHER, value=fence, over=seen)
    elif others > 0:
        yield Happening(Kind.OTHERS_REFUSED, number=others)


def _kept_from_writing(fault: DrawnFault, own: Sequence[DrawnGrant]) -> Iterator[Happening]:
    """Yield why the request at the failpoint did not write: its write was refused, or it gave up; nothing if neither."""
    if any(held.is_refused for held in own):
        is_second = fault.failpoint.partition(".")[0] == SECOND_WRITE
        yield Happening(Kind.SECOND_WRITE_REFUSED if is_second else Kind.WRITE_REFUSED, actor=fault.request)
    elif any(held.is_abandoned for held in own):
        yield Happening(Kind.GAVE_WORK_UP, actor=fault.request)
