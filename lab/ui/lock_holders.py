"""Who is inside the lock, replica by replica, in short bins of time: what the live page's strip shows.

Of each bin, for which share of it a replica had a holder, and for which share one that was not alone: somebody else, at
whatever replica, held the same key. At any speed of a run a bin is two digits a replica.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import ceil
from typing import Any

from app.journal import AnyEvent, Got, Released, Started

BIN_NS = 25_000_000
KEPT = 400  # bins of a look at most: what is older has left the strip


class LockHolders:
    """Fed with journals' events in about the order of time, asked for the bins that are over.

    since_ns: where the first bin begins.
    """

    def __init__(self, replicas: Sequence[str], since_ns: int) -> None:
        self.replicas = list(replicas)
        self._since_ns = self._now_ns = since_ns
        self._waiting: list[tuple[int, str, AnyEvent]] = []
        self._keys: dict[tuple[str, str], list[str]] = {}  # what each request holds, by replica and request
        self._holders: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._held: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._crowded: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._given = 0  # bins told so far

    def feed(self, replica: str, event: AnyEvent) -> None:
        """An event as it was read."""
        if isinstance(event, Got | Started):
            self._waiting.append((event.at_ns, replica, event))
        elif isinstance(event, Released):
            self._waiting.append((event.releasing_ns, replica, event))

    def until(self, horizon_ns: int) -> dict[str, Any]:
        """The bins that are over by then and were not told yet: the number of the first, and a digit a bin, 0 never to 9
        all the time, by replica: ``held`` and, of that, not alone (``crowded``).
        """
        self._waiting.sort(key=lambda one: one[0])
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
        told = {name: self._digits(bins, first, over) for name, bins in (("held", self._held), ("crowded", self._crowded))}
        for bins in (self._held, self._crowded):
            for number in [number for number in bins if number < over]:
                del bins[number]
        self._given = over
        return {"first": first, **told}

    def _digits(self, bins: Any, first: int, over: int) -> dict[str, str]:
        return {
            replica: "".join(
                str(min(9, ceil(9 * bins[number][replica] / BIN_NS))) if number in bins else "0" for number in range(first, over)
            )
            for replica in self.replicas
        }

    def _happen(self, replica: str, event: AnyEvent) -> None:
        match event:
            case Got():
                own = self._keys.setdefault((replica, event.request), [])
                self._holders[event.key][replica] += event.key not in own  # who gets in again is still one
                own.append(event.key)
            case Released():
                if keys := self._keys.get((replica, event.request)):
                    key = keys.pop()
                    self._holders[key][replica] -= key not in keys
                    if not keys:
                        del self._keys[replica, event.request]
            case Started():  # whoever was inside there is no more
                for name in [name for name in self._keys if name[0] == replica]:
                    for key in set(self._keys.pop(name)):
                        self._holders[key][replica] -= 1

    def _pass(self, until_ns: int) -> None:
        """Time goes on: whoever is inside is inside for that long."""
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
