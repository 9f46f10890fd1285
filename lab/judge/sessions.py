"""The sessions of replicas at the store: etcd's leases, ZooKeeper's sessions. To renew one renews all locks that hang on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.journal import Renewed
from lab.evidence.fault_record import Effect
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.grant import Grant

SESSION = "session"  # the key of a renewal that renews a session; the session's name follows, where it is known
ENDS_LOCKS = frozenset({"delete", "DeleteRange"})


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


def is_of_session(event: Renewed) -> bool:
    """Return whether a command renews a session."""
    return event.key.partition(" ")[0] == SESSION


def renews(event: Renewed, grant: Grant, key: str) -> bool:
    """Return whether the renewal of something renews this key: it is the key itself, its session, or a place in its queue."""
    if is_of_session(event):
        return bool(key) and grant.session in (None, event.key)
    return bool(key) and (event.key == key or key in event.key.split("/"))


def ended_by_itself(grant: Grant, event: Renewed) -> bool:
    """Return whether a holder has deleted its own lock outside its request, as after a TTL that is not that of its session.

    Then only the grant says how long it was promised: its session goes on without it.
    """
    return event.command in ENDS_LOCKS and event.begun_by == grant.request and renews(event, grant, grant.key)
