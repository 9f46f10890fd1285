"""The holders of the lock, replica by replica, in short bins of time: the strip of the live page.

For each bin and replica: the share of the bin in which the replica had a holder, and the share in which that holder was not
alone, because another request held the same key in any replica. However fast a run is, a bin costs two digits a replica.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import ceil
from typing import Any

from app.journal import AnyEvent, Got, Released, Started
from lab.judge.grant import Grant, Grants

BIN_NS = 25_000_000
KEPT = 400  # bins of one answer at most: older bins have left the strip


class LockHolders:
    """Take journals' events in about the order of time, and return the bins that are over."""

    def __init__(self, replicas: Sequence[str], since_ns: int) -> None:
        """since_ns: where the first bin begins."""
        self.replicas = list(replicas)
        self._since_ns = self._now_ns = since_ns
        self._waiting: list[tuple[int, str, AnyEvent]] = []  # events that are not due yet
        self._grants = Grants()
        self._holders: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))  # by key and replica
        self._held: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._crowded: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._given = 0  # bins returned so far

    def feed(self, replica: str, event: AnyEvent) -> None:
        """Take one event."""
        if isinstance(event, Got | Started):
            self._waiting.append((event.at_ns, replica, event))
        elif isinstance(event, Released):
            self._waiting.append((event.releasing_ns, replica, event))

    def until(self, horizon_ns: int) -> dict[str, Any]:
        """Return the bins that are over by then and were not returned yet: the number of the first bin, and digits by replica.

        A digit is a share of its bin, from 0 (never) to 9 (all the time): ``held`` with a holder, ``crowded`` with one not alone.
        """
        self._waiting.sort(key=lambda waiting: waiting[0])
        due = 0
        for at_ns, replica, event in self._waiting:
            if at_ns > horizon_ns:
                break
            self._pass(at_ns)
            self._happen(replica, event)
            due += 1
        del self._waiting[:due]
        self._pass(horizon_ns)
        over = max(self._given, (self._now_ns - self._since_ns) // BIN_NS)
        first = max(self._given, over - KEPT)
        digits = {name: self._digits(bins, first, over) for name, bins in (("held", self._held), ("crowded", self._crowded))}
        for bins in (self._held, self._crowded):
            for number in [number for number in bins if number < over]:
                del bins[number]
        self._given = over
        return {"first": first, **digits}

    def _digits(self, bins: Any, first: int, over: int) -> dict[str, str]:
        return {
            replica: "".join(
                str(min(9, ceil(9 * bins[number][replica] / BIN_NS))) if number in bins else "0" for number in range(first, over)
            )
            for replica in self.replicas
        }

    def _happen(self, replica: str, event: AnyEvent) -> None:
        """Apply an event that is due."""
        grant = self._grants.take(replica, event)
        if isinstance(event, Started):  # the holders in that replica died with the process before
            for lost in self._grants.lost_with_process(replica):
                self._left(lost)
        elif isinstance(event, Got) and grant is not None:
            self._holders[grant.key][replica] += not self._holds_besides(grant)
        elif isinstance(event, Released) and grant is not None:
            self._left(grant)

    def _left(self, grant: Grant) -> None:
        """Count a holder out, unless its request still holds the key by another grant."""
        self._holders[grant.key][grant.replica] -= not self._holds_besides(grant)

    def _holds_besides(self, grant: Grant) -> bool:
        """Return whether the request holds the key by another grant: a request that enters again is still one holder."""
        same = (grant.replica, grant.request, grant.key)
        grants = self._grants.open.values()
        return any((other.replica, other.request, other.key) == same for other in grants if other is not grant)

    def _pass(self, until_ns: int) -> None:
        """Let time pass: each holder holds the lock for that long."""
        if until_ns <= self._now_ns:
            return
        held, crowded = set(), set()
        for holders in self._holders.values():
            inside = [replica for replica, number in holders.items() if number > 0]
            held.update(inside)
            if sum(holders.values()) > 1:
                crowded.update(inside)
        while self._now_ns < until_ns:
            number = (self._now_ns - self._since_ns) // BIN_NS
            step = min(until_ns, self._since_ns + (number + 1) * BIN_NS)
            lasted = step - self._now_ns
            for replica in held:
                self._held[number][replica] += lasted
            for replica in crowded:
                self._crowded[number][replica] += lasted
            self._now_ns = step
