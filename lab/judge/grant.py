"""A grant: one tenure of the lock, from asking for it to the end of the release, and the first write under it.

``Grants`` assembles grants from the replicas' journals. The verdict, the timeline and the live page all use it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from operator import attrgetter

import msgspec

from app.journal import AnyEvent, Got, Refusal, Released, SoldOut, Writing, Wrote, WroteLate
from lab.evidence.loss import GrantFacts

# commands whose answer is the number of keys or rows that they deleted; what a script answers means nothing by itself
DELETIONS = ("DEL", "UNLINK", "DELETE")
# and those that answer the number of entries that they took out of a key
REMOVALS = (*DELETIONS, "HDEL", "SREM", "ZREM", "LREM", "XDEL")
FACTS = attrgetter(*GrantFacts.__struct_fields__)
Name = tuple[str, str, int]  # the replica, the request, and its turn


@dataclass(frozen=True, slots=True)
class LostLock:
    """How a holder had lost its lock before its release was over. Such a release can delete the lock of another holder."""

    # whether the lock was lost only while the release was under way
    in_release: bool
    # whether the scenario brought it about: by work that outlasts the TTL, or by a fault
    by_scenario: bool


class GrantRecord(msgspec.Struct, eq=False, array_like=True):
    """What the journals record of a grant, and of the write under it. Before its event a time is 0, and a number None.

    The holder believes to hold the lock from ``got_ns`` to ``releasing_ns``, which is stamped before the release is sent. With
    a later end, correct locks would seem to overlap: the next holder can have the lock before the answer to the release is back.
    A request that nests two locks holds the outer one from ``outer_got_ns`` to ``outer_releasing_ns``.
    """

    # of the acquire; app/journal.py explains each
    replica: str
    request: str
    turn: int
    key: str
    asked_ns: int
    got_ns: int
    commands: int
    fence: int = 0
    outer_got_ns: int = 0
    # when the last command of the acquire was sent, or the lock was got, where a journal does not have it
    sent_ns: int = 0
    # of the work
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
    # of the release
    releasing_ns: int = 0
    released_ns: int = 0
    result: str = ""
    answer: str = ""
    outer_releasing_ns: int = 0

    @property
    def is_over(self) -> bool:
        """Return whether its release is on record."""
        return self.result != ""


# A Struct is made in C, in less time than a class of Python. Not with gc=False: grants refer to each other in long chains, and
# the end of such a chain would then overflow the stack.
class Grant(GrantRecord, eq=False):
    """A grant and the write under it, as far as the journals have been read, and what the judge adds."""

    # more facts of the journals
    told_no: bool = False
    outer_key: str = ""
    # the same of several servers, in older journals
    first_vote_ns: int = 0
    # when the last command was sent from which the lease of the key can count; 0 where that was the last command of all
    leased_ns: int = 0
    # whether the store had answered nothing but refusals, and the last command not at all
    unheard: bool = False
    # the session or the lease on which its lock hangs; empty if on none, None where it is not known
    session: str | None = None
    # when that lease was asked for; 0 where it is not known
    session_ns: int = 0
    value: int | None = None
    sold_out: bool = False
    release_commands: int = 0
    command: str = ""
    # from when the lease counts, by the holder's clock (lab/judge/entitlement.py)
    lease_from_ns: int = 0
    outer_lease_from_ns: int = 0
    # from when its lease counted at its grant, before any renewal
    granted_from_ns: int = 0
    # whether the store had answered nothing to this request by then, or refusals only and the last command not at all, and
    # nothing that its process sent outside all requests
    went_in_unasked: bool = False
    # from when the lease of the store counts, which a holder of its process left to it; 0 where the store granted the lock itself
    left_lease_from_ns: int = 0
    # whether it entered a lock that a failed request had left behind (lab/judge/reentries.py)
    reentered: bool = False
    # until when it surely lasted, if its release is not on record; 0: to the end of the run
    open_until_ns: int = 0
    # how it had lost its lock before its release was over, by key; None if it had lost none (lab/judge/thefts.py)
    lost: dict[str, LostLock] | None = None
    # whether a renewal of its own replica deleted the key: one with a TTL that was over at once
    renewed_to_death: bool = False
    # the request whose release deleted a lock of this grant, and its key
    robbed_by: Grant | None = None
    robbed_of: str = ""
    # the next grant of the same key, until the hand-over between the two has been measured
    successor: Grant | None = None
    # the replica that handed the lock over to this request, which was waiting for it; empty if it did not wait
    handed_over_by: str = ""

    @classmethod
    def begun(cls, replica: str, got: Got) -> Grant:
        """Return the grant that begins with this event."""
        sent_ns = got.sent_ns or got.got_ns
        return cls(
            replica,
            got.request,
            got.turn,
            got.key,
            got.asked_ns,
            got.got_ns,
            got.commands,
            got.fence,
            got.outer_got_ns,
            sent_ns,
            told_no=got.told_no,
            outer_key=got.outer_key,
            first_vote_ns=got.first_vote_ns,
            leased_ns=got.leased_ns,
            unheard=got.unheard,
            session=got.session,
            session_ns=got.session_ns,
            lease_from_ns=sent_ns,
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
        """Return what it locked: its key, and the outer key where it nests two locks."""
        return {self.key, self.outer_key} - {""}

    @property
    def at_store_from_ns(self) -> int:
        """Return from when its lease counts at the store, which knows nothing of a hand-over inside a process."""
        return self.left_lease_from_ns or self.lease_from_ns

    @property
    def unconfirmed(self) -> bool:
        """Return whether a write was intended and never confirmed: nobody knows whether it was applied."""
        return self.reading_ns != 0 and self.wrote is None and not self.refused_ns and not self.sold_out

    @property
    def destroyed(self) -> int:
        """Return how many increments its write destroyed; below zero, how many it restored."""
        if self.overwrote is None or self.wrote is None:
            return 0
        return self.overwrote - self.wrote + 1

    @property
    def found_nothing(self) -> bool:
        """Return whether its release found no lock of its own, by the stage's word or by an answer that can mean nothing else."""
        return self.result == "not_owner" or (self.command in REMOVALS and self.answer == "0")

    def facts(self) -> GrantFacts:
        """Return what is written about it to ``losses.jsonl``."""
        return GrantFacts(*FACTS(self))


class Grants:
    """Assemble grants from the events of all journals, given in the order of time."""

    def __init__(self) -> None:
        # the grants without a release, in the order in which they were got
        self.open: dict[Name, Grant] = {}
        # those that were released before they wrote: their work may go on
        self.unwritten: dict[Name, Grant] = {}

    def take(self, replica: str, event: AnyEvent) -> Grant | None:
        """Add the event to its grant, and return the grant. None: the event belongs to no grant, or to an unknown one."""
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
    """Two parallel lists: a search among plain numbers is much faster than one that must look into each grant."""

    def __init__(self) -> None:
        self.times_ns: list[int] = []
        self.grants: list[Grant] = []

    def __len__(self) -> int:
        return len(self.grants)

    def add(self, got_ns: int, grant: Grant) -> None:
        """Add a grant. Grants nearly always come in the order of time."""
        if self.times_ns and self.times_ns[-1] > got_ns:
            place = bisect_right(self.times_ns, got_ns)
            self.times_ns.insert(place, got_ns)
            self.grants.insert(place, grant)
        else:
            self.times_ns.append(got_ns)
            self.grants.append(grant)

    def first_of_another(self, request: str, since_ns: int, until_ns: int) -> Grant | None:
        """Return the first grant after one moment, and before another moment, that another request got."""
        for at in range(bisect_right(self.times_ns, since_ns), len(self.times_ns)):
            if self.times_ns[at] >= until_ns:
                break
            if self.grants[at].request != request:
                return self.grants[at]
        return None

    def is_free_after(self, grant: Grant) -> bool:
        """Return whether a grant that was released was the last one, or the next one came only after it."""
        times_ns, grants = self.times_ns, self.grants
        if grants[-1] is grant:
            return True
        return len(grants) > 1 and grants[-2] is grant and times_ns[-1] >= grant.releasing_ns > 0

    def forget_before(self, at_ns: int) -> None:
        """Forget the grants before a moment, but never the last grant."""
        number = max(0, min(bisect_left(self.times_ns, at_ns), len(self.times_ns) - 1))
        del self.times_ns[:number]
        del self.grants[:number]
