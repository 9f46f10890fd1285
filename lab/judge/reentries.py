"""Collect re-entries: into a request's own lock, or into a lock that a failed request of its replica left behind.

A request leaves its lock behind if its release failed: the store answered no command of it. If only the work failed, and the
release was answered, no lock is left: a value or a field can free a lock without a deletion. Until the lease of a left lock is
over, its key can end only by a deletion, and the store reports each deletion. If it reports none until then, a grant is a
re-entry: the lock took the request for its owner. Only a store that reports its keys, this key among them, can show this, and
only while it runs: a fault at the store, such as a loss of power, takes keys away without a report.

A report can be late, and never early. The deletion by an earlier request can be reported while the failed request works. So
reports count from the end of that work, and the scenario gives the work some time.
"""

from __future__ import annotations

from lab.evidence.fault_record import OF_THE_STORE
from lab.judge.entitlement import lease_end
from lab.judge.fact import EXAMPLES, Reentered, Wait, short_key
from lab.judge.findings import Findings
from lab.judge.grant import Grant
from lab.judge.key_history import CHANGED, FOREVER_NS, KeyHistory


class Reentries:
    """Find re-entries from each grant, release and request that gave up, in order of time. The results go into the findings."""

    def __init__(self, findings: Findings, keys: KeyHistory) -> None:
        self.findings = findings
        self.keys = keys
        self.at_the_store = [outcome.record for outcome in findings.faults if outcome.record.effect in OF_THE_STORE]
        self.left: dict[tuple[str, str], Grant] = {}  # the replica and the key → the last grant that left its lock behind
        # by a failed request in ``left``: whether its lock was still there when the first other request met it
        self.was_there: dict[str, bool] = {}

    def got(self, grant: Grant) -> None:
        left = self.left.get((grant.replica, grant.key))
        if left is None or grant.request == left.request or not self._is_there(left, grant.got_ns):
            return
        self._count_if_there(left, grant.asked_ns)
        since_ns, until_ns = left.releasing_ns, self._ends_ns(left)
        if not self.keys.was_removed(since_ns, until_ns, grant.key) and self._was_left_as_it_was(left, grant):
            grant.reentered = True
            self.findings.measures["reentered"] += 1
            if len(self.findings.reentered) < EXAMPLES:
                example = Reentered(grant.request, left.request, grant.replica, left.released_ns, grant.got_ns)
                self.findings.reentered.append(example)

    def released(self, grant: Grant) -> None:
        if grant.result.startswith("error") and self.keys.is_known(grant.key):
            self.left[grant.replica, grant.key] = grant

    def gave_up(self, wait: Wait) -> None:
        for (replica, _), left in self.left.items():
            if replica == wait.replica:
                self._count_if_there(left, wait.asked_ns)

    def _count_if_there(self, left: Grant, asked_ns: int) -> None:
        self.findings.measures["met_a_left_lock"] += left.released_ns < asked_ns and self._is_there(left, asked_ns)

    def _is_there(self, left: Grant, at_ns: int) -> bool:
        """Return whether a lock that was left behind is certainly there: its lease goes on, and no fault struck its store."""
        struck = (one.at_ns < at_ns and left.got_ns < (one.recovered_ns or FOREVER_NS) for one in self.at_the_store)
        return at_ns < self._ends_ns(left) and not any(struck)

    def _was_left_as_it_was(self, left: Grant, grant: Grant) -> bool:
        """Return whether the key was unchanged until the first request met it: later, another thread can have freed it."""
        if left.request not in self.was_there:
            changed = self.keys.happened(CHANGED, left.released_ns, grant.sent_ns - 1, grant.key)
            self.was_there[left.request] = not changed
        return self.was_there[left.request]

    def _ends_ns(self, left: Grant) -> int:
        return lease_end(left.lease_from_ns, self.findings.run.lease_ns)


class NestedLocks:
    """Collect the waits, grants and releases of requests that take their lock twice. The results go into the findings."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.waits: list[Wait] = []  # for the outer lock
        self.released_twice: list[Grant] = []

    def got(self, grant: Grant) -> None:
        findings, key, since_ns = self.findings, short_key(grant.key), grant.outer_got_ns or grant.asked_ns
        self.waits.append(Wait(grant.request, grant.replica, grant.asked_ns, grant.outer_got_ns or grant.got_ns, True, key))
        findings.own_waits_ns.append(grant.got_ns - since_ns)
        wait = Wait(grant.request, grant.replica, since_ns, grant.got_ns, got=True, wanted=key, holding=key)
        if findings.longest_own is None or wait.ms > findings.longest_own.ms:
            findings.longest_own = wait

    def gave_up(self, wait: Wait) -> None:
        if wait.wanted != wait.holding:
            self.waits.append(wait)

    def released(self, grant: Grant) -> None:
        if grant.found_nothing and not self._may_have_expired(grant):
            self.findings.freed_early += 1
            self.findings.freed_first = self.findings.freed_first or grant
        if grant.outer_releasing_ns:
            self.released_twice.append(grant)

    def _may_have_expired(self, grant: Grant) -> bool:
        """Return whether the lease, counted from when the request asked, can have ended before the outer release began."""
        ttl_ns = self.findings.run.ttl_ns
        return bool(ttl_ns) and max(grant.releasing_ns, grant.outer_releasing_ns) - grant.asked_ns > ttl_ns

    def close(self) -> None:
        """Compare waits and releases: all journals have been read."""
        for grant in self.released_twice:
            others = [wait for wait in self.waits if wait.request != grant.request]
            waited = (wait.asked_ns < grant.outer_releasing_ns and grant.releasing_ns < wait.until_ns for wait in others)
            self.findings.measures["waited_between_releases"] += sum(waited)
