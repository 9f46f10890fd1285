"""What all rooms agree on: moments on a grid, names of keys, what nothing here models, time limits, how what is known is kept."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Generic, TypeVar

EPOCH_MS = 1_700_000_000_300  # the time of day at which a search begins: no whole second, on which a lease could end in time
GRID_MS = 100  # a moment is a multiple of this: fewer moments, fewer states
KEY, NUMBER = "L", "n"  # the lock's key and the counter's: short, for pictures
H = TypeVar("H", bound=Hashable)


class TimeLimit:
    """A budget of this process's processor time. It is over as well when five times as much has passed on the clock."""

    PASSES = 5

    def __init__(self, budget_s: float) -> None:
        self.budget_s, self._from_s = budget_s, (time.process_time(), time.monotonic())

    @property
    def spent_s(self) -> tuple[float, float]:
        """How much of it is spent: as processor time, and as what has passed."""
        return time.process_time() - self._from_s[0], (time.monotonic() - self._from_s[1]) / self.PASSES

    @property
    def left_s(self) -> float:
        """How much of it is left; below zero if it is over."""
        return self.budget_s - max(self.spent_s)


class NotExplored(BaseException):
    """The stage does something that the explorer has no model of. The message says what."""


class Numbered(list[H], Generic[H]):
    """Things, each with a number: its place. Equal things have one number."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[H, int] = {}

    def number(self, thing: H) -> int:
        """Return the number of a thing. One that was never met gets the next."""
        number = self._numbers.get(thing)
        if number is None:
            number = self._numbers[thing] = len(self)
            self.append(thing)
        return number


def on_grid(duration_ms: float) -> int:
    """Return a duration in milliseconds, rounded up to the grid."""
    return int(-(-duration_ms // GRID_MS) * GRID_MS)
