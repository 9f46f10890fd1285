"""Look at the requests that wait for a lock that its holder took twice: between the two releases, and after both."""

from __future__ import annotations

from app.journal import GaveUp
from lab.judge.examples import Idle, Wait, short
from lab.judge.findings import Findings
from lab.judge.grant import Grant
from lab.judge.key_history import FOREVER_NS


class NestedWaits:
    """Report each grant, each release and each request that gave up. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.is_nested = findings.run.nested == "same"
        self.waits: list[Wait] = []  # for the outer lock
        self.released_twice: list[Grant] = []

    def got(self, grant: Grant) -> None:
        if self.is_nested:
            until_ns = grant.outer_got_ns or grant.got_ns
            self.waits.append(Wait(grant.request, grant.replica, grant.asked_ns, until_ns, True, short(grant.key)))

    def gave_up(self, replica: str, event: GaveUp) -> None:
        if self.is_nested and event.wanted != event.holding:
            wanted = short(event.wanted)
            self.waits.append(Wait(event.request, replica, event.asked_ns, event.gave_up_ns, False, wanted))

    def released(self, grant: Grant) -> None:
        if self.is_nested and grant.outer_releasing_ns:
            self.released_twice.append(grant)

    def close(self) -> None:
        """Compare waits and releases: all journals have been read."""
        for grant in self.released_twice:
            others = [wait for wait in self.waits if wait.request != grant.request]
            waited = (wait.asked_ns < grant.outer_releasing_ns and grant.releasing_ns < wait.until_ns for wait in others)
            self.findings.measures["waited_between_releases"] += sum(waited)
            self._look_after(grant, others)

    def _look_after(self, grant: Grant, others: list[Wait]) -> None:
        """Measure how long the lock stayed after its outer release, although a request waited for it.

        The next holder can have it before the answer to the release has arrived: then it did not stay.
        """
        free_ns = grant.released_ns
        if any(_holds(other, free_ns) for other in self.released_twice if other is not grant):
            return
        taken_ns = min((wait.until_ns for wait in others if wait.got and free_ns < wait.until_ns), default=FOREVER_NS)
        for wait in others:
            since_ns, until_ns = max(free_ns, wait.asked_ns), min(taken_ns, wait.until_ns)
            stayed = Idle(grant.request, wait.request, since_ns, until_ns)
            if since_ns < until_ns and (self.findings.stayed is None or stayed.ms > self.findings.stayed.ms):
                self.findings.stayed = stayed


def _holds(grant: Grant, at_ns: int) -> bool:
    """Return whether the grant had the outer lock at this time."""
    return (grant.outer_got_ns or grant.got_ns) <= at_ns < grant.released_ns
