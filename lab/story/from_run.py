"""What a judged run is about, as happenings: for the caption of its picture, and for the title.

Both are about what the picture opens on: a loss, a fault, the claim under test, or the grants in view. All is from the evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from lab.story.from_fault import aftermath, of_a_fault
from lab.story.happening import Happening, Kind
from lab.story.steps import destroyed
from lab.story.timeline import NEVER, DrawnGrant, Timeline

SHORTEST_US = 10_000  # a picture that opens later states from when on

Happened = tuple[Happening, ...]


def caption(picture: Timeline) -> tuple[Happened, ...]:
    """Return what a caption states next to the steps of a loss: how the claim under test fared, and the fault of the picture.

    Each is a sentence. Without any of them, a caption states what the run wrote.
    """
    if picture.focus != NEVER:
        return (picture.claim,) if picture.claim else ()
    if picture.focus_fault != NEVER:
        return ((*of_a_fault(picture, picture.faults[picture.focus_fault]), *_cost(picture)),)
    return ((*picture.claim, *_cost(picture)) if picture.claim else tuple(_of_a_quiet_run(picture)),)


def title(picture: Timeline) -> Happened:
    """Return what a title states. The last may be what the run lost: it is left out where it has no room."""
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
    """Return what follows the steps of the loss on which a picture opens: its cause, and what the run lost."""
    cause = picture.mechanisms[picture.losses[picture.focus].mechanism]
    # later writes may bring back what this one overwrote
    lost = _lost(picture) if picture.lost > 0 else Happening(Kind.BROUGHT_BACK)
    return Happening(Kind.CAUSE, cause=cause), lost


def _lost(picture: Timeline) -> Happening:
    return Happening(Kind.RUN_LOST, number=picture.lost) if picture.lost > 0 else Happening(Kind.NOTHING_LOST)


def _cost(picture: Timeline) -> Iterator[Happening]:
    yield _lost(picture)
    if picture.duplicated:
        yield Happening(Kind.COUNTED_TWICE, number=picture.duplicated)


def _of_a_quiet_run(picture: Timeline) -> Iterator[Happening]:
    if not picture.writes:
        yield Happening(Kind.NOTHING_WRITTEN)
        return
    yield Happening(Kind.WRITTEN, number=picture.writes, for_ms=picture.end / 1000)
    yield Happening(Kind.SOME_LOST, number=picture.lost) if picture.lost > 0 else Happening(Kind.NONE_LOST)
    longest = max(picture.held, key=lambda held: held.until - held.got, default=None)
    if longest is not None and picture.is_locked and 0 < picture.ttl < longest.until - longest.got:
        held_ms, ttl_ms = (longest.until - longest.got) / 1000, picture.ttl / 1000
        yield Happening(Kind.HELD_BEYOND_TTL, actor=longest.request, for_ms=held_ms, ttl_ms=ttl_ms)
    if picture.duplicated:
        yield Happening(Kind.COUNTED_TWICE, number=picture.duplicated)


def _of_grants(picture: Timeline) -> Happening:
    """Return what the grants in view have in common: renewals, keys, a hand-over inside a replica, or only their number."""
    since, until = picture.opens
    visible = [held for held in picture.held if since <= held.got <= until]
    at_once = _most_at_once(visible)
    if not picture.is_locked:
        return Happening(Kind.AT_ONCE, number=at_once)
    renewals = sum(one.succeeded and picture.renews(one) and since <= one.at <= until for one in picture.renewals)
    longest = max((held.until - held.got for held in visible), default=0)
    if renewals and 0 < picture.ttl < longest:
        return Happening(Kind.RENEWALS_KEPT, number=renewals, for_ms=longest / 1000, ttl_ms=picture.ttl / 1000)
    keys = len({held.key for held in visible})
    if keys > 1:
        return Happening(Kind.LOCKS_AT_ONCE, number=at_once, of=keys)
    if picture.asked_store and (handed := _most_handed_over(visible)) > 1:
        return Happening(Kind.IN_TURN, number=handed)
    kind = Kind.GOT_WITHIN_FROM if since >= SHORTEST_US else Kind.GOT_WITHIN
    return Happening(kind, since / 1000, number=len(visible), for_ms=(until - since) / 1000)


def _most_at_once(grants: Iterable[DrawnGrant]) -> int:
    """Return how many requests were in the work at the same time, at most."""
    turns = Counter[int]()
    for held in grants:
        turns[held.got] += 1
        turns[held.until] -= 1
    most = number = 0
    for at in sorted(turns):
        number += turns[at]
        most = max(most, number)
    return most


def _most_handed_over(grants: Iterable[DrawnGrant]) -> int:
    """Return how many requests of one replica shared a grant of the store, at most: only the first of them sent commands."""
    most = number = 0
    for held in sorted(grants, key=lambda held: (held.replica, held.got)):
        number = number + 1 if not held.commands else 1
        most = max(most, number)
    return most
