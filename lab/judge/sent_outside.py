"""What replicas sent outside all requests: renewals of keys and sessions, and acquires of locks that ask in their own threads.

A session is etcd's lease, or ZooKeeper's session: to renew one renews all locks that hang on it.

Such an acquire shows in no request. It looks like a renewal, and where its key had just expired, like one that came in time: a
lease of another holder must not go on because of it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.journal import Renewed
from lab.evidence.fault_record import Effect
from lab.judge.faults import FaultOutcome
from lab.judge.grant import Grant

REMEMBERED = 64  # commands about one key
SESSION = "session"  # the key of a renewal that renews a session; the session's name follows, where it is known
ENDS_LOCKS = frozenset({"delete", "DeleteRange"})


@dataclass(slots=True)
class AgreedCommand:
    """A command that the store agreed to: it can have begun or prolonged a lease."""

    sent_ns: int
    answered_ns: int
    # the leases that it prolonged, if it was a renewal: each grant, and from when its lease counted before
    prolonged: list[tuple[Grant, int]] = field(default_factory=list)


class SentOutside:
    """Report each command outside all requests, and each grant whose request had sent nothing, in the order of time."""

    def __init__(self) -> None:
        # by replica: when a command was answered for the last time
        self.answered_ns: defaultdict[str, int] = defaultdict(int)
        self._agreed: defaultdict[tuple[str, str], deque[AgreedCommand]] = defaultdict(lambda: deque(maxlen=REMEMBERED))

    def answered(self, replica: str, event: Renewed, *, can_have_acquired: bool) -> AgreedCommand:
        """Take note of a command, and return what is known of it."""
        self.answered_ns[replica] = event.renewed_ns
        sent = AgreedCommand(event.sent_ns or event.renewed_ns, event.renewed_ns)
        if can_have_acquired:
            self._agreed[replica, event.key].append(sent)
        return sent

    def acquired(self, grant: Grant) -> bool:
        """Count the lease of a grant from the command that acquired it: the last one that was answered while it waited.

        Return whether there is one. Leases that the command had seemed to prolong count as before.
        """
        agreed = self._agreed.get((grant.replica, grant.key), ())
        own = next(
            (sent for sent in reversed(agreed) if grant.asked_ns <= sent.sent_ns and sent.answered_ns <= grant.got_ns), None
        )
        if own is None:
            return False
        grant.sent_ns = grant.lease_from_ns = own.sent_ns
        for other, from_ns in own.prolonged:
            if other.lease_from_ns == own.sent_ns:  # nothing has prolonged it since
                other.lease_from_ns = from_ns
        own.prolonged = []
        return True


@dataclass(slots=True)
class StoreSession:
    """One session of a replica at the store."""

    # when it was seen first
    began_ns: int
    # when the last renewal was sent that succeeded; 0 before the first
    renewed_ns: int = 0


class Sessions:
    """Report each command outside all requests, in the order of time."""

    def __init__(self, faults: Sequence[FaultOutcome]) -> None:
        self._ended = [fault.record for fault in faults if fault.record.effect is Effect.SESSION_ENDS]
        # by replica and name
        self._known: dict[tuple[str, str], StoreSession] = {}
        # by replica: the session that was renewed last
        self._last: dict[str, StoreSession] = {}

    def seen_ns(self, replica: str, event: Renewed, sent_ns: int) -> int:
        """Take note of a session that has a name. Return when it was seen first; 0 where that is not known."""
        if not event.key.startswith(f"{SESSION} "):
            return 0
        session = self._known.setdefault((replica, event.key), StoreSession(sent_ns))
        if event.prolonged:
            session.renewed_ns = sent_ns
            self._last[replica] = session
        return session.began_ns

    def began_ns(self, grant: Grant) -> int:
        """Return when the lease of a new grant began: with the last renewal of its session, or, without one, with asking for it.

        Where its session is not known, it is that of the replica: and another one after a fault has ended it, also where no
        renewal of that is known yet.
        """
        if grant.session is not None:
            own = self._known.get((grant.replica, grant.session))
            return max(grant.session_ns or grant.asked_ns, own.renewed_ns if own is not None else 0)
        session = self._last.get(grant.replica)
        ends_ns = [one.began_ns for one in self._ended if one.replica == grant.replica and one.began_ns <= grant.sent_ns]
        return max([session.renewed_ns if session is not None else grant.asked_ns, *ends_ns])


def renews(event: Renewed, grant: Grant, key: str) -> bool:
    """Return whether the renewal of something renews this key: it is the key itself, its session, or a place in its queue."""
    if event.key.partition(" ")[0] == SESSION:
        return bool(key) and grant.session in (None, event.key)
    return bool(key) and (event.key == key or key in event.key.split("/"))


def ended_by_itself(grant: Grant, event: Renewed) -> bool:
    """Return whether a holder has deleted its own lock outside its request, as after a TTL that is not that of its session.

    Then only the grant says how long it was promised: its session goes on without it.
    """
    return event.command in ENDS_LOCKS and event.begun_by == grant.request and renews(event, grant, grant.key)
