"""What was lost, counted twice: by adding up what each write destroyed, and by what is missing in the end.

Each confirmed write knows the value it left and the one it found. In the resource's own order those values are a chain:
every value that was written (and the one at the start) is overwritten once, except the last. The chain needs no clock.

- ``destroyed`` is the sum of ``overwrote - wrote + 1`` over all writes; terms can be negative; the sum telescopes to
- ``lost = writes - (final - start)``. Where every write was confirmed, the two are computed independently and must agree.
- A write that was intended and never confirmed (its replica died) may or may not have been applied. Values that were
  overwritten though no confirmed write left them are its traces: they say which were applied. (One that left the very
  value it found leaves no trace; it cannot be told from one that was not applied.)
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Account:
    """The books of one run, closed. disagreement: what does not add up; empty if all does."""

    writes: int
    lost: int
    destroyed: int
    applied_unknowns: int
    disagreement: str


class Books:
    """A ledger for each part of the resource; most have only one."""

    def __init__(self, start: int) -> None:
        self._ledgers = {"": Ledger(start)}

    def _of(self, part: str) -> Ledger:
        """A part's ledger; one that nobody has written to before starts from nothing."""
        if part not in self._ledgers:
            self._ledgers[part] = Ledger(0)
        return self._ledgers[part]

    def write(self, part: str, wrote: int, overwrote: int) -> None:
        """One confirmed write."""
        self._of(part).write(wrote, overwrote)

    def close(self, final: dict[str, int] | None, intended: list[int]) -> Account:
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
            writes=sum(one.writes for one in closed),
            lost=sum(one.lost for one in closed),
            destroyed=sum(one.destroyed for one in closed),
            applied_unknowns=sum(one.applied_unknowns for one in closed),
            disagreement=next((one.disagreement for one in closed if one.disagreement), ""),
        )


class Ledger:
    """Takes writes in any order; memory stays small when they come nearly in the order of the resource."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.confirmed = 0
        self.destroyed = 0
        self._balance: dict[int, int] = {}  # value → times it was left less times it was found
        self._add(start, 1)

    def write(self, wrote: int, overwrote: int) -> None:
        """One confirmed write."""
        self.confirmed += 1
        self.destroyed += overwrote - wrote + 1
        self._add(wrote, 1)
        self._add(overwrote, -1)

    def close(self, final: int | None, intended: list[int]) -> Account:
        """Compare with the end. final: what the store held, None if nobody could read it; intended: the values of the
        writes that nobody confirmed, of which those that are found to have been applied are taken out.
        """
        if final is None:
            return Account(self.confirmed, self.destroyed, self.destroyed, 0, "the final value could not be read")
        self._add(final, -1)
        appeared = [value for value, balance in self._balance.items() for _ in range(-balance)]
        vanished = [value for value, balance in self._balance.items() for _ in range(balance)]
        applied = len(appeared)
        destroyed = self.destroyed + sum(vanished) - sum(appeared) + applied
        writes = self.confirmed + applied
        lost = writes - (final - self.start)
        return Account(writes, lost, destroyed, applied, self._disagreement(appeared, vanished, intended, lost, destroyed))

    @staticmethod
    def _disagreement(appeared: list[int], vanished: list[int], intended: list[int], lost: int, destroyed: int) -> str:
        strange = []
        for value in appeared:
            if value in intended:
                intended.remove(value)
            else:
                strange.append(value)
        if strange or len(vanished) != len(appeared):
            return f"the counter held {_some(strange or vanished)}, which no journal accounts for"
        if lost != destroyed:
            return f"{lost} are missing in the end, but the writes destroyed {destroyed}"
        return ""

    def _add(self, value: int, times: int) -> None:
        balance = self._balance.get(value, 0) + times
        if balance:
            self._balance[value] = balance
        else:
            del self._balance[value]


def _some(values: list[int]) -> str:
    return ", ".join(map(str, values[:5])) + (" …" if len(values) > 5 else "")
