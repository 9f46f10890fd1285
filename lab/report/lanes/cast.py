"""The grants that the title of a run's drawing is about: they are named, whatever else has room."""

from __future__ import annotations

from lab.story import from_run
from lab.story.timeline import NEVER, DrawnGrant, Timeline


def named(picture: Timeline) -> set[str]:
    """Return the requests that the title names."""
    return {name for one in from_run.title(picture) for name in (one.actor, *one.others) if name}


def cast(picture: Timeline) -> list[DrawnGrant]:
    """Return the grants of the title, in the order in which they began.

    They are those of the loss, of the requests that the title names, of the fault, and of a thief, and the one whose fence made
    the resource refuse a write.
    """
    places = set[int]()
    if picture.focus != NEVER:
        loss = picture.losses[picture.focus]
        places |= {loss.culprit, loss.victim}
        robbed = set() if picture.votes else {picture.held[place].lease for place in places - {NEVER}}
        places |= {life.by for number, life in enumerate(picture.lives) if number in robbed and life.how == "del"}
    names = named(picture)
    if picture.focus_fault != NEVER:
        names.add(picture.faults[picture.focus_fault].request)
    since, until = picture.opens
    for place, held in enumerate(picture.held):
        if held.request in names and held.got <= until and held.until >= since:
            places.add(place)
    seen = {held.fences[1] for held in picture.held if held.fences is not None}
    places |= {place for place, held in enumerate(picture.held) if held.fence in seen}
    return [picture.held[place] for place in sorted(places - {NEVER})]
