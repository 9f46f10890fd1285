"""Collect the times in which the lock was free although a request waited for it: from a release to the next grant of anybody.

The waiters at the release are not asked whether they got it. Where a newcomer takes a lock that was free, it was free all the
same. Where nobody got it any more, the time goes on until the last of those waiters had left. This needs every wait of the run,
so it is only done where a scenario asks for it, or injects a fault.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

from app.journal import GaveUp
from app.lock import Claim
from lab.judge.examples import Idle
from lab.judge.findings import Findings
from lab.judge.grant import Grant


@dataclass
class _OfKey:
    """The waits for one key, and its grants."""

    asked_ns: list[int] = field(default_factory=list)
    # when those that asked had left, in any order: by a grant, or because they gave up
    left_ns: list[int] = field(default_factory=list)
    # when, by which request, and whether a holder of its process left the lock to it
    got: list[tuple[int, str, bool]] = field(default_factory=list)
    released: list[Grant] = field(default_factory=list)


class IdleTimes:
    """Report each grant, each release and each request that gave up. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.is_asked = findings.run.tests == Claim.prompt_handover.name or findings.run.has_faults
        self.keys: defaultdict[str, _OfKey] = defaultdict(_OfKey)

    def got(self, grant: Grant) -> None:
        if self.is_asked:
            self._waited(grant.key, grant.asked_ns, grant.got_ns)
            self.keys[grant.key].got.append((grant.got_ns, grant.request, grant.left_lease_from_ns > 0))

    def gave_up(self, replica: str, event: GaveUp) -> None:
        if self.is_asked:
            self._waited(event.wanted, event.asked_ns, event.gave_up_ns)

    def released(self, grant: Grant) -> None:
        if self.is_asked and (grant.wrote is not None or grant.sold_out):
            self.keys[grant.key].released.append(grant)

    def _waited(self, key: str, asked_ns: int, left_ns: int) -> None:
        of_key = self.keys[key]
        of_key.asked_ns.append(asked_ns)
        of_key.left_ns.append(left_ns)

    def close(self) -> None:
        """Measure: all journals have been read."""
        nameless = self.keys.pop("", None)  # a request that gave up may not have recorded for which key
        for of_key in self.keys.values():
            if nameless is not None:
                of_key.asked_ns += nameless.asked_ns
                of_key.left_ns += nameless.left_ns
            self.findings.idle_times += _measured(of_key)
        self.findings.idle_times.sort(key=lambda idle: idle.releasing_ns)


def _measured(of_key: _OfKey) -> list[Idle]:
    """Return how long the key was free after each release at which somebody waited."""
    asked_ns, left_ns, got = sorted(of_key.asked_ns), sorted(of_key.left_ns), sorted(of_key.got)
    times = []
    for grant in of_key.released:
        free_ns = grant.outer_releasing_ns if grant.outer_key == grant.key else grant.releasing_ns
        waiting = bisect_left(asked_ns, free_ns) - bisect_right(left_ns, free_ns)
        if waiting <= 0:
            continue
        place = bisect_right(got, (free_ns, "", False))
        taken_ns, taker, was_left = got[place] if place < len(got) else (left_ns[-1], "", False)
        if was_left:  # then it was never free
            continue
        times.append(Idle(grant.request, taker, free_ns, taken_ns))
    return times
