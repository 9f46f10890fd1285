"""Collect requests that entered a lock which a failed request of the same replica had left behind.

A lock is left behind where its release failed: the store answered no command of it. Work that fails leaves none behind, where the
release after it was answered: a lock can be freed without a deletion, by a value or by a field. Until the lease of such a lock is
over, its key can end only by a deletion, and the store reports each deletion. Where it reports none until then, a grant is a
re-entry: the lock took the request for its owner. Only a store that reports its keys can show this, and this key among them, and
only while it runs: a store that was stopped or killed reports nothing until the lab listens to it again.

A report can be late, and never early. The deletion by the request before can be reported when the failed request is in its work.
So reports count from the end of that work, and the scenario gives the work some time.
"""

from __future__ import annotations

from app.journal import GaveUp
from lab.judge.entitlement import lease_end
from lab.judge.examples import EXAMPLES, Reentered
from lab.judge.findings import Findings
from lab.judge.grant import Grant
from lab.judge.key_history import CHANGED, KeyHistory


class Reentries:
    """Report each grant, each release and each request that gave up, in the order of time. The results are in the findings."""

    def __init__(self, findings: Findings, keys: KeyHistory) -> None:
        self.findings = findings
        self.keys = keys
        self.left: dict[tuple[str, str], Grant] = {}  # the replica and the key → the last grant that left its lock behind
        # the names of those of them whose lock was there, as the first request that met it shows
        self.was_there: dict[str, bool] = {}

    def got(self, grant: Grant) -> None:
        left = self.left.get((grant.replica, grant.key))
        if left is None or grant.request == left.request or not self._is_there(left, grant.got_ns):
            return
        self._asked(left, grant.asked_ns)
        since_ns, until_ns = left.releasing_ns, self._ends_ns(left)
        if (
            left.robbed_by is None
            and not self.keys.was_mute(since_ns, until_ns)
            and self.keys.is_known(grant.key)
            and not self.keys.went(since_ns, until_ns, grant.key)
            and self._was_left_as_it_was(left, grant)
        ):
            grant.reentered = True
            self.findings.measures["reentered"] += 1
            if len(self.findings.reentered) < EXAMPLES:
                example = Reentered(grant.request, left.request, grant.replica, left.released_ns, grant.got_ns)
                self.findings.reentered.append(example)

    def released(self, grant: Grant) -> None:
        failed = grant.result.startswith("error") and grant.release_unanswered
        if self.findings.run.reports_keys and failed and grant.key:
            self.left[grant.replica, grant.key] = grant

    def gave_up(self, replica: str, event: GaveUp) -> None:
        for (place, _), left in self.left.items():
            if place == replica:
                self._asked(left, event.asked_ns)

    def _asked(self, left: Grant, asked_ns: int) -> None:
        self.findings.measures["met_a_left_lock"] += left.released_ns < asked_ns and self._is_there(left, asked_ns)

    def _is_there(self, left: Grant, at_ns: int) -> bool:
        """Return whether the lease of a lock that was left cannot be over yet."""
        return at_ns < self._ends_ns(left)

    def _was_left_as_it_was(self, left: Grant, grant: Grant) -> bool:
        """Return whether nothing changed the key before the first request that met it: another thread can have freed it later."""
        if left.request not in self.was_there:
            changed = self.keys.happened(CHANGED, left.released_ns, grant.sent_ns - 1, grant.key)
            self.was_there[left.request] = not changed
        return self.was_there[left.request]

    def _ends_ns(self, left: Grant) -> int:
        return lease_end(left.lease_from_ns, self.findings.run.lease_ns)
