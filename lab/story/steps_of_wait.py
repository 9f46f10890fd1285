"""A lock that stays taken after a fault, in at most six steps: its holder, the lock, and a request that asks in vain, or late."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from lab.story.from_loss import began, ended
from lab.story.happening import Happening, Kind
from lab.story.steps import FAULT, GOT, Event, Line, StepsOfLoss, grouped, steps
from lab.story.timeline import NEVER, DrawnFault, DrawnGrant, Timeline, Waited


def steps_of_run(picture: Timeline) -> StepsOfLoss | None:
    """Return the steps of the loss that a run is about, or of the fault that kept the lock from others; None without either."""
    return steps(picture) or steps_of_wait(picture)


def steps_of_wait(picture: Timeline) -> StepsOfLoss | None:
    """Return the steps of the fault that kept the lock from others; None without one, or without a request that waited."""
    if not picture.is_kept_from_others or picture.focus_fault == NEVER:
        return None
    fault = picture.faults[picture.focus_fault]
    waited = _in_vain(picture, fault) if fault.next_got == NEVER else _late(picture, fault)
    if not fault.request or waited is None:
        return None
    events = sorted(_events(picture, fault, waited), key=lambda event: event.what.at_ms)
    a, b = ((one.request, picture.replicas[one.replica]) for one in (fault, waited))
    return StepsOfLoss(picture.stage, a, b, True, False, _outcome(picture, fault), tuple(map(tuple, grouped(events))))


def _in_vain(picture: Timeline, fault: DrawnFault) -> Waited | None:
    """Return the first request that asked after the fault and gave up; without one, the first that gave up after it."""
    after = sorted((one for one in picture.waited if one.gave_up > fault.at), key=lambda one: one.asked)
    return next((one for one in after if one.asked > fault.at), next(iter(after), None))


def _late(picture: Timeline, fault: DrawnFault) -> DrawnGrant | None:
    """Return the grant that came next."""
    return next((one for one in picture.held if one.got == fault.next_got), None)


def _outcome(picture: Timeline, fault: DrawnFault) -> Happening:
    """Return what the steps end with, as a title has it."""
    if fault.next_got == NEVER:
        return Happening(Kind.NOBODY_GOT, others=(fault.request,), fault=fault.kind, for_ms=(picture.end - fault.at) / 1000)
    after_ms = (fault.next_got - fault.at) / 1000
    return Happening(Kind.NEXT_GOT, fault.next_got / 1000, fault.next_request, fault=fault.kind, for_ms=after_ms)


def _events(picture: Timeline, fault: DrawnFault, waited: Waited | DrawnGrant) -> Iterator[Event]:
    own = [held for held in picture.held if held.request == fault.request]
    holder = next((held for held in own if held.got <= fault.at), None)
    if holder is not None:
        place = picture.replicas[holder.replica]
        yield Event(Happening(Kind.GRANTED, holder.got / 1000, Line.A, place=place), Line.LOCK, Line.A, GOT)
    happened = replace(began(picture, fault), kind=Kind.FAULT, actor=Line.A, effect=fault.effect.value)
    yield Event(happened, Line.A, Line.A, FAULT, is_own=False)
    yield Event(Happening(Kind.ASKED, waited.asked / 1000, Line.B), Line.B, Line.LOCK, GOT)
    yield from _of_key(picture, fault, holder, waited)
    yield from _end(picture, fault, waited)


def _of_key(picture: Timeline, fault: DrawnFault, holder: DrawnGrant | None, waited: Waited | DrawnGrant) -> Iterator[Event]:
    """Yield what became of the holder's key, where the store reported it."""
    lease = picture.lives[holder.lease] if holder is not None and holder.lease != NEVER else None
    if lease is None:
        return
    if lease.gone == NEVER and lease.due == NEVER:
        stays = Happening(Kind.KEY_STAYED, max(waited.asked, fault.at) / 1000 + 0.001, others=(Line.A,))
        yield Event(stays, Line.LOCK, Line.LOCK, FAULT, is_own=False)
    elif lease.how == "expired" and lease.gone > fault.at:
        over = Happening(Kind.LEASE_OVER, ended(lease) / 1000, others=(Line.A,), ttl_ms=picture.ttl / 1000)
        yield Event(over, Line.LOCK, Line.LOCK, FAULT, is_own=False)


def _end(picture: Timeline, fault: DrawnFault, waited: Waited | DrawnGrant) -> Iterator[Event]:
    """Yield how the wait of B ended, and how many others gave up."""
    for_ms = ((waited.gave_up if isinstance(waited, Waited) else waited.got) - waited.asked) / 1000
    if isinstance(waited, DrawnGrant):
        after_ms = (waited.got - fault.at) / 1000
        yield Event(Happening(Kind.NEXT_GOT, waited.got / 1000, Line.B, for_ms=after_ms), Line.LOCK, Line.B, GOT)
        return
    yield Event(Happening(Kind.GAVE_UP_WAITING, waited.gave_up / 1000, Line.B, for_ms=for_ms), Line.B, Line.B, GOT)
    others = [one.gave_up for one in picture.waited if one.gave_up > fault.at and one is not waited]
    if others:
        last = max(*others, waited.gave_up) / 1000 + 0.001
        yield Event(Happening(Kind.OTHERS_GAVE_UP, last, number=len(others)), Line.LOCK, Line.LOCK, FAULT, is_own=False)
