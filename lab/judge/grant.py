"""A grant: one tenure of the lock, from asking for it to the end of the release, and the first write under it.

``Grants`` assembles grants from the replicas' journals. The verdict, the timeline and the live page all use it.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from app.journal import AnyEvent, Got, Refusal, Released, Writing, Wrote
from lab.evidence.loss import GrantFacts

# commands whose answer is the number of keys or rows that they deleted; what a script answers means nothing by itself
DELETIONS = ("DEL", "UNLINK", "DELETE")
FACTS = attrgetter(*GrantFacts.__struct_fields__)
Name = tuple[str, str, int]  # the replica, the request, and its turn


@dataclass(frozen=True, slots=True)
class LostLock:
    """How a holder had lost its lock before its release was over. Such a release can delete the lock of another holder."""

    # whether the lock was lost only while the release was under way
    in_release: bool
    # whether the scenario brought it about: by work that outlasts the TTL, or by a fault
    by_scenario: bool


class Grant:
    """A grant and the write under it, as far as the journals have been read. Before its event a time is 0, and a number None.

    The holder believes to hold the lock from ``got_ns`` to ``releasing_ns``, which is stamped before the release is sent. With
    a later end, correct locks would seem to overlap: the next holder can have the lock before the answer to the release is back.
    A request that nests two locks holds the outer one from ``outer_got_ns`` to ``outer_releasing_ns``.
    """

    # fmt: off
    __slots__ = (
        "answer", "asked_ns", "command", "commands", "died_ns", "got_ns", "handed_over_by", "key", "lease_from_ns", "lost",
        "outer_got_ns", "outer_key", "outer_lease_from_ns", "outer_releasing_ns", "overwrote", "part", "read", "read_ns",
        "reading_ns", "refused", "release_commands", "released_ns", "releasing_ns", "replica", "request", "result", "robbed_by",
        "successor", "told_no", "turn", "value", "went_in_unasked", "writing_ns", "wrote",
        "wrote_ns",
    )
    # fmt: on

    def __init__(self, replica: str, got: Got) -> None:
        # the journal's own facts; app/journal.py explains each
        self.replica = replica
        self.request = got.request
        self.turn = got.turn
        self.key = got.key
        self.asked_ns = got.asked_ns
        self.got_ns = got.got_ns
        self.commands = got.commands
        self.told_no = got.told_no
        self.reading_ns = self.read_ns = self.writing_ns = self.wrote_ns = self.releasing_ns = self.released_ns = 0
        self.read: int | None = None
        self.value: int | None = None
        self.wrote: int | None = None
        self.overwrote: int | None = None
        self.part = ""
        self.refused = False
        self.result = ""
        self.release_commands = 0
        self.answer = ""
        self.command = ""
        self.outer_key = got.outer_key
        self.outer_got_ns = got.outer_got_ns
        self.outer_releasing_ns = 0
        # what the judge adds: from when the lease counts, by the holder's clock (lab/judge/entitlement.py)
        self.lease_from_ns = got.sent_ns or got.got_ns
        self.outer_lease_from_ns = got.outer_sent_ns or got.outer_got_ns
        # whether the store had answered no command of this request by then, nor one that its process sent outside all requests
        self.went_in_unasked = False
        # when its process died; 0 if it did not
        self.died_ns = 0
        # how it had lost its lock before its release was over; None if it had not (lab/judge/thefts.py)
        self.lost: LostLock | None = None
        # the request whose release deleted this grant's lock
        self.robbed_by: Grant | None = None
        # the next grant of the same key, until the hand-over between the two has been measured
        self.successor: Grant | None = None
        # the replica that handed the lock over to this request, which was waiting for it; empty if it did not wait
        self.handed_over_by = ""

    def writing(self, event: Writing) -> None:
        """Add the read, and the value that is about to be written."""
        self.reading_ns = event.reading_ns
        self.read_ns = event.read_ns
        self.read = event.read
        self.value = event.value

    def confirmed(self, event: Wrote) -> None:
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
    def is_over(self) -> bool:
        """Return whether its release is on record."""
        return self.result != ""

    @property
    def unconfirmed(self) -> bool:
        """Return whether a write was intended and never confirmed: nobody knows whether it was applied."""
        return self.reading_ns != 0 and self.wrote is None and not self.refused

    @property
    def destroyed(self) -> int:
        """Return how many increments its write destroyed; below zero, how many it restored."""
        if self.overwrote is None or self.wrote is None:
            return 0
        return self.overwrote - self.wrote + 1

    @property
    def found_nothing(self) -> bool:
        """Return whether its release found no lock of its own, by the stage's word or by an answer that can mean nothing else."""
        return self.result == "not_owner" or (self.command in DELETIONS and self.answer == "0")

    def facts(self) -> GrantFacts:
        """Return what is written about it to ``losses.jsonl``."""
        return GrantFacts(*FACTS(self))


class Grants:
    """Assemble grants from the events of all journals, given in the order of time."""

    def __init__(self) -> None:
        # the grants without a release, in the order in which they were got
        self.open: dict[Name, Grant] = {}

    def take(self, replica: str, event: AnyEvent) -> Grant | None:
        """Add the event to its grant, and return the grant. None: the event belongs to no grant, or to an unknown one."""
        name = replica, event.request, event.turn
        if isinstance(event, Got):
            self.open[name] = Grant(replica, event)
            return self.open[name]
        grant = self.open.get(name)
        if grant is None:
            return None
        match event:
            case Writing():
                grant.writing(event)
            case Wrote():
                grant.confirmed(event)
            case Refusal():
                grant.refused = True
            case Released():
                grant.released(event)
                del self.open[name]
        return grant

    def lost_with_process(self, replica: str) -> list[Grant]:
        """Remove the open grants of a replica whose process has died, and return them."""
        lost = [name for name in self.open if name[0] == replica]
        return [self.open.pop(name) for name in lost]
