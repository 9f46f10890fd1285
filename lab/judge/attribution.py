"""Who destroyed each lost increment: the culprit's write, the victim whose value it found, and the mechanism behind it.

Writes are given in the order of time and judged when as many have followed, so that a culprit sees both sides. Memory is
that of a window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import msgspec

from lab.judge.fault_outcome import FaultOutcome
from lab.judge.grant import Increment, Party
from lab.judge.mechanisms import Case, Truth, explain

NEIGHBOURS = 256  # writes before and after a culprit's among which its victim is looked for
EXAMPLES = 5


class Loss(msgspec.Struct, gc=False):
    """A write that destroyed increments (or, below nought, brought some back). victim: None where the evidence names nobody."""

    destroyed: int
    mechanism: str
    culprit: Party
    victim: Party | None


Tell = Callable[[Loss], object]


@dataclass
class Losses:
    """What one mechanism destroyed, by how many writes, and the first of them as evidence.

    restored: how many increments were brought back, by writes whose read came before the destruction.
    """

    destroyed: int = 0
    restored: int = 0
    writes: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)


class Blame:
    """Takes writes and releases; ``losses`` is by mechanism. tell: is given each write that destroyed increments."""

    def __init__(
        self, truth: Truth, has_store: bool, store_persists: bool, faults: Sequence[FaultOutcome], tell: Tell | None
    ) -> None:
        self.losses: dict[str, Losses] = {}
        self.truth = truth
        self.has_store = has_store
        self.store_persists = store_persists
        self.faults = faults
        self.tell = tell
        self.writes: deque[Increment] = deque()  # the last 2 × NEIGHBOURS
        self.releases: deque[Increment] = deque(maxlen=4 * NEIGHBOURS)
        self.judged = 0  # how many of the writes have been looked at

    def released(self, one: Increment) -> None:
        """It let go: perhaps of another's lock."""
        self.releases.append(one)

    def wrote(self, one: Increment) -> None:
        """It wrote; whoever wrote NEIGHBOURS before it is judged now."""
        self.writes.append(one)
        if len(self.writes) - self.judged > NEIGHBOURS:
            self._judge_next()
        if len(self.writes) > 2 * NEIGHBOURS:
            self.writes.popleft()
            self.judged -= 1

    def close(self) -> None:
        """No write will follow."""
        while self.judged < len(self.writes):
            self._judge_next()

    def _judge_next(self) -> None:
        culprit = self.writes[self.judged]
        self.judged += 1
        destroyed = culprit.destroyed
        if destroyed == 0:
            return
        victim = self._victim_of(culprit, self.judged - 1)
        mechanism = explain(Case(culprit, victim, self.has_store, self.truth, self.releases, self.faults, self.store_persists))
        losses = self.losses.setdefault(mechanism.name, Losses())
        if destroyed > 0:
            losses.destroyed += destroyed
            losses.writes += 1
        else:
            losses.restored -= destroyed
        about = Loss(destroyed, mechanism.name, culprit.facts(), None if victim is None else victim.facts())
        if len(losses.examples) < EXAMPLES and destroyed > 0:
            losses.examples.append(msgspec.to_builtins(about))
        if self.tell is not None:
            self.tell(about)

    def _victim_of(self, culprit: Increment, place: int) -> Increment | None:
        """Whose value the culprit found: a neighbour that left it, and whose write fell between the culprit's read and write.

        Earlier ones first; a later one is later by its stamp only, when a thread was held up between answer and stamp.
        """
        earlier = range(place - 1, max(-1, place - NEIGHBOURS - 1), -1)
        later = range(place + 1, min(len(self.writes), place + NEIGHBOURS + 1))
        for index in chain(earlier, later):
            one = self.writes[index]
            found = one.wrote == culprit.overwrote and one.part == culprit.part
            if found and one.wrote_ns > culprit.reading_ns and one.read_ns < culprit.wrote_ns:
                return one
        return None
