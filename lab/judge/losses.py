"""Losses: how many increments are lost, counted in two ways; which write destroyed which of them, and by which mechanism.

Each confirmed write knows the value it left and the value it found. In the resource's own order these values are a chain: every
value that was written (and the value at the start) is overwritten once, except the last. The chain needs no clock.

- ``destroyed`` is the sum of ``overwrote - wrote + 1`` over all writes. A term can be negative. The sum telescopes to
- ``lost = writes - (final - start)``. If every write was confirmed, the two are computed independently and must agree.
- A write that was intended and never confirmed (its replica died) may or may not have been applied. If a value was overwritten
  and no confirmed write left it, then an unconfirmed write left it, and was applied. A write that left the same value that it
  found leaves no trace, and looks the same as a write that was not applied.

*Attribution*. The *culprit* is a grant whose write destroyed one increment or more. The *victim* is the grant whose value the
culprit overwrote. The *candidates* for the victim are the writes next to the culprit's in the order of time: 256 before it and
256 after it. So a write is judged when 256 later writes are known, or when the run is over. The last 512 writes stay in memory,
however long the run is.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from lab.evidence.loss import Loss, Mechanism
from lab.judge.conflict import Conflict
from lab.judge.fact import EXAMPLES, Code, Fact, TwoInside
from lab.judge.grant import GOT, Grant
from lab.judge.mechanisms import explain

SOME = 5  # the most values that a fact names
NEIGHBOURS = 256  # how many writes before and after the culprit's are searched for its victim


@dataclass(frozen=True, slots=True)
class Account:
    """The result of a ledger, or of all ledgers of a run together."""

    # writes that were applied, confirmed or not
    writes: int
    # increments that are missing in the end
    lost: int
    # increments that writes destroyed, minus increments that writes restored
    destroyed: int
    # writes that were applied although they were never confirmed
    applied_unknowns: int
    # why the figures do not add up; None if they do
    disagreement: Fact | None = None


class Ledgers:
    """A ledger for each part of the resource. Most resources have one part."""

    def __init__(self, start: int) -> None:
        self._ledgers = defaultdict(lambda: Ledger(0), {"": Ledger(start)})  # by part; a part that is new starts from zero

    def write(self, part: str, wrote: int, overwrote: int) -> None:
        """Add one confirmed write."""
        self._ledgers[part].write(wrote, overwrote)

    def close(self, final: dict[str, int] | None, intended: Sequence[int | None]) -> Account:
        """Compare each part with its final value, and return the sum. final: by part; None if it could not be read."""
        unconfirmed = list(intended)
        closed = [
            self._ledgers[part].close(None if final is None else final.get(part, 0), unconfirmed)
            for part in {**self._ledgers, **(final or {})}
            if self._ledgers[part].confirmed or final is None or part in final
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
        self._balance: dict[int, int] = {}  # value → how often writes left it, minus how often writes found it
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
        if balance.get(overwrote) == 1:  # nearly always, and then its balance becomes zero
            del balance[overwrote]
        else:
            self._add(overwrote, -1)

    def close(self, final: int | None, intended: list[int | None]) -> Account:
        """Compare with the final value, and return the account. final: the value in the store; None if it could not be read.

        intended: the values of the writes that were not confirmed, None for a write that adds to any value. Values of applied
        writes are removed from it.
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
        """Return why the figures do not add up; None if they do."""
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


@dataclass
class Conflicts:
    """Hold the conflicts by one mechanism: how many, and the first of them."""

    number: int = 0
    examples: list[Loss | TwoInside] = field(default_factory=list)
    # the conflicts of two grants in one process
    number_in_one_process: int = 0
    examples_in_one_process: list[Loss | TwoInside] = field(default_factory=list)

    def add(self, example: Callable[[], Loss | TwoInside], *, is_in_one_process: bool) -> None:
        """Count one conflict. example: makes its record, called only if there is room for it."""
        self.number += 1
        self.number_in_one_process += is_in_one_process
        for examples in (self.examples, self.examples_in_one_process) if is_in_one_process else (self.examples,):
            if len(examples) < EXAMPLES:
                examples.append(example())


@dataclass
class Losses(Conflicts):
    """Hold the writes of one mechanism, in gross figures. ``net_losses`` has its share of the increments that are missing."""

    # increments that its writes destroyed
    destroyed: int = 0
    # increments that its writes brought back, because they had read before the destruction
    restored: int = 0

    def take(self, mechanism: Mechanism, culprit: Grant, victim: Grant | None) -> Loss:
        """Add a write that destroyed or restored increments, and return its record."""
        loss = Loss(culprit.destroyed, mechanism, culprit.facts(), None if victim is None else victim.facts())
        if loss.destroyed > 0:
            self.destroyed += loss.destroyed
            self.add(lambda: loss, is_in_one_process=victim is not None and victim.replica == culprit.replica)
        else:
            self.restored -= loss.destroyed
        return loss


def net_losses(lost: int, losses: Mapping[Mechanism, Losses]) -> dict[Mechanism, int]:
    """Return the net loss of each mechanism, largest first; every share is above zero, and their sum is ``lost``.

    Writes without a confirmation belong to no mechanism, so their losses are a share of its own. A mechanism that restored more
    than it destroyed has undone losses of others. The evidence does not show which, so the largest shares are reduced.
    """
    shares = {mechanism: gross.destroyed - gross.restored for mechanism, gross in losses.items()}
    shares[Mechanism.WRITE_UNCONFIRMED] = lost - sum(shares.values())
    surplus = -sum(share for share in shares.values() if share < 0)
    ordered = sorted(((mechanism, share) for mechanism, share in shares.items() if share > 0), key=lambda item: -item[1])
    net = {}
    for mechanism, share in ordered:
        undone = min(share, surplus)
        surplus -= undone
        if share > undone:
            net[mechanism] = share - undone
    return dict(sorted(net.items(), key=lambda item: -item[1]))


class Attribution:
    """Find the mechanism of each write that destroyed increments. ``losses`` holds the result by mechanism."""

    def __init__(self, conflict: Callable[[Grant, Grant], Conflict], on_loss: Callable[[Loss], object]) -> None:
        """conflict: returns the evidence around two grants, the elder first. on_loss: is called with each loss."""
        self.losses: dict[Mechanism, Losses] = {}
        self.conflict = conflict
        self.on_loss = on_loss
        self.writes: deque[Grant] = deque()  # the last 2 × NEIGHBOURS
        self.judged = 0  # how many of the writes have been judged

    def wrote(self, grant: Grant) -> None:
        """Take note of a write, and judge the one that is NEIGHBOURS before it."""
        writes = self.writes
        writes.append(grant)
        if len(writes) - self.judged > NEIGHBOURS:
            self._judge_next()
            if len(writes) > 2 * NEIGHBOURS:
                writes.popleft()
                self.judged -= 1

    def close(self) -> None:
        """Judge the remaining writes: no write will follow."""
        while self.judged < len(self.writes):
            self._judge_next()

    def _judge_next(self) -> None:
        culprit = self.writes[self.judged]
        self.judged += 1
        if culprit.overwrote is None or culprit.wrote is None or culprit.overwrote + 1 == culprit.wrote:
            return  # it destroyed nothing
        victim = self._victim_of(culprit, self.judged - 1)
        elder, younger = sorted((culprit, victim or culprit), key=GOT)
        conflict = self.conflict(elder, younger)
        # without a fault or long work there is no excuse, so the claim is certain; the mechanism is not
        is_uncertain = conflict.is_within_error and not conflict.run.stretched
        mechanism = Mechanism.WROTE_OVER_UNREAD if is_uncertain else explain(conflict).mechanism
        self.on_loss(self.losses.setdefault(mechanism, Losses()).take(mechanism, culprit, victim))

    def _victim_of(self, culprit: Grant, place: int) -> Grant | None:
        """Return the candidate that wrote the overwritten value and that overlaps the culprit from read to write; or None.

        The nearest earlier candidate comes first, then the later ones. The victim's write was before the culprit's. Its stamp can
        be later, because the replica takes the stamp after the store's answer, and its thread may wait in between.
        """
        earlier = range(place - 1, max(-1, place - NEIGHBOURS - 1), -1)
        later = range(place + 1, min(len(self.writes), place + NEIGHBOURS + 1))
        for index in chain(earlier, later):
            grant = self.writes[index]
            left_the_value = grant.wrote == culprit.overwrote and grant.part == culprit.part
            if left_the_value and grant.wrote_ns > culprit.reading_ns and grant.read_ns < culprit.wrote_ns:
                return grant
        return None
