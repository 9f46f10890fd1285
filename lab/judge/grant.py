"""One doing of the work, as its journal lines tell it: the unit in which losses, beliefs and hand-overs are counted."""

from __future__ import annotations

from operator import attrgetter

import msgspec

from app.journal import Got, Released, Writing, Wrote


class Party(msgspec.Struct, gc=False):
    """What proves something about an increment: a culprit or a victim, as ``losses.jsonl`` and ``verdict.json`` have it."""

    request: str
    replica: str
    read: int | None
    wrote: int | None
    overwrote: int | None
    asked_ns: int
    got_ns: int
    reading_ns: int
    wrote_ns: int
    releasing_ns: int


FACTS_OF = attrgetter(*Party.__struct_fields__)


class Increment:
    """A grant and what was done under it. A stamp is 0, a value None, until (or unless) its line is read.

    Belief is the interval from got_ns to releasing_ns, stamped before the release is sent: a later end would accuse
    sound locks, because the next holder can be in before the release's answer is back.
    """

    # fmt: off
    __slots__ = (
        "answer", "asked_ns", "command", "commands", "got_ns", "key", "outlived", "overwrote", "part", "read", "read_ns",
        "reading_ns", "refused", "release_commands", "released_ns", "releasing_ns", "replica", "request", "result",
        "successor", "told_no", "turn", "value", "wrote", "wrote_ns",
    )
    # fmt: on

    def __init__(self, replica: str, got: Got) -> None:
        self.replica = replica
        self.request = got.request
        self.turn = got.turn
        self.key = got.key
        self.asked_ns = got.asked_ns
        self.got_ns = got.got_ns
        self.commands = got.commands
        self.told_no = got.told_no
        self.reading_ns = self.read_ns = self.wrote_ns = self.releasing_ns = self.released_ns = 0
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
        self.outlived = False  # when it began to release, its lease had run out unrenewed, or another had got the lock
        self.successor: Increment | None = None

    def writing(self, event: Writing) -> None:
        self.reading_ns = event.reading_ns
        self.read_ns = event.read_ns
        self.read = event.read
        self.value = event.value

    def wrote_it(self, event: Wrote) -> None:
        self.wrote_ns = event.wrote_ns
        self.wrote = event.value
        self.overwrote = event.overwrote
        self.part = event.part

    def released(self, event: Released) -> None:
        self.releasing_ns = event.releasing_ns
        self.released_ns = event.released_ns
        self.result = event.result
        self.release_commands = event.commands
        self.answer = event.answer
        self.command = event.command

    @property
    def intended(self) -> bool:
        """It was about to write and never said that it had: a known unknown."""
        return self.reading_ns != 0 and self.wrote is None and not self.refused

    @property
    def destroyed(self) -> int:
        """How many increments its write destroyed: what it overwrote, less what it had read. Negative: it brought some back."""
        if self.overwrote is None or self.wrote is None:
            return 0
        return self.overwrote - self.wrote + 1

    def facts(self) -> Party:
        """What proves something about it."""
        return Party(*FACTS_OF(self))

    @property
    def found_nothing(self) -> bool:
        """Its last release said that there was nothing of its own to let go of."""
        return self.result == "not_owner" or (self.command != "" and self.answer in ("0", "None"))

    @property
    def robbed(self) -> bool:
        """It had lost its lock, or never had it, and deleted one all the same: another's.

        (A script that compares deletes only its own.)
        """
        never_its_own = self.outlived or self.turn > 1 or self.told_no
        return never_its_own and self.command in ("DEL", "DELETE") and self.answer == "1"
