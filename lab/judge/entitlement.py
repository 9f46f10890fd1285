"""Decide from when until when a holder can rely on its lock.

A holder is entitled to a key from its grant until the first of these:

- it sends its release, or its process dies;
- its lease ends, as the stage promises it: the TTL, counted from when the granting command, or the last successful renewal, was
  sent. A command that waits at the store grants when it is answered (``app/request/context.py``). If a request asks several
  servers one by one, its first command counts. The holder's clock counts: a lock that the store ends earlier is no excuse. In a
  stage without a TTL no lease ends. A lease that a holder hands over to another request of its process goes on, but lasts at
  least half a TTL from then;
- a fault of the scenario takes the lock away, or another request steals it (``lab/judge/conflict.py``).

Two holders that are entitled to one key at once break mutual exclusion, even if no increment is lost. The end of a lease is an
excuse only if the scenario lets it end before the work does, by a fault or by long work (``RunFacts.stretched``). The time from
the granting command to the work is the lock's own: a holder that begins its work when its lease is over held nothing. In all
other cases the lease is shorter than an increment took, and the run proves nothing.

A grant without a key promises a safe write, and not that other requests are kept out: no request is entitled to it.

Replicas send commands outside all requests as well: renewals of keys and sessions, and acquires of locks that ask in their own
threads. A session is etcd's lease, or ZooKeeper's session: its renewal renews all locks that belong to it. An acquire in a lock's
own thread belongs to no request. It looks like a renewal, and if its key had just expired, like one in time: it must not prolong
another holder's lease.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from app.journal import Renewed
from lab.evidence.fault_record import AT_THE_STORE, Effect, FaultRecord
from lab.judge.grant import Grant
from lab.judge.key_history import FOREVER_NS, KeyHistory

# These faults take a lock away only if they stop its renewal for as long as its lease.
STOP_RENEWALS = frozenset({Effect.PROCESS_STOPS, Effect.CUT_OFF, Effect.STORE_SILENT})
# These faults take away the locks of one replica.
AT_A_REPLICA = frozenset({Effect.PROCESS_STOPS, Effect.CUT_OFF, Effect.SESSION_ENDS})
# The lab needs at most this long to inject a fault. Until then, a lock may be granted and taken away again.
DONE_WITHIN_NS = 200_000_000
# A lease can end this much earlier than the holder's clock says: Redis reads its clock once for several commands, in whole
# milliseconds.
EARLY_NS = 10_000_000
AT_A_MOMENT = frozenset({"EXPIREAT", "PEXPIREAT"})
RUN_SCRIPTS = frozenset({"EVAL", "EVALSHA", "FCALL", "EXEC"})  # only the store's report shows how these changed a key


def is_entitled(now: int, got: int = 0, released: int | None = None, lease_ends: int | None = None) -> bool:
    """Return whether a holder is entitled to its lock at a moment: from its grant until its release or the end of its lease.

    None: this end never comes. The judge gives nanoseconds of the holder's clock, the explorer milliseconds of its own.
    """
    return got <= now and all(end is None or now < end for end in (released, lease_ends))


class Tenure(NamedTuple):
    """The time in which one grant is entitled to one key, by the holder's release and its lease."""

    key: str
    got_ns: int
    # when the release was sent, or the process died
    released_ns: int
    # when the lease ends
    lease_ends_ns: int

    def is_entitled(self, now_ns: int) -> bool:
        """Return whether the holder could rely on its lock at a moment, judged by its release and its lease."""
        return is_entitled(now_ns, self.got_ns, self.released_ns, self.lease_ends_ns)


def tenures(grant: Grant, lease_ns: int) -> list[Tenure]:
    """Return the tenures of a grant: of its key, and of the outer key if it nests two locks. lease_ns: 0 without a TTL."""
    open_until_ns = grant.open_until_ns or FOREVER_NS
    found = []
    if grant.key:
        released_ns = min(grant.releasing_ns or FOREVER_NS, open_until_ns)
        found.append(Tenure(grant.key, grant.got_ns, released_ns, lease_end(grant.lease_from_ns, lease_ns)))
    if grant.outer_key:
        released_ns = min(grant.outer_releasing_ns or grant.releasing_ns or FOREVER_NS, open_until_ns)
        ends_ns = lease_end(grant.outer_lease_from_ns, lease_ns)
        found.append(Tenure(grant.outer_key, grant.outer_got_ns, released_ns, ends_ns))
    return found


def gave_less(event: Renewed, held: Iterable[Grant], lease_ns: int, keys: KeyHistory) -> bool:
    """Return whether a renewal gave the key less than a TTL: the store reports an earlier end.

    Only a command that does not say how long the key lasts from then on can do so: a script, or one that names a moment. A key
    that ends before its old lease would have ended was shortened: that excuses no renewal. held: the grants of the key that are
    open.
    """
    if event.command not in RUN_SCRIPTS | AT_A_MOMENT or not keys.is_known(event.key):
        return False
    sent_ns = event.sent_ns or event.renewed_ns
    since_ns = min((lease_end(grant.lease_from_ns, lease_ns) for grant in held), default=sent_ns)
    return keys.happened("expired", since_ns, lease_end(sent_ns, lease_ns), event.key)


def lease_end(from_ns: int, lease_ns: int) -> int:
    """Return the earliest time at which the store can have ended a lease that counts from ``from_ns``."""
    return from_ns + max(lease_ns - EARLY_NS, lease_ns // 2) if lease_ns else FOREVER_NS


def shared_key(first: Grant, second: Grant, lease_ns: int) -> str:
    """Return a key to which both grants were entitled at once; empty if there is none."""
    for mine in tenures(first, lease_ns):
        for theirs in tenures(second, lease_ns):
            later_ns = max(mine.got_ns, theirs.got_ns)
            if mine.key == theirs.key and mine.is_entitled(later_ns) and theirs.is_entitled(later_ns):
                return mine.key
    return ""


def can_take_away(record: FaultRecord, replica: str, lease_from_ns: int, lease_ns: int) -> bool:
    """Return whether a fault can take away a lock of this replica, whose lease counts from ``lease_from_ns``.

    A fault cannot take away a lock that was granted after the fault was over.
    """
    if lease_from_ns >= _takes_until_ns(record):
        return False
    if record.effect not in AT_THE_STORE and not (record.effect in AT_A_REPLICA and record.replica == replica):
        return False
    lasted_ns = record.recovered_ns - record.began_ns
    return record.effect not in STOP_RENEWALS or (lease_ns > 0 and lasted_ns > 0.9 * lease_ns)


def _takes_until_ns(record: FaultRecord) -> int:
    """Return until when a fault can take away a lock whose lease begins before that time."""
    if record.effect in STOP_RENEWALS:
        return record.recovered_ns
    # the lab records that it has ended a session when the store has answered: each later lock has another session
    is_done = record.effect is Effect.SESSION_ENDS and record.injected_ns > 0
    return record.began_ns + (0 if is_done else DONE_WITHIN_NS)


SESSION = "session"  # the key of a renewal that renews a session; the session's name follows if it is known
ENDS_LOCKS = frozenset({"delete", "DeleteRange"})


def renews(event: Renewed, grant: Grant, key: str) -> bool:
    """Return whether a renewal renews this key: its key is this key, its session, or a place in its queue."""
    if event.key.partition(" ")[0] == SESSION:
        return bool(key) and grant.session in (None, event.key)
    return bool(key) and (event.key == key or key in event.key.split("/"))


def ended_by_itself(grant: Grant, event: Renewed) -> bool:
    """Return whether a holder deleted its own lock outside its request, as after a TTL that differs from its session's.

    Then only the grant says how long the lease was promised, because its session goes on.
    """
    return event.command in ENDS_LOCKS and event.begun_by == grant.request and renews(event, grant, grant.key)
