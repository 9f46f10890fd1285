"""Collect overlaps: grants of a key while another request was still entitled to it, or still believed to hold it."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping

from app.journal import Renewed
from lab.evidence.fault_record import Effect
from lab.judge.conflict import Conflict
from lab.judge.entitlement import RUN_SCRIPTS, ended_by_itself, gave_less, lease_end, renews, tenures
from lab.judge.fact import TwoInside
from lab.judge.faults import MAJORITY
from lab.judge.findings import Findings
from lab.judge.grant import GOT, Grant, GrantsOfKey, Name
from lab.judge.key_history import BORN, FOREVER_NS, KeyHistory
from lab.judge.losses import Conflicts
from lab.judge.mechanisms import explain
from lab.judge.thefts import EXPIRES, REPORTED_AT_ONCE_NS, Thefts

EXPLAINED_AFTER = 256  # releases after an overlap: then every release that can have caused it has ended
REMEMBERED = 1024  # releases


def _wrote_beside(first: Grant, second: Grant) -> bool:
    """Return whether two grants of different keys were in force at once, and wrote to the same part of the resource."""
    if first.key == second.key or first.part != second.part or first.wrote is None:
        return False
    if max(first.got_ns, second.got_ns) >= min(first.releasing_ns or FOREVER_NS, second.releasing_ns or FOREVER_NS):
        return False  # nearly always: so the keys are compared last
    return not first.keys & second.keys


class Overlaps:
    """Find overlaps from each grant, renewal, release and restart, in order of time. The results go into the findings."""

    def __init__(self, findings: Findings, open_grants: Mapping[Name, Grant], keys: KeyHistory) -> None:
        self.findings = findings
        self.open_grants = open_grants
        self.keys = keys
        self.lease_ns = findings.run.lease_ns
        self.thefts = Thefts(self.lease_ns, findings.faults, keys, open_grants.values)
        self.releases: deque[Grant] = deque(maxlen=REMEMBERED)
        self.number_released = 0
        # the conflicts not yet explained, each with the number of the release that showed it
        self.pending: deque[tuple[int, Grant, Grant]] = deque()
        self.grants_of_key: defaultdict[str, GrantsOfKey] = defaultdict(GrantsOfKey)
        # by replica: when its last command outside all requests was answered
        self.answered_ns: defaultdict[str, int] = defaultdict(int)
        # with several servers, by replica and key, then by server: when the last renewal was sent to which this server agreed
        self.agreed_of: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)
        # by replica and key: the last grant
        self.last_of: dict[tuple[str, str], Grant] = {}
        # by replica and key: the last grant that was released
        self.released_of: dict[tuple[str, str], Grant] = {}
        # by part of the resource: the key of the first grant that wrote to it; the parts that were written under several keys
        self.key_of_part: dict[str, str] = {}
        self.parts_of_several_keys: set[str] = set()
        # the key of a conflict that the store never reported, although it reported others
        self.strange_key = ""
        # whether the lab saw any request send a command before its grant
        self.asks_are_seen = False
        # how many releases showed two requests of one process inside at once
        self.number_in_one_process = 0

    @property
    def nothing_locks(self) -> bool:
        """Return whether requests of one process were inside at once nearly all the time."""
        return 4 * self.number_in_one_process > self.number_released

    def got(self, grant: Grant) -> None:
        """Take note of a grant."""
        self.asks_are_seen |= grant.commands > 0
        grant.went_in_unasked &= self.answered_ns[grant.replica] < grant.asked_ns
        before = self.last_of.get((grant.replica, grant.key))
        if not grant.commands and self.asks_are_seen and before is not None:
            grant.left_lease_from_ns = before.at_store_from_ns
            grant.lease_from_ns = min(grant.lease_from_ns, self._left_from_ns(grant))
        grant.granted_from_ns = grant.lease_from_ns
        self.last_of[grant.replica, grant.key] = grant
        if self.thefts.recent_thieves:
            self.thefts.got(grant)
        if grant.key:
            self.grants_of_key[grant.key].add(grant.got_ns, grant)
        if grant.outer_key:
            self.grants_of_key[grant.outer_key].add(grant.outer_got_ns, grant)

    def renewed(self, replica: str, event: Renewed) -> None:
        """Prolong the leases of this replica that had not ended when the renewal was sent."""
        self.answered_ns[replica] = event.renewed_ns
        sent_ns = event.sent_ns or event.renewed_ns
        self._released_outside(replica, event)
        sets_a_ttl = event.command in EXPIRES or (event.command in RUN_SCRIPTS and event.prolonged)
        if sets_a_ttl and self.keys.happened("del", sent_ns, event.renewed_ns + REPORTED_AT_ONCE_NS, event.key):
            for grant in self.open_grants.values():
                grant.renewed_to_death |= grant.replica == replica and grant.key == event.key
            return
        held_here = [grant for grant in self.open_grants.values() if grant.key == event.key]
        if not self._has_prolonged(event) or gave_less(event, held_here, self.lease_ns, self.keys):
            return
        if self.findings.run.has_votes and event.server:
            sent_ns = self._by_majority(replica, event, sent_ns)
        for grant in self.open_grants.values():
            if grant.replica != replica:
                continue
            if renews(event, grant, grant.key):
                grant.lease_from_ns = self._prolonged(grant.lease_from_ns, sent_ns)
                grant.left_lease_from_ns = grant.left_lease_from_ns and max(grant.left_lease_from_ns, sent_ns)
            if renews(event, grant, grant.outer_key):
                grant.outer_lease_from_ns = self._prolonged(grant.outer_lease_from_ns, sent_ns)

    def _by_majority(self, replica: str, event: Renewed, sent_ns: int) -> int:
        """Return the earliest of the latest renewals to which a majority of the servers agreed, in ns; 0 without a majority."""
        agreed = self.agreed_of[replica, event.key]
        agreed[event.server] = sent_ns
        return sorted(agreed.values(), reverse=True)[MAJORITY - 1] if len(agreed) >= MAJORITY else 0

    def _has_prolonged(self, event: Renewed) -> bool:
        """Return whether a command outside all requests prolonged a lease.

        A command that made the key is an acquire in a thread of the lock. The answer of a script does not say whether it renewed
        the key: the store's report of a new TTL does.
        """
        if not self.keys.is_known(event.key):
            return event.prolonged
        since_ns, until_ns = event.sent_ns or event.renewed_ns, event.renewed_ns + REPORTED_AT_ONCE_NS
        is_set, is_new = (self.keys.happened(one, since_ns, until_ns, event.key) for one in ("expire", BORN))
        return (is_set if event.command in RUN_SCRIPTS else event.prolonged) and not is_new

    def _released_outside(self, replica: str, event: Renewed) -> None:
        """Note that a command outside all requests ended its holder's lease, or released late for a grant that sent none."""
        for other in self.open_grants.values():
            if other.replica == replica and ended_by_itself(other, event):
                other.lease_from_ns = other.granted_from_ns
        grant = self._may_have_released(replica, event)
        if grant is None or grant.release_commands or grant.result != "ok":
            return
        self.thefts.released_outside(grant, event)

    def _may_have_released(self, replica: str, event: Renewed) -> Grant | None:
        """Return the grant whose release a command may be: of the request that began its thread, or the last of its replica."""
        sent_ns = event.sent_ns or event.renewed_ns
        last = self.released_of.get((replica, event.key))
        of_replica = [grant for grant in self.open_grants.values() if grant.replica == replica and grant.key == event.key]
        if event.begun_by:
            if any(grant.request == event.begun_by or grant.left_lease_from_ns for grant in of_replica):
                return None  # it releases its own lock before the end of its work, or the lock was handed over and goes on
            recent = (grant for grant in reversed(self.releases) if grant.request == event.begun_by and grant.key == event.key)
            if (own := next(recent, None)) is not None and last is not None and not last.left_lease_from_ns:
                return own  # a lock that was handed over is released by its last holder
        if last is None or any(grant.got_ns < sent_ns for grant in of_replica):
            return None  # the next holder of this replica may have sent it
        return last

    def _left_from_ns(self, grant: Grant) -> int:
        """Return from when a lease counts that was handed over inside a process: it goes on, and does not begin anew.

        A successor may rely on half a lease. A hand-over that leaves less came too late, and is no excuse.
        """
        return max(grant.left_lease_from_ns, grant.got_ns - self.lease_ns // 2)

    def _prolonged(self, lease_from_ns: int, sent_ns: int) -> int:
        """Return from when a lease counts after a renewal that was sent at ``sent_ns``. An ended lease is not prolonged."""
        return max(lease_from_ns, sent_ns) if sent_ns <= lease_end(lease_from_ns, self.lease_ns) else lease_from_ns

    def released(self, grant: Grant) -> None:
        """Search for a grant of the same key in the time in which this holder was entitled to it, or believed to hold it."""
        self.number_released += 1
        self.releases.append(grant)
        self.released_of[grant.replica, grant.key] = grant
        self._look_at_part(grant)
        self.thefts.released(grant)
        self._look(grant)
        while self.pending and self.pending[0][0] + EXPLAINED_AFTER < self.number_released:
            self._explain(*self.pending.popleft()[1:])

    def close(self) -> None:
        """Explain the remaining conflicts: all journals have been read."""
        for grant in self.open_grants.values():
            grant.open_until_ns = self._open_until(grant)
            self._look(grant)
        while self.pending:
            self._explain(*self.pending.popleft()[1:])
        self.findings.thefts = self.thefts.number
        if self.strange_key and self.findings.run.stretched:
            self.findings.strange_key, self.findings.known_keys = self.strange_key, sorted(self.keys.names)

    def _open_until(self, grant: Grant) -> int:
        """Return until when a grant without a release lasted for certain, in nanoseconds; 0: to the end of the run.

        The line of a release is written when its answer has arrived. Until then the process can have died, or the run can have
        been cut short or have ended. So a holder that wrote, or was about to write, may have sent its release.
        """
        killed = (fault.record for fault in self.findings.faults if fault.record.effect is Effect.PROCESS_DIES)
        deaths = [record.at_ns for record in killed if record.replica == grant.replica and record.at_ns >= grant.got_ns]
        followed = any(started_ns > grant.got_ns for started_ns in self.findings.started_ns.get(grant.replica, ()))
        if not deaths and not followed and self.findings.run.is_complete:
            return grant.wrote_ns
        return max(grant.got_ns, grant.read_ns, grant.wrote_ns) if grant.read_ns or not deaths else min(deaths)

    def _look(self, grant: Grant) -> None:
        """Search for the first grant that overlaps this one."""
        for one in tenures(grant, lease_ns=0):
            found = self.grants_of_key[one.key].first_of_another(grant.request, one.got_ns, one.released_ns)
            if found is not None:
                self.number_in_one_process += found.replica == grant.replica
                self.pending.append((self.number_released, grant, found))
                return

    def _look_at_part(self, grant: Grant) -> None:
        """Search for a request that wrote to the same part of the resource at that time, under another key.

        If each part has one key, nothing is searched.
        """
        if grant.wrote is None or not grant.key:
            return
        key = self.key_of_part.setdefault(grant.part, grant.key)
        if key != grant.key and not grant.outer_key:
            self.parts_of_several_keys.add(grant.part)
        if grant.part in self.parts_of_several_keys:
            for other in self.releases:
                if other is not grant and _wrote_beside(other, grant):
                    self.pending.append((self.number_released, *sorted((grant, other), key=GOT)))  # type: ignore[arg-type] # two
                    return

    def _explain(self, elder: Grant, younger: Grant) -> None:
        """Find the mechanism of a conflict. Count the overlap if, by this mechanism, an overlap alone breaks the promise."""
        conflict = self.conflict(elder, younger)
        found = explain(conflict)
        if not found.overlap_is_harm or conflict.is_within_error:
            return
        conflicts = self.findings.overlaps.setdefault(found.mechanism, Conflicts())
        conflicts.add(lambda: TwoInside(elder.facts(), younger.facts()), is_in_one_process=elder.replica == younger.replica)

    def _acquired_first(self, late: Grant, early: Grant, key: str) -> bool:
        """Return whether the lock of a grant whose acquire returned late was made before the lock of the earlier grant."""
        if late.sent_ns >= early.sent_ns:
            return False
        # if the key was made twice since the earlier grant's command was sent, it was made for each grant, in their order
        return self.keys.number(BORN, early.sent_ns, late.got_ns + REPORTED_AT_ONCE_NS, key) < len((late, early))

    def conflict(self, elder: Grant, younger: Grant) -> Conflict:
        """Return the conflict of two grants with the evidence of that time."""
        findings = self.findings
        key = elder.key
        if key and self.keys.is_reported and not self.keys.is_known(key):
            self.strange_key = key
        if younger.robbed_by and self._acquired_first(younger, elder, key):
            elder, younger = younger, elder  # its lock was made first, although its acquire returned later
        return Conflict(
            elder,
            younger,
            findings.run,
            self.keys,
            self.releases,
            findings.faults,
            findings.stalls,
            self.asks_are_seen,
            self.nothing_locks,
        )
