"""Find thefts: releases that deleted the lock of another holder.

A thief is a request that had lost its own lock, or never had one, and whose release still deleted the lock. The chain of causes
has a *root*: the first holder that lost its lock. If the scenario caused that loss (its work took longer than the TTL, or a fault
took the lock away), then only the thief's claim is broken. A chain whose root the scenario did not cause is no excuse.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from app.journal import Renewed
from lab.judge.conflict import Conflict
from lab.judge.entitlement import EARLY_NS, can_take_away, lease_end, tenures
from lab.judge.faults import FaultOutcome
from lab.judge.grant import DELETIONS, REMOVALS, Grant, LostLock
from lab.judge.key_history import BORN, CHANGED, FOREVER_NS, KeyHistory

NO = ("0", "None", "False", "-1")  # answers of a command that deleted nothing
REPORTED_WITHIN_NS = 1_000_000_000  # a busy machine receives the report of a deletion late
REPORTED_AT_ONCE_NS = 20_000_000  # a report that comes later may be of another client's deletion
# a key whose TTL is over at once is reported when the store notices it, up to 100 ms late
EXPIRED_WITHIN_NS = 250_000_000
EXPIRES = frozenset({"EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"})
BORN_WITHIN_NS = 20_000_000  # after the grant: the store reports a new key at once
RECENT = 64  # releases that ended just before this one, and may have begun later


class Thefts:
    """Find thefts from each release, in order of their ends. ``grant.lost`` and ``grant.robbed_by`` hold the results."""

    def __init__(
        self, lease_ns: int, faults: Sequence[FaultOutcome], keys: KeyHistory, held: Callable[[], Iterable[Grant]]
    ) -> None:
        """Take the facts that do not change during the run. held: returns the grants that are open now."""
        self.lease_ns = lease_ns
        self.faults = faults
        self.keys = keys
        self.held = held
        self.number = 0
        self.recent: deque[Grant] = deque(maxlen=RECENT)
        self.recent_thieves: deque[Grant] = deque(maxlen=RECENT)

    def got(self, grant: Grant) -> None:
        """Find out whether a release that ended just before robbed the grant: its lock may be older than its acquire's return."""
        for thief in self.recent_thieves:
            self._note_thief(grant, thief)

    def released(self, grant: Grant) -> None:
        """Find out how the grant lost each of its locks, if it did, and which grants its release robbed."""
        grant.lost = self._lost_locks(grant)
        if grant.lost is not None:
            self.recent_thieves.append(grant)
            for other in (*self.held(), *self.recent):
                self._note_thief(other, grant)
        self.recent.append(grant)

    def released_outside(self, grant: Grant, event: Renewed) -> None:
        """Let a command outside all requests that freed the lock count as the release of a grant that sent none.

        A lock may be released by a thread of its own, after the answer to the request.
        """
        before = grant.released_ns, grant.release_commands, grant.command, grant.answer
        grant.released_ns, grant.release_commands = max(grant.released_ns, event.renewed_ns), 1
        grant.command, grant.answer = event.command, event.answer
        if can_have_deleted(grant, grant.key, self.keys, event.sent_ns):
            self.released(grant)
        else:
            grant.released_ns, grant.release_commands, grant.command, grant.answer = before

    def _note_thief(self, victim: Grant, thief: Grant) -> None:
        """Note the thief if its release can have deleted a lock that the victim held at that time."""
        if victim is thief or victim.robbed_by:
            return
        for key in victim.keys & set(thief.lost or ()):
            since_ns = held_from_ns(victim, key)
            if _was_held_during(victim, thief, key) and can_have_deleted(thief, key, self.keys, since_ns):
                victim.robbed_by, victim.robbed_of, victim.robber = thief, key, thief.request
                self.number += 1
                return

    def _lost_locks(self, grant: Grant) -> dict[str, LostLock] | None:
        """Return by key how a grant lost its locks before its release was over; None if it lost none."""
        lost = {key: how for key in grant.keys if (how := self._lost_key(grant, key)) is not None}
        return lost or None

    def _lost_key(self, grant: Grant, key: str) -> LostLock | None:
        if never_held(grant, self.keys):
            return LostLock(in_release=False, by_scenario=False)
        robber = grant.robbed_by
        if robber is not None and robber.lost is not None and grant.robbed_of == key:
            return LostLock(in_release=False, by_scenario=robber.lost[key].by_scenario)
        leases_end_ns = (tenure.lease_ends_ns for tenure in tenures(grant, self.lease_ns) if tenure.key == key)
        lost_ns = min((self._taken_ns(grant), *leases_end_ns))
        releasing_ns, released_ns = released_during(grant, key)
        if lost_ns >= released_ns:
            return None
        has_checked = grant.release_commands != 1  # a release of one command has no gap between a check and a deletion
        return LostLock(in_release=has_checked and lost_ns + EARLY_NS >= releasing_ns, by_scenario=True)

    def _taken_ns(self, grant: Grant) -> int:
        """Return when a fault can have taken the lock away."""
        records = (fault.record for fault in self.faults)
        return min(
            (
                max(grant.got_ns, record.at_ns)
                for record in records
                if can_take_away(record, grant.replica, grant.at_store_from_ns, self.lease_ns)
            ),
            default=FOREVER_NS,
        )


def released_during(grant: Grant, key: str) -> tuple[int, int]:
    """Return when the release of a key began and when it was over. The inner of two nested locks is released first.

    Either release may delete a key that is locked twice.
    """
    outer_ns = grant.outer_releasing_ns
    if not outer_ns or grant.outer_key == grant.key:
        return grant.releasing_ns, grant.released_ns
    return (outer_ns, grant.released_ns) if key == grant.outer_key else (grant.releasing_ns, outer_ns)


def _was_held_during(victim: Grant, thief: Grant, key: str) -> bool:
    """Return whether the victim held this key at some moment of the thief's release."""
    is_outer = key == victim.outer_key
    kept_until_ns = (victim.outer_releasing_ns if is_outer else 0) or victim.releasing_ns
    releasing_ns, released_ns = released_during(thief, key)
    return held_from_ns(victim, key) < released_ns and (not kept_until_ns or releasing_ns < kept_until_ns)


def held_from_ns(grant: Grant, key: str) -> int:
    """Return since when a lock was there for certain: since the last renewal, or the last command of the acquire."""
    return grant.outer_lease_from_ns if key == grant.outer_key else max(grant.lease_from_ns, grant.sent_ns)


def never_held(grant: Grant, keys: KeyHistory) -> bool:
    """Return whether a request went in ungranted: refused by the store, or at work again without being granted the lock anew."""
    return grant.told_no or (grant.turn > 1 and not acquired_anew(grant, keys))


def acquired_anew(grant: Grant, keys: KeyHistory) -> bool:
    """Return whether a request that works again was granted the lock anew: its last command made the key.

    The store's report of that moment shows it.
    """
    return grant.commands > 0 and keys.happened(BORN, grant.sent_ns, grant.got_ns + BORN_WITHIN_NS, grant.key)


def can_have_deleted(grant: Grant, key: str, keys: KeyHistory, since_ns: int = 0) -> bool:
    """Return whether the release of a grant can have freed a key after ``since_ns``: earlier reports are about earlier holders.

    A lock is freed by a deletion, by a TTL that is over at once, or by another value, name or field. The answer to a plain
    removal decides. The answer of a script means nothing by itself: then the store must have reported a change of this key. If
    the store reports nothing, the answer decides.
    """
    # the answer on record is the last one, which is of the outer of two nested locks
    is_inner = grant.outer_key not in ("", key)
    answer = "" if is_inner else grant.answer
    if grant.release_commands == 0 or (answer and grant.command in REMOVALS and answer in NO):
        return False
    releasing_ns, released_ns = released_during(grant, key)
    since_ns = max(releasing_ns, since_ns)
    if not keys.is_reported:
        return not answer or answer not in NO
    # a script that answers no has seldom deleted anything, so a deletion that is reported later is another client's; the same if
    # the next command of the same request had been answered already
    reported_ns = released_ns + (REPORTED_AT_ONCE_NS if is_inner or answer in NO else REPORTED_WITHIN_NS)
    if keys.was_removed(since_ns, reported_ns, key):
        return True
    if grant.command in EXPIRES:
        return answer not in NO and keys.happened("expired", since_ns, released_ns + EXPIRED_WITHIN_NS, key)
    # a key that did not exist is set by its next holder, and not freed
    changes, births = (keys.number(event, since_ns, released_ns + EXPIRED_WITHIN_NS, key) for event in (CHANGED, BORN))
    return grant.command not in DELETIONS and changes > births


def theft_in(conflict: Conflict) -> LostLock | None:
    """Return how a thief lost its own lock, if it deleted the elder's lock before the younger got it; None without a thief.

    The store can have deleted the lock at any time between sending and answer of the release. If the lease had ended when the
    younger came in, nothing was stolen: the store had freed the lock by itself.
    """
    elder, younger, key = conflict.elder, conflict.younger, conflict.elder.robbed_of
    thief = elder.robbed_by
    if thief is None or thief is younger or thief.lost is None or key not in younger.keys:
        return None
    is_outer = key == younger.outer_key != younger.key
    until_ns = younger.outer_got_ns if is_outer else younger.got_ns
    lease_from_ns = elder.outer_lease_from_ns if key == elder.outer_key else elder.lease_from_ns
    is_stolen = released_during(thief, key)[0] < until_ns < lease_end(lease_from_ns, conflict.run.lease_ns)
    return thief.lost[key] if is_stolen else None
