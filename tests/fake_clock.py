"""A monotonic clock that a test moves."""


class FakeClock:
    """Replaces the module ``time``: a sleep moves the clock, and is counted."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.sleeps = 0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        self.sleeps += 1
