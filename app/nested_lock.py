"""A lock made of two others: the same lock twice, or two locks that other requests take in the opposite order."""

from __future__ import annotations

import time

from app.lock import Grant, Lock, NotAcquired, Result, Work

SAME, CROSSED = NESTINGS = ("same", "crossed")


class NestedLock:
    """Acquires ``outer``, then ``inner``. ``pause_s`` is between them: two requests of opposite order then deadlock."""

    def __init__(self, outer: Lock, inner: Lock, pause_s: float = 0) -> None:
        self.outer = outer
        self.inner = inner
        self.pause_s = pause_s

    def run(self, work: Work[Result]) -> Result:
        """Acquire the outer lock, then the inner lock; do the work; release both."""

        def within(outer: Grant) -> Result:
            time.sleep(self.pause_s)
            try:
                return self.inner.run(work)
            except NotAcquired as error:
                error.holding = outer.key
                raise

        return self.outer.run(within)
