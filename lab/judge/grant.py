"""A grant: one tenure of the lock, from asking for it to the end of the release, and the first write under it.

``Grants`` assembles grants from the replicas' journals. The verdict, the timeline and the live page all use it.
"""

from __future__ import annotations

from operator import attrgetter

from app.journal import AnyEvent, Got, Refusal, Released, Writing, Wrote
from lab.evidence.loss import GrantFacts

FACTS = attrgetter(*GrantFacts.__struct_fields__)
Name = tuple[str, str, int]  # the replica, the request, and its turn


class Grant:
    """A grant and the write under it, as far as the journals have been read. Before its event a time is 0, and a number None.

    The holder believes to hold the lock from ``got_ns`` to ``releasing_ns``, which is stamped before the release is sent. With
    a later end, correct locks would seem to overlap: the next holder can have the lock before the answer to the release is back.
    """

    # fmt: off
    __slots__ = (
        "answer", "asked_ns", "command", "commands", "got_ns", "key", "outlived", "overwrote", "part", "read", "read_ns",
        "reading_ns", "refused", "release_commands", "released_ns", "releasing_ns", "replica", "request", "result",
        "successor", "told_no", "turn", "value", "writing_ns", "wrote", "wrote_ns",
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
        # what the judge adds: whether this grant had certainly lost its lock before its release began
        self.outlived = False
        # the next grant of the same key, until the hand-over between the two has been measured
        self.successor: Grant | None = None

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
        """Return whether its release found no lock of its own."""
        return self.result == "not_owner" or (self.command != "" and self.answer in ("0", "None"))

    @property
    def stole(self) -> bool:
        """Return whether its release deleted the lock of another holder: its own was lost, or it never had one.

        A release by a script that compares the owner deletes no other lock.
        """
        never_its_own = self.outlived or self.turn > 1 or self.told_no
        return never_its_own and self.command in ("DEL", "DELETE") and self.answer == "1"

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
