"""One lock inside another, made of any two: the same one twice, or two that others take in the other order."""

from __future__ import annotations

import time

from app.lock import Grant, Lock, NotAcquired, Result, Work

SAME, CROSSED = NESTINGS = ("same", "crossed")


class Nested:
    """A lock that is got when both are. pause_s: between the two, so that the two orders really meet."""

    def __init__(self, outer: Lock, inner: Lock, pause_s: float = 0) -> None:
        self.outer = outer
        self.inner = inner
        self.pause_s = pause_s

    def run(self, work: Work[Result]) -> Result:
        """Get the outer one, then the inner one, do the work, let go of both."""

        def within(outer: Grant) -> Result:
            time.sleep(self.pause_s)
            try:
                return self.inner.run(work)
            except NotAcquired as error:
                error.holding = outer.key
                raise

        return self.outer.run(within)
