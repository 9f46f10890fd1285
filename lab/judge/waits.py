"""Collect how long requests waited for the lock, or for a second one; and which requests were overtaken."""

from __future__ import annotations

from app.journal import GaveUp
from app.lock import Claim
from lab.judge.examples import EXAMPLES, Idle, Overtaken, Wait, short
from lab.judge.findings import Findings
from lab.judge.grant import Grant
from lab.judge.key_history import FOREVER_NS

AT_ONCE_NS = 20_000_000  # two requests that ask within this time have no order: the stamp is set before the command is sent


class Waits:
    """Report each grant and each request that gave up, in the order of time. The results are in the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.is_fairness_tested = findings.run.tests in (Claim.fair.name, Claim.fair_in_process.name)
        self.asked_before: list[
            tuple[int, str]
        ] = []  # when, and at which replica: of all grants so far, where fairness is tested
        self.longest_ns = -1
        self.retry_ns = findings.run.retry_ms * 1_000_000
        self.number_granted = 0  # grants under which a request wrote
        self.number_waited = 0  # those of them for which it had waited
        self.worked_ns = 0  # how long all of them worked
        self.waits_ns = findings.waits_ns
        self.is_nested = findings.run.nested == "same"

    def got(self, grant: Grant) -> None:
        wait_ns = grant.got_ns - grant.asked_ns
        self.waits_ns.append(wait_ns)
        if grant.key:
            self.findings.locked = True
        if wait_ns > self.longest_ns:
            self.longest_ns = wait_ns
            key = short(grant.key)
            self.findings.longest = Wait(grant.request, grant.replica, grant.asked_ns, grant.got_ns, got=True, wanted=key)
        if self.is_nested:
            self._waited_for_itself(grant, key=short(grant.key))
        if self.is_fairness_tested:
            self._overtaken(grant.request, grant.replica, grant.asked_ns, grant.got_ns)
            self.asked_before.append((grant.asked_ns, grant.replica))

    def released(self, grant: Grant) -> None:
        """Count a grant, and its wait, once the work was done: a grant that wrote nothing shows nothing."""
        if grant.wrote is not None:
            self.number_granted += 1
            self.number_waited += grant.got_ns - grant.asked_ns >= self.retry_ns
            self.worked_ns += grant.releasing_ns - grant.got_ns

    def gave_up(self, replica: str, event: GaveUp) -> None:
        findings = self.findings
        findings.gave_up += 1
        if event.why in findings.whys or len(findings.whys) < EXAMPLES:
            findings.whys[event.why] += 1
        findings.in_vain_ns.append(event.gave_up_ns - event.asked_ns)
        if len(findings.in_vain) < EXAMPLES:
            keys = short(event.wanted), short(event.holding)
            findings.in_vain.append(Wait(event.request, replica, event.asked_ns, event.gave_up_ns, False, *keys))
        if self.is_fairness_tested:
            self._overtaken(event.request, replica, event.asked_ns, event.gave_up_ns)

    def close(self) -> None:
        """Measure: all journals have been read."""
        findings, measures = self.findings, self.findings.measures
        measures["granted"] = self.number_granted
        measures["waited"] = self.number_waited
        measures["turned_away"] = findings.gave_up
        findings.worked_ns = self.worked_ns
        measures["tries"] = len(findings.waits_ns) + findings.gave_up

    def _waited_for_itself(self, grant: Grant, key: str) -> None:
        """Measure how long the request waited for the lock that it held already. Old journals know only the whole wait."""
        findings, since_ns = self.findings, grant.outer_got_ns or grant.asked_ns
        findings.own_waits_ns.append(grant.got_ns - since_ns)
        wait = Wait(grant.request, grant.replica, since_ns, grant.got_ns, got=True, wanted=key, holding=key)
        if findings.longest_own is None or wait.ms > findings.longest_own.ms:
            findings.longest_own = wait

    def _overtaken(self, request: str, replica: str, asked_ns: int, until_ns: int) -> None:
        """Count the requests that asked later and got the lock before this one did, or gave up."""
        any_replica, order_ns = self.findings.run.tests == Claim.fair.name, asked_ns + AT_ONCE_NS
        later = sum(other_ns > order_ns for other_ns, at in self.asked_before if any_replica or at == replica)
        self.findings.overtakes.append(later)
        if later > (self.findings.overtaken.overtaken if self.findings.overtaken else 0):
            self.findings.overtaken = Overtaken(request, replica, later, asked_ns, until_ns)


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
