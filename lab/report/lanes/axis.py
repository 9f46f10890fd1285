"""The axis of time of a run's drawing. Where nobody gets the lock any more, its end is denser: it reaches to the run's end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.story.timeline import NEVER, Timeline

WIDTH, LEFT, RIGHT = 850, 116, 10  # of the drawing, and what is next to the lanes
ROOM = WIDTH - LEFT - RIGHT  # for the view that the drawing opens on
DENSE_SHARE = 0.34  # of the width, for the dense end
DENSER_BY = 2.5  # at least; otherwise the whole axis is even
MARGIN = 0.015  # of the width, after the run's end: what happens there is not cut off
TICKS = (1, 2, 5)  # times a power of ten
MOST_TICKS = 8  # in each part
APART = 0.04  # of the width, at least between the begin of the dense end and its first tick
SHARP_US = 5  # so far a place on a page may be off, in the part of the axis that is not dense


@dataclass(frozen=True)
class Axis:
    """The span of a picture, in microseconds since the first request."""

    since: int
    until: int
    # where the dense end begins; NEVER where the axis is even
    bend: int = NEVER

    @property
    def denser_by(self) -> float:
        """Return how many times as much time a part of the width has in the dense end; 1 where the axis is even."""
        if self.bend == NEVER:
            return 1
        return (self.until - self.bend) / DENSE_SHARE / ((self.bend - self.since) / (1 - DENSE_SHARE))

    @property
    def digits(self) -> int:
        """Return how many digits a place on a page needs, so that a reader can zoom in."""
        a_pixel = (self.until - self.since if self.bend == NEVER else self.bend - self.since) / ROOM
        return max(1, math.ceil(math.log10(max(1, a_pixel / SHARP_US))))

    def place(self, at: float) -> float:
        """Return where a moment is: 0 at the left, 1 at the right."""
        if self.bend == NEVER:
            return (at - self.since) / (self.until - self.since)
        if at <= self.bend:
            return (at - self.since) / (self.bend - self.since) * (1 - DENSE_SHARE)
        return 1 - DENSE_SHARE + (at - self.bend) / (self.until - self.bend) * DENSE_SHARE

    def has(self, at: float) -> bool:
        """Return whether a moment is in view."""
        return self.since <= at <= self.until

    def ticks(self) -> Iterator[int]:
        """Yield the moments at which the axis has a number."""
        if self.bend == NEVER:
            yield from _round(self.since, self.until)
        else:
            yield from _round(self.since, self.bend)
            yield from (at for at in _round(self.bend, self.until) if self.place(at) > 1 - DENSE_SHARE + APART)


def axis_of(picture: Timeline) -> Axis:
    """Return the axis: the span that the picture opens on. Where nobody gets the lock after a fault, it reaches to the end."""
    since, until = picture.opens
    if not picture.is_stuck:
        return Axis(since, until + round(MARGIN * (until - since)) * (until >= picture.end))
    at = picture.faults[picture.focus_fault].at
    end = max(picture.end, until)
    even = Axis(since, end + round(MARGIN * (end - since)))
    bend = Axis(since, end + round(MARGIN / DENSE_SHARE * (end - at)), min(until, at + (at - since) // 2))
    return bend if bend.bend > since and bend.denser_by >= DENSER_BY else even


def _round(since: int, until: int) -> Sequence[int]:
    """Return moments with few digits in a span, at most MOST_TICKS."""
    steps = (number * 10**power for power in range(10) for number in TICKS)
    step = next((step for step in steps if (until - since) / step <= MOST_TICKS), until - since)
    return list(range(-(-since // step) * step, until + 1, step))
