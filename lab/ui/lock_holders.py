"""The holders of the lock, replica by replica, in short bins of time: the strip of the live page.

A grant is confirmed when its ``released`` line is in the journal: only then is it known until when its holder believed to hold
the lock. Until then the page draws the grant pale. Two holders at once are reported only where both grants are confirmed. So a
line that comes late changes bins that were published already, and the answer begins with the first bin that changed.

A grant that names no key is work without a lock: it keeps no other request out, and so it is never called a crowd.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from app.journal import AnyEvent, Got, Released, Started
from lab.judge.grant import Grant, Grants

BIN_NS = 25_000_000
KEPT = 400  # bins on the strip: older bins have left it
OPEN = 1 << 62  # the end of a stay whose end is not known yet
LAYERS = ("held", "pale", "crowded")


@dataclass(eq=False, slots=True)
class Stay:
    """A grant on the strip, from getting the lock to the end of its work."""

    grant: Grant
    until_ns: int = OPEN


class LockHolders:
    """Take journals' events as they come, and return the bins that are new or have changed."""

    def __init__(self, replicas: Sequence[str], since_ns: int) -> None:
        """since_ns: where the first bin begins."""
        self.replicas = list(replicas)
        # whether a grant named a key; None before the first grant
        self.locked: bool | None = None
        self._since_ns = since_ns
        self._stays: list[Stay] = []  # of the bins that are on the strip
        self._full = 2 * KEPT  # from this number on, stays that have left the strip are forgotten
        self._grants = Grants()
        self._open: dict[Grant, Stay] = {}
        self._over = 0  # bins published so far
        self._changed_ns = since_ns  # all bins before this moment are published as they are
        self._last_ns = since_ns  # when the last known stay ended

    def feed(self, replica: str, event: AnyEvent) -> None:
        """Take one event."""
        if isinstance(event, Started):  # the holders in that replica died with the process before
            for lost in self._grants.lost_with_process(replica):
                self._end(lost, event.started_ns)
        elif isinstance(event, Got | Released) and (grant := self._grants.take(replica, event)) is not None:
            if isinstance(event, Got):
                self._begin(grant)
            else:
                self._end(grant, grant.releasing_ns)

    def idle_s(self, now_ns: int) -> float:
        """Return for how long no request has been inside."""
        return 0.0 if self._open else round(max(0, now_ns - self._last_ns) / 1e9, 1)

    def until(self, horizon_ns: int) -> dict[str, Any]:
        """Return the bins that are over by then and are new or have changed: the first one's number, and digits by replica.

        A digit is a share of its bin, from 0 (never) to 9 (all the time): ``held`` by a confirmed holder, ``pale`` by a holder
        that is not confirmed, and ``crowded`` by a confirmed holder that was not the only one.
        """
        over = max(self._over, (horizon_ns - self._since_ns) // BIN_NS)
        changed = max(0, (self._changed_ns - self._since_ns) // BIN_NS)
        first = max(0, over - KEPT, min(changed, self._over))
        bins = self._bins(first, over)
        self._over = over
        self._changed_ns = horizon_ns
        if len(self._stays) > self._full:
            left_ns = self._since_ns + (over - KEPT) * BIN_NS
            self._stays = [stay for stay in self._stays if stay.until_ns > left_ns]
            self._full = 2 * max(KEPT, len(self._stays))
        return bins

    def whole(self) -> dict[str, Any]:
        """Return all published bins that are on the strip, as ``until`` does: for a browser that connects now."""
        return self._bins(max(0, self._over - KEPT), self._over)

    def _begin(self, grant: Grant) -> None:
        self.locked = bool(self.locked or grant.key)
        self._open[grant] = Stay(grant)
        self._stays.append(self._open[grant])
        self._changed_ns = min(self._changed_ns, grant.got_ns)

    def _end(self, grant: Grant, until_ns: int) -> None:
        self._open.pop(grant).until_ns = until_ns
        self._last_ns = max(self._last_ns, until_ns)
        self._changed_ns = min(self._changed_ns, grant.got_ns)  # what was pale is confirmed now, or was too long

    def _bins(self, first: int, over: int) -> dict[str, Any]:
        shares: dict[str, dict[tuple[str, int], int]] = {layer: defaultdict(int) for layer in LAYERS}
        start_ns, end_ns = (self._since_ns + number * BIN_NS for number in (first, over))
        for since_ns, until_ns, inside in _sweep(self._stays, start_ns, end_ns):
            for layer, replicas in zip(LAYERS, _layers(inside), strict=True):
                for replica in replicas:
                    self._share(shares[layer], replica, since_ns, until_ns)
        digits = {
            layer: {
                replica: "".join(_digit(share[replica, number]) for number in range(first, over)) for replica in self.replicas
            }
            for layer, share in shares.items()
        }
        return {"first": first, "locked": self.locked, **digits}

    def _share(self, share: dict[tuple[str, int], int], replica: str, since_ns: int, until_ns: int) -> None:
        """Add a time to the bins that it lies in."""
        while since_ns < until_ns:
            number = (since_ns - self._since_ns) // BIN_NS
            step_ns = min(until_ns, self._since_ns + (number + 1) * BIN_NS)
            share[replica, number] += step_ns - since_ns
            since_ns = step_ns


Inside = Counter[tuple[bool, str, str, str]]  # how many grants: confirmed, key, replica, request


def _sweep(stays: Sequence[Stay], start_ns: int, end_ns: int) -> Iterator[tuple[int, int, Inside]]:
    """Yield the moments between two changes, with the grants that were inside."""
    edges = []
    for stay in [stay for stay in stays if stay.until_ns > start_ns]:  # most are older: a fast run has tens of thousands
        grant = stay.grant
        since_ns, until_ns = max(grant.got_ns, start_ns), min(stay.until_ns, end_ns)
        if since_ns < until_ns:
            who = (grant.is_over, grant.key, grant.replica, grant.request)
            edges += [(since_ns, 1, who), (until_ns, -1, who)]
    inside: Inside = Counter()
    edges.sort()
    now_ns = start_ns
    for at_ns, change, who in edges:
        if at_ns > now_ns and inside:
            yield now_ns, at_ns, inside
        now_ns = at_ns
        inside[who] += change
        if not inside[who]:
            del inside[who]


def _layers(inside: Inside) -> tuple[set[str], set[str], set[str]]:
    """Return the replicas with a confirmed holder, with another holder, and with a confirmed holder that was not the only one.

    A request that enters again is still one holder.
    """
    held = {replica for confirmed, _, replica, _ in inside if confirmed}
    pale = {replica for confirmed, _, replica, _ in inside if not confirmed} - held
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for confirmed, key, replica, _ in inside:
        if confirmed and key:
            holders[key].append(replica)
    return held, pale, {replica for replicas in holders.values() if len(replicas) > 1 for replica in replicas}


def _digit(share_ns: int) -> str:
    return str(min(9, ceil(9 * share_ns / BIN_NS)))
