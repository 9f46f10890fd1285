"""A fault of a judged run as happenings: whether it hit a holder, who got the lock next, who gave up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.story.happening import Happening, Kind
from lab.story.timeline import NEVER, RECEIVED_WITHIN_US, DrawnFault, DrawnGrant, Life, Timeline

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
    life = picture.lease(holder) if holder is not None else None
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
