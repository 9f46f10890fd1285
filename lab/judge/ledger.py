"""Ledgers count what was lost in two ways: what each write destroyed, and what is missing in the end.

Each confirmed write knows the value it left and the value it found. In the resource's own order those values are a chain:
every value that was written (and the value at the start) is overwritten once, except the last. The chain needs no clock.

- ``destroyed`` is the sum of ``overwrote - wrote + 1`` over all writes. A term can be negative. The sum telescopes to
- ``lost = writes - (final - start)``. Where every write was confirmed, the two are computed independently and must agree.
- A write that was intended and never confirmed (its replica died) may or may not have been applied. If a value was overwritten
  and no confirmed write left it, then such a write left it, and was applied. A write that left the same value that it found
  leaves no trace, and looks the same as a write that was not applied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.judge.fact import Code, Fact

SOME = 5  # values in a fact


@dataclass(frozen=True, slots=True)
class Account:
    """The result of a ledger, or of all ledgers of a run together."""

    # writes that were applied
    writes: int
    # increments that are missing in the end
    lost: int
    # increments that writes destroyed, less those that writes restored
    destroyed: int
    # writes that nobody confirmed and that were applied all the same
    applied_unknowns: int
    # what does not add up; None if everything does
    disagreement: Fact | None = None


class Ledgers:
    """A ledger for each part of the resource. Most resources have one part."""

    def __init__(self, start: int) -> None:
        self._ledgers = {"": Ledger(start)}

    def _of(self, part: str) -> Ledger:
        """Return the ledger of a part. A part that is new starts from zero."""
        if part not in self._ledgers:
            self._ledgers[part] = Ledger(0)
        return self._ledgers[part]

    def write(self, part: str, wrote: int, overwrote: int) -> None:
        """Add one confirmed write."""
        (self._ledgers.get(part) or self._of(part)).write(wrote, overwrote)

    def close(self, final: dict[str, int] | None, intended: Sequence[int | None]) -> Account:
        """Compare each part with its end, and add up. final: by part; None if nobody could read it."""
        left = list(intended)
        for part in final or ():
            self._of(part)
        closed = [
            ledger.close(None if final is None else final.get(part, 0), left)
            for part, ledger in self._ledgers.items()
            if ledger.confirmed or final is None or part in final
        ]
        return Account(
            writes=sum(account.writes for account in closed),
            lost=sum(account.lost for account in closed),
            destroyed=sum(account.destroyed for account in closed),
            applied_unknowns=sum(account.applied_unknowns for account in closed),
            disagreement=next((account.disagreement for account in closed if account.disagreement), None),
        )


class Ledger:
    """Take writes in any order. Memory stays small when they come nearly in the resource's order."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.confirmed = 0
        self.destroyed = 0
        self._balance: dict[int, int] = {}  # value → how often it was left minus how often it was found
        self._add(start, 1)

    def write(self, wrote: int, overwrote: int) -> None:
        """Add one confirmed write."""
        self.confirmed += 1
        self.destroyed += overwrote - wrote + 1
        balance = self._balance
        if wrote in balance:
            self._add(wrote, 1)
        else:
            balance[wrote] = 1
        if balance.get(overwrote) == 1:  # nearly always, and then nothing is left of it
            del balance[overwrote]
        else:
            self._add(overwrote, -1)

    def close(self, final: int | None, intended: list[int | None]) -> Account:
        """Compare with the end. final: the value in the store; None if nobody could read it.

        intended: the values of the writes that nobody confirmed, None for one that would add to any value. Those that were
        applied are removed from it.
        """
        if final is None:
            return Account(self.confirmed, self.destroyed, self.destroyed, 0, Fact(Code.NOT_READ))
        self._add(final, -1)
        appeared = [value for value, balance in self._balance.items() for _ in range(-balance)]
        vanished = [value for value, balance in self._balance.items() for _ in range(balance)]
        applied = len(appeared)
        destroyed = self.destroyed + sum(vanished) - sum(appeared) + applied
        writes = self.confirmed + applied
        lost = writes - (final - self.start)
        return Account(writes, lost, destroyed, applied, self._disagreement(appeared, vanished, intended, lost, destroyed))

    @staticmethod
    def _disagreement(
        appeared: list[int], vanished: list[int], intended: list[int | None], lost: int, destroyed: int
    ) -> Fact | None:
        """Return what does not add up."""
        strange = []
        for value in appeared:
            if value in intended or None in intended:
                intended.remove(value if value in intended else None)
            else:
                strange.append(value)
        if strange or len(vanished) != len(appeared):
            return Fact(Code.NOBODY_WROTE, values=tuple((strange or vanished)[:SOME]))
        if lost != destroyed:
            return Fact(Code.DOES_NOT_ADD_UP, lost, of=destroyed)
        return None

    def _add(self, value: int, times: int) -> None:
        balance = self._balance.get(value, 0) + times
        if balance:
            self._balance[value] = balance
        else:
            del self._balance[value]
