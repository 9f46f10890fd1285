"""What replicas sent outside all requests: renewals, and the acquires of locks that ask in a thread of their own.

Such an acquire shows in no request. It looks like a renewal, and where its key had just expired, like one that came in time: a
lease of another holder must not go on because of it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field

from app.journal import Renewed
from lab.judge.grant import Grant

REMEMBERED = 64  # commands about one key


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
