"""The windows of a run that its page shows, each as a timeline that opens there.

They are the first loss, a typical one, the worst one, the longest wait, and the fault; without any of them, the beginning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from lab.story.from_findings import opening
from lab.story.happening import Happening, Kind
from lab.story.timeline import NEVER, Timeline

NOWHERE = (NEVER, NEVER)


class Window(NamedTuple):
    """One window."""

    # the code of its name
    name: str
    # the run's timeline, which opens on the window
    picture: Timeline

    @property
    def moment(self) -> float:
        """Return the moment that it is about, in microseconds since the first request."""
        picture = self.picture
        if picture.focus != NEVER:
            return picture.held[picture.losses[picture.focus].culprit].wrote_moment
        if picture.focus_fault != NEVER:
            return picture.faults[picture.focus_fault].at
        return picture.opens[0] if picture.about == NOWHERE else sum(picture.about) / 2


def windows(picture: Timeline) -> list[Window]:
    """Return the windows of a run, first the one on which the run's page opens. No two show the same time."""
    found = [Window(_opening(picture), picture), *_losses(picture), *_longest_wait(picture), *_fault(picture)]
    first = {one.picture.opens: one for one in reversed(found)}
    return [one for one in found if first[one.picture.opens] is one]


def _opening(picture: Timeline) -> str:
    if picture.focus != NEVER:
        return "first_loss"
    return "the_fault" if picture.focus_fault != NEVER else "the_claim" if picture.claim else "beginning"


def _losses(picture: Timeline) -> Iterator[Window]:
    """Yield a typical loss, which is one of the usual size by the usual mechanism, and the worst one."""
    number = Counter(loss.mechanism for loss in picture.losses)
    clear = [place for place, loss in enumerate(picture.losses) if loss.victim != NEVER]
    clear.sort(key=lambda place: picture.losses[place].destroyed)
    usual = [place for place in clear if picture.losses[place].mechanism == number.most_common(1)[0][0]]
    if len(usual) > 2:
        yield _window("typical_loss", picture, focus=usual[len(usual) // 2])
    if clear and picture.losses[clear[-1]].destroyed > picture.losses[clear[0]].destroyed:
        yield _window("worst_loss", picture, focus=clear[-1])


def _longest_wait(picture: Timeline) -> Iterator[Window]:
    """Yield the longest wait for the lock, whether it ended with the lock or in vain."""
    waits = [(held.got - held.asked, held.asked, held.request, Kind.LONGEST_WAIT) for held in picture.held]
    waits += [(one.gave_up - one.asked, one.asked, one.request, Kind.WAITED_IN_VAIN) for one in picture.waited]
    if picture.is_locked and waits:
        longest, asked, request, kind = max(waits)
        claim = (Happening(kind, asked / 1000, request, for_ms=longest / 1000),)
        yield _window("longest_wait", picture, claim=claim, about=(asked, asked + longest))


def _fault(picture: Timeline) -> Iterator[Window]:
    """Yield the first fault."""
    if picture.faults:
        yield _window("the_fault", picture, focus_fault=0)


def _window(name: str, picture: Timeline, **about: Any) -> Window:
    """Return a window that is about something else. about: fields of the timeline."""
    changed = replace(picture, **{"focus": NEVER, "focus_fault": NEVER, "about": NOWHERE} | about)
    return Window(name, replace(changed, opens=opening(changed)))
