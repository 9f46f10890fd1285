"""Attribution: which write destroyed which increment, and by which mechanism.

The *culprit* wrote, and the *victim* is the grant whose value it overwrote. Writes are reported in the order of time. Each is
judged when enough later writes are known, so that the culprit's neighbours on both sides are candidates. Memory is that of a
window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import chain

from lab.evidence.loss import Loss
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.findings import RunFacts
from lab.judge.grant import Grant
from lab.judge.key_history import KeyHistory
from lab.judge.losses import Losses
from lab.judge.lost_increment import LostIncrement
from lab.judge.mechanisms import explain

NEIGHBOURS = 256  # writes before and after a culprit's among which its victim is looked for

OnLoss = Callable[[Loss], object]


class Attribution:
    """Take writes and releases. ``losses`` holds the result by mechanism."""

    def __init__(self, keys: KeyHistory, run: RunFacts, faults: Sequence[FaultOutcome], on_loss: OnLoss | None) -> None:
        self.losses: dict[str, Losses] = {}
        self.keys = keys
        self.run = run
        self.faults = faults
        self.on_loss = on_loss
        self.writes: deque[Grant] = deque()  # the last 2 × NEIGHBOURS
        self.releases: deque[Grant] = deque(maxlen=4 * NEIGHBOURS)
        self.judged = 0  # how many of the writes have been judged

    def released(self, grant: Grant) -> None:
        """Take note of a release: it may have deleted another holder's lock."""
        self.releases.append(grant)

    def wrote(self, grant: Grant) -> None:
        """Take note of a write, and judge the one that is NEIGHBOURS before it."""
        self.writes.append(grant)
        if len(self.writes) - self.judged > NEIGHBOURS:
            self._judge_next()
        if len(self.writes) > 2 * NEIGHBOURS:
            self.writes.popleft()
            self.judged -= 1

    def close(self) -> None:
        """Judge the rest: no write will follow."""
        while self.judged < len(self.writes):
            self._judge_next()

    def _judge_next(self) -> None:
        culprit = self.writes[self.judged]
        self.judged += 1
        if culprit.destroyed == 0:
            return
        victim = self._victim_of(culprit, self.judged - 1)
        run = self.run
        lost = LostIncrement(culprit, victim, run.has_store, run.store_persists, self.keys, self.releases, self.faults)
        mechanism = explain(lost)
        loss = self.losses.setdefault(mechanism.name, Losses()).add(mechanism.name, culprit, victim)
        if self.on_loss is not None:
            self.on_loss(loss)

    def _victim_of(self, culprit: Grant, place: int) -> Grant | None:
        """Find the neighbour that left the overwritten value, and whose write fell between the culprit's read and write.

        Earlier neighbours come first. A victim is later by its stamp only when its thread was held up between answer and stamp.
        """
        earlier = range(place - 1, max(-1, place - NEIGHBOURS - 1), -1)
        later = range(place + 1, min(len(self.writes), place + NEIGHBOURS + 1))
        for index in chain(earlier, later):
            grant = self.writes[index]
            found = grant.wrote == culprit.overwrote and grant.part == culprit.part
            if found and grant.wrote_ns > culprit.reading_ns and grant.read_ns < culprit.wrote_ns:
                return grant
        return None
