"""A grant: one tenure of the lock, from asking for it to the end of the release, and the first write under it.

``Grants`` assembles grants from the replicas' journals. The verdict, the timeline and the live page all use it.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from operator import attrgetter, itemgetter

import msgspec

from app.journal import AnyEvent, Got, Refusal, Released, SoldOut, Writing, Wrote, WroteLate
from lab.evidence.loss import GrantFacts

# the answer of these commands is the number of keys or rows that they deleted; the answer of a script means nothing by itself
DELETIONS = ("DEL", "UNLINK", "DELETE")
# the answer of these commands is the number of entries that they removed from a key
REMOVALS = (*DELETIONS, "HDEL", "SREM", "ZREM", "LREM", "XDEL")
WHEN = itemgetter(0)
GOT = attrgetter("got_ns")
REMEMBERED = 4096  # grants of one key
# the first fields of a grant, after the replica and before sent_ns: its event has the same fields
BEGINS = attrgetter("request", "turn", "key", "asked_ns", "got_ns", "commands", "fence", "outer_got_ns")
FACTS = attrgetter(*GrantFacts.__struct_fields__)
Name = tuple[str, str, int]  # a grant's name: the replica, the request, and its turn


@dataclass(frozen=True, slots=True)
class LostLock:
    """How a holder lost its lock before its release was over. Then its release can delete the lock of another holder."""

    # whether the lock was lost only while the release was under way
    in_release: bool
    # whether the scenario caused it: by work that outlasts the TTL, or by a fault
    by_scenario: bool


class GrantRecord(msgspec.Struct, eq=False, array_like=True):
    """Hold the facts of a grant and its write in the journals. Before its event, a time is 0 and a number is None.

    The holder believes to hold the lock from ``got_ns`` to ``releasing_ns``, which is stamped before the release is sent. With a
    later end, correct locks would seem to overlap: the next holder can have the lock before the answer to the release is back. A
    request that nests two locks holds the outer one from ``outer_got_ns`` to ``outer_releasing_ns``.
    """

    # fields of the acquire; app/journal.py explains each
    replica: str
    request: str
    turn: int
    key: str
    asked_ns: int
    got_ns: int
    commands: int
    fence: int = 0
    outer_got_ns: int = 0
    # when the last command of the acquire was sent; or when the lock was got, if a journal does not have that
    sent_ns: int = 0
    # fields of the work
    reading_ns: int = 0
    read_ns: int = 0
    writing_ns: int = 0
    wrote_ns: int = 0
    read: int | None = None
    wrote: int | None = None
    overwrote: int | None = None
    part: str = ""
    # when the resource refused a write
    refused_ns: int = 0
    # fields of the release
    releasing_ns: int = 0
    released_ns: int = 0
    result: str = ""
    answer: str = ""
    outer_releasing_ns: int = 0
    robber: str = ""  # the request whose release deleted a lock of this grant before this grant was released

    @property
    def is_over(self) -> bool:
        """Return whether the release of the grant is on record."""
        return self.result != ""


# A Struct is made in C, in less time than a class of Python. Not with gc=False: grants refer to each other in long chains, and
# to free a long chain would then overflow the stack.
class Grant(GrantRecord, eq=False):
    """Add to a grant the facts that the judge finds out about it."""

    # more facts of the journals
    told_no: bool = False
    outer_key: str = ""
    # the session or the store's lease to which its lock belongs; empty if to none, None if that is not known
    session: str | None = None
    value: int | None = None
    sold_out: bool = False
    release_commands: int = 0
    command: str = ""
    # from when the lease counts, by the holder's clock (lab/judge/entitlement.py)
    lease_from_ns: int = 0
    outer_lease_from_ns: int = 0
    # from when its lease counted when it was granted, before any renewal
    granted_from_ns: int = 0
    # whether it went in although the store had granted nothing: the request sent no command, or got no answer to the last one and
    # no yes before; and its process got no answer to a command outside all requests while the request waited
    went_in_unasked: bool = False
    # from when the store's lease counts, if a holder of its process handed the lock over; 0 if the store granted it
    left_lease_from_ns: int = 0
    # whether it entered a lock that a failed request had left behind (lab/judge/reentries.py)
    reentered: bool = False
    # if its release is not on record: until when it lasted for certain; 0: to the end of the run
    open_until_ns: int = 0
    # by key: how it lost its lock before its release was over; None if it lost none (lab/judge/thefts.py)
    lost: dict[str, LostLock] | None = None
    # whether a renewal of its own replica deleted the key, by a TTL that was over at once
    renewed_to_death: bool = False
    # the grant whose release deleted a lock of this grant, and the key of that lock
    robbed_by: Grant | None = None
    robbed_of: str = ""
    # the grants of the same key before and after this one, until the hand-over between the two has been counted
    predecessor: Grant | None = None
    successor: Grant | None = None

    @classmethod
    def begun(cls, replica: str, got: Got) -> Grant:
        """Return the grant that begins with this event."""
        sent_ns = got.sent_ns or got.got_ns
        return cls(  # type: ignore[misc, call-arg] # BEGINS names as many fields as there are before sent_ns
            replica,
            *BEGINS(got),
            sent_ns,
            told_no=got.told_no,
            outer_key=got.outer_key,
            went_in_unasked=got.commands == 0 or got.unheard,
            session=got.session,
            lease_from_ns=got.leased_ns or got.first_vote_ns or sent_ns,
            outer_lease_from_ns=got.outer_got_ns,
        )

    def writing(self, event: Writing) -> None:
        """Add the read, and the value that is about to be written."""
        self.reading_ns = event.reading_ns
        self.read_ns = event.read_ns
        self.read = event.read
        self.value = event.value

    def confirmed(self, event: Wrote | WroteLate) -> None:
        """Add the confirmed write."""
        self.writing_ns = event.writing_ns
        self.wrote_ns = event.wrote_ns
        self.wrote = event.value
        self.overwrote = event.overwrote
        self.part = event.part

    def released(self, event: Released) -> None:
        """Add the end of the work and the release."""
        self.releasing_ns = event.releasing_ns
        self.released_ns = event.released_ns
        self.result = event.result
        self.release_commands = event.commands
        self.answer = event.answer
        self.command = event.command
        self.outer_releasing_ns = event.outer_releasing_ns

    @property
    def keys(self) -> set[str]:
        """Return the keys that it locked: its key, and the outer key if it nests two locks."""
        return {self.key, self.outer_key} - {""}

    @property
    def free_ns(self) -> int:
        """Return when the release of its key was sent: the outer one, if it locked this key twice; 0 before that."""
        return max(self.releasing_ns, self.outer_releasing_ns if self.outer_key == self.key else 0)

    @property
    def at_store_from_ns(self) -> int:
        """Return from when its lease counts at the store, which does not know of a hand-over inside a process."""
        return self.left_lease_from_ns or self.lease_from_ns

    @property
    def unconfirmed(self) -> bool:
        """Return whether a write was intended and never confirmed: the journals do not show whether it was applied."""
        return self.reading_ns != 0 and self.wrote is None and not self.refused_ns and not self.sold_out

    @property
    def destroyed(self) -> int:
        """Return how many increments its write destroyed; below zero, how many it restored."""
        if self.overwrote is None or self.wrote is None:
            return 0
        return self.overwrote - self.wrote + 1

    @property
    def found_nothing(self) -> bool:
        """Return whether its release found no lock of its own, by the stage's result or by the number of keys removed."""
        return self.result == "not_owner" or (self.command in REMOVALS and self.answer == "0")

    def facts(self) -> GrantFacts:
        """Return its record for ``losses.jsonl``."""
        return GrantFacts(*FACTS(self))


class Grants:
    """Assemble grants from the events of all journals, given in the order of time."""

    def __init__(self) -> None:
        # the grants without a release, in the order in which they were got
        self.open: dict[Name, Grant] = {}
        # the grants that were released before they wrote: their work may go on
        self.unwritten: dict[Name, Grant] = {}

    def take(self, replica: str, event: AnyEvent) -> Grant | None:
        """Add the event to its grant, and return the grant; None if the event belongs to no grant, or to an unknown one."""
        name = replica, event.request, event.turn
        grant = self.open.get(name)
        if isinstance(event, Got):  # the frequent events first
            grant = self.open[name] = Grant.begun(replica, event)
        elif grant is None:
            return None
        elif isinstance(event, Writing):
            grant.writing(event)
        elif isinstance(event, Wrote):
            grant.confirmed(event)
        elif isinstance(event, Released):
            grant.released(event)
            del self.open[name]
            if grant.wrote is None and event.turn:
                self.unwritten[name] = grant
        elif isinstance(event, Refusal):
            grant.refused_ns = event.refused_ns
        elif isinstance(event, SoldOut):
            grant.sold_out = True
        return grant


class GrantsOfKey:
    """Keep the last REMEMBERED grants of a key, each with the time when it was got, in the order of time."""

    def __init__(self) -> None:
        self._grants: list[tuple[int, Grant]] = []

    def add(self, got_ns: int, grant: Grant) -> None:
        """Add a grant. Grants nearly always come in the order of time."""
        insort(self._grants, (got_ns, grant), key=WHEN)
        if len(self._grants) > 2 * REMEMBERED:
            del self._grants[:REMEMBERED]

    def first_of_another(self, request: str, since_ns: int, until_ns: int) -> Grant | None:
        """Return the first grant between two moments that another request got; None if there is none."""
        for at in range(bisect_right(self._grants, since_ns, key=WHEN), len(self._grants)):
            got_ns, grant = self._grants[at]
            if got_ns >= until_ns:
                break
            if grant.request != request:
                return grant
        return None
