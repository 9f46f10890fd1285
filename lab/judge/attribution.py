"""Attribution: which write destroyed which increment, and by which mechanism.

The *culprit* is a grant whose write destroyed one increment or more. The *victim* is the grant whose value the culprit
overwrote. The *candidates* for the victim are the writes next to the culprit's in the order of time: 256 before it and 256 after
it. So a write is judged when 256 later writes are known, or when the run is over. The last 512 writes stay in memory, however
long the run is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import chain
from operator import attrgetter

from lab.evidence.loss import Loss, Mechanism
from lab.judge.conflict import Conflict
from lab.judge.grant import Grant
from lab.judge.losses import Losses
from lab.judge.mechanisms import explain

NEIGHBOURS = 256  # writes before and after a culprit's among which its victim is looked for

GOT = attrgetter("got_ns")
OnLoss = Callable[[Loss], object]


class Attribution:
    """Take writes. ``losses`` holds the result by mechanism."""

    def __init__(self, conflict: Callable[[Grant, Grant], Conflict], on_loss: OnLoss | None) -> None:
        """Take what returns the evidence around two grants, the elder first."""
        self.losses: dict[Mechanism, Losses] = {}
        self.conflict = conflict
        self.on_loss = on_loss
        self.writes: deque[Grant] = deque()  # the last 2 × NEIGHBOURS
        self.judged = 0  # how many of the writes have been judged

    def wrote(self, grant: Grant) -> None:
        """Take note of a write, and judge the one that is NEIGHBOURS before it."""
        writes = self.writes
        writes.append(grant)
        if len(writes) - self.judged > NEIGHBOURS:
            self._judge_next()
            if len(writes) > 2 * NEIGHBOURS:
                writes.popleft()
                self.judged -= 1

    def close(self) -> None:
        """Judge the rest: no write will follow."""
        while self.judged < len(self.writes):
            self._judge_next()

    def _judge_next(self) -> None:
        culprit = self.writes[self.judged]
        self.judged += 1
        if culprit.overwrote is None or culprit.wrote is None or culprit.overwrote + 1 == culprit.wrote:
            return  # it destroyed nothing
        victim = self._victim_of(culprit, self.judged - 1)
        elder, younger = sorted((culprit, victim or culprit), key=GOT)
        mechanism = explain(self.conflict(elder, younger)).mechanism
        loss = self.losses.setdefault(mechanism, Losses()).add(mechanism, culprit, victim)
        if self.on_loss is not None:
            self.on_loss(loss)

    def _victim_of(self, culprit: Grant, place: int) -> Grant | None:
        """Find the candidate that wrote the overwritten value, and whose time from read to write overlaps the culprit's.

        The nearest earlier candidate comes first, then the later ones. The victim's write was before the culprit's. Its stamp
        can still be later: the replica takes it after the store's answer, and the thread may wait in between.
        """
        earlier = range(place - 1, max(-1, place - NEIGHBOURS - 1), -1)
        later = range(place + 1, min(len(self.writes), place + NEIGHBOURS + 1))
        for index in chain(earlier, later):
            grant = self.writes[index]
            found = grant.wrote == culprit.overwrote and grant.part == culprit.part
            if found and grant.wrote_ns > culprit.reading_ns and grant.read_ns < culprit.wrote_ns:
                return grant
        return None
