"""The axis of time of a still timeline. Where nobody gets the lock any more, its end is denser: it reaches to the run's end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.story.timeline import NEVER, Timeline

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    Map = Callable[[ArrayLike], NDArray[np.float64]]

DENSE_SHARE = 0.34  # of the width, for the dense end
DENSER_BY = 2.5  # at least; otherwise the whole axis is even
MARGIN = 0.015  # of the width, after the run's end: what happens there is not cut off
TICKS = (1, 2, 5)  # times a power of ten
MOST_TICKS = 6  # in each part
APART = 0.04  # of the width, at least between the begin of the dense end and its first tick


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

    def set(self, axes: Axes) -> None:
        """Give the axes this span, in seconds, with its ticks and its name."""
        name = "seconds since the first request"
        if self.bend != NEVER:
            forward, back = _seconds(self)
            axes.set_xscale("function", functions=(forward, back))
            dense = [at for at in _round(self.bend, self.until) if self.place(at) > 1 - DENSE_SHARE + APART]
            ticks = [*_round(self.since, self.bend), *dense]
            axes.set_xticks([at / 1e6 for at in ticks], [f"{at / 1e6:g}" for at in ticks])
            axes.axvline(self.bend / 1e6, color="#555555", linewidth=3, linestyle=(0, (1, 1)))
            name += f"; from {self.bend / 1e6:.2f} s on, time is drawn {self.denser_by:.0f} times as dense"
        axes.set_xlim(self.since / 1e6, self.until / 1e6)
        axes.set_xlabel(name)


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


def _seconds(axis: Axis) -> tuple[Map, Map]:
    """Return the functions that matplotlib needs: from seconds to places, and back. Both go on beyond the ends."""
    import numpy as np

    bend, since, until = axis.bend / 1e6, axis.since / 1e6, axis.until / 1e6
    moments, places = [since, bend, until], [0.0, 1 - DENSE_SHARE, 1.0]
    before, after = (1 - DENSE_SHARE) / (bend - since), DENSE_SHARE / (until - bend)

    def forward(moment: ArrayLike) -> NDArray[np.float64]:
        at = np.asarray(moment, dtype=float)
        inside = np.interp(at, moments, places)
        return np.asarray(inside + np.minimum(at - since, 0) * before + np.maximum(at - until, 0) * after)

    def back(part: ArrayLike) -> NDArray[np.float64]:
        place = np.asarray(part, dtype=float)
        inside = np.interp(place, places, moments)
        return np.asarray(inside + np.minimum(place, 0) / before + np.maximum(place - 1, 0) / after)

    return forward, back


def _round(since: int, until: int) -> Sequence[int]:
    """Return moments with few digits in a span, at most MOST_TICKS."""
    steps = (number * 10**power for power in range(3, 10) for number in TICKS)
    step = next((step for step in steps if (until - since) / step <= MOST_TICKS), until - since)
    return list(range(-(-since // step) * step, until + 1, step))
