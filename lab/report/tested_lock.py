"""What a lock was tested for: claim by claim, by every order of events and by runs.

``lab test`` has one round of runs, and ``lab scorecard`` has several for each published library. The record is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from app.lock import Claim
from lab.errors import ExitStatus
from lab.report.matrix import Cell, Origin
from lab.report.statistics import mean_of_ratios
from lab.text import counted, thousands

HOLDS, BREAKS = "holds", "breaks"  # of a decision
KEPT, BROKEN = "KEPT", "BROKEN"
# of a promise: some runs broke it and others did not; nothing was shown of it
UNDECIDED, NOT_SHOWN = "NOT DECIDED", "NOT SHOWN"
# of a claim that nobody makes: it failed; it held all the same
FAILS, HELD = "ADMITTED", "UNSEEN"
OPEN = "OPEN"  # of a lock: neither broken nor kept as a whole


class TestedCell(Cell, kw_only=True):
    """What the runs of one scenario have shown of one claim."""

    __test__ = False  # for pytest, which collects classes by their name

    # the command that makes such a run
    command: str = ""

    @property
    def tally(self) -> dict[str, int]:
        """Return how many of its runs had each verdict."""
        return self.rounds or {self.verdict: 1}


class TestedClaim(msgspec.Struct, kw_only=True):
    """One claim, and what became of it."""

    __test__ = False

    claim: str
    # whether the lock makes it; a claim that nobody makes is never broken
    promised: bool = True
    # the words of the documentation that make it, and where they stand; empty where they are not known
    words: str = ""
    link: str = ""
    # what every order of events decided: holds, breaks, not_decided, not_looked_at; empty where no order was looked at
    orders: str = ""
    # the picture of a shortest schedule that breaks it, a file next to the page; empty without one
    schedule: str = ""
    # the command that shows the schedule again
    again: str = ""
    # the runs under scenarios that test it, and those of others that broke it
    cells: list[TestedCell] = msgspec.field(default_factory=list)

    @property
    def sentence(self) -> str:
        """Return the claim as a sentence."""
        return Claim[self.claim].value

    @property
    def tally(self) -> Counter[str]:
        """Return how many runs had each verdict."""
        total: Counter[str] = Counter()
        for cell in self.cells:
            total.update(cell.tally)
        return total

    @property
    def breaking(self) -> TestedCell | None:
        """Return the scenario whose runs broke it most often; None where no run did."""
        return max(
            (one for one in self.cells if one.tally.get(BROKEN)), key=lambda one: one.tally[BROKEN] / one.tries, default=None
        )

    @property
    def verdict(self) -> str:
        """Return what was shown. Broken is what an order breaks, or each run of a scenario."""
        tally, worst = self.tally, self.breaking
        if self.orders == BREAKS or (worst is not None and worst.tally[BROKEN] == worst.tries):
            return BROKEN
        if worst is not None:
            return UNDECIDED
        if self.orders == HOLDS or tally[KEPT]:
            return KEPT
        return FAILS if tally[FAILS] else HELD if tally[HELD] and not self.promised else NOT_SHOWN


class Speed(msgspec.Struct, kw_only=True):
    """What the lock costs next to a stage of the ladder: pairs of runs, made in turn."""

    # the stage, and the command of a run of each
    next_to: str
    command: str
    next_to_command: str
    # increments a second that were kept, by pair
    per_s: list[float]
    next_to_per_s: list[float]
    # commands for each increment: the mean of the runs
    commands: float
    next_to_commands: float
    # the longest wait of all runs
    longest_wait_ms: float
    next_to_longest_wait_ms: float

    @property
    def ratios(self) -> list[float]:
        """Return the speed as a share of the other's, by pair."""
        return [one / other for one, other in zip(self.per_s, self.next_to_per_s, strict=True) if one and other]

    @property
    def ratio(self) -> float:
        """Return the geometric mean of the ratios; 0 where there is none."""
        return mean_of_ratios(self.ratios).value if self.ratios else 0.0


class TestedLock(msgspec.Struct, kw_only=True):
    """The content of ``test.json``, and of a file of the scorecard."""

    __test__ = False

    schema: int = 2
    # as the command named it, and the name of its stage
    lock: str
    stage: str
    # the library and its version, where it is known
    library: str = ""
    # of a published library: ``language``, ``used``, ``lock`` and ``options``, as its file has them
    about: dict[str, str] = msgspec.field(default_factory=dict)
    # the command of the program that holds the locks; empty where they are in the replicas
    worker: str = ""
    # the files that pin the library's packages, with their hashes
    lock_files: dict[str, str] = msgspec.field(default_factory=dict)
    # why no order of events was looked at, or why some promises are not decided so
    unexplored: str = ""
    # how the lock is made, and what was not run, and why
    notes: list[str] = msgspec.field(default_factory=list)
    claims: list[TestedClaim] = msgspec.field(default_factory=list)
    # how many rounds of runs were asked for
    rounds: int = 1
    # None where it was not measured, or where a run of it shows no speed
    speed: Speed | None = None
    # the command that tests it again, and how long it took
    command: str = ""
    took_s: float = 0
    # the lab, and the machine
    origin: Origin = Origin()
    machine: dict[str, Any] = msgspec.field(default_factory=dict)
    # of the file and all that it needs: it changes with them
    fingerprint: str = ""

    @property
    def promised(self) -> list[TestedClaim]:
        """Return the claims that the lock makes."""
        return [one for one in self.claims if one.promised]

    def names(self, *verdicts: str) -> list[str]:
        """Return the promises with one of these verdicts."""
        return [one.claim for one in self.promised if one.verdict in verdicts]

    @property
    def headline(self) -> str:
        """Return the result in a line."""
        broken, kept, open_ = self.names(BROKEN), self.names(KEPT), self.names(UNDECIDED, NOT_SHOWN)
        if broken:
            return f"{counted(len(broken), 'promise')} of {len(self.promised)} broken: {', '.join(broken)}"
        rest = f"; nothing was shown of {', '.join(open_)}" if open_ else ""
        return f"{len(kept)} of {counted(len(self.promised), 'promise')} kept{rest}"

    @property
    def status(self) -> ExitStatus:
        """Return 1 if a promise is broken, 3 if nothing was shown of one, else 0."""
        if self.names(BROKEN):
            return ExitStatus.BROKEN
        return ExitStatus.NOTHING_SHOWN if self.names(UNDECIDED, NOT_SHOWN, FAILS) or not self.promised else ExitStatus.GOOD


def speed_in_words(found: Speed) -> str:
    """Return what the lock costs next to the other one, as sentences."""
    mean, next_to = (sum(one) / len(one) for one in (found.per_s, found.next_to_per_s))
    return (
        f"{found.ratio:.2f} of the speed of {found.next_to}: {thousands(mean)} increments a second next to {thousands(next_to)}, "
        f"means of {len(found.per_s)} runs of each, made in turn. {found.commands:g} commands an increment next to "
        f"{found.next_to_commands:g}. Longest wait {thousands(found.longest_wait_ms)} ms next to "
        f"{thousands(found.next_to_longest_wait_ms)} ms."
    )


def in_short(cell: TestedCell) -> str:
    """Return the verdicts of a cell, and how many runs had each, the worst first: ``BROKEN 2 of 3, KEPT 1 of 3``."""
    return listed(cell.tally)


def listed(tally: dict[str, int]) -> str:
    """Return how many runs had each verdict; without figures where there was one run."""
    total = sum(tally.values())
    if total <= 1:
        return "".join(tally)
    order = (BROKEN, FAILS, KEPT, HELD, "VOID")
    return ", ".join(f"{verdict} {tally[verdict]} of {total}" for verdict in order if tally.get(verdict))


def in_words(one: TestedClaim) -> str:
    """Return the verdict of a claim with the runs on which it rests: ``KEPT 6 of 6``, ``held 3 of 3, though not promised``."""
    match one.verdict:
        case "BROKEN":
            worst = one.breaking
            is_whole = worst is not None and worst.tally[BROKEN] == worst.tries
            return _of(BROKEN, worst.tally) if worst is not None and is_whole else f"{BROKEN} in some order"
        case "NOT DECIDED":
            return f"{UNDECIDED}: {listed(one.breaking.tally) if one.breaking else ''}"
        case "KEPT":
            return _of(KEPT, one.tally) if one.tally[KEPT] else f"{KEPT} in every order"
        case "ADMITTED":
            return f"{_of('fails', one.tally, FAILS)}, not promised"
        case "UNSEEN":
            return f"{_of('held', one.tally, HELD)}, though not promised"
        case other:
            return other


def _of(word: str, tally: dict[str, int], verdict: str = "") -> str:
    total = sum(tally.values())
    return f"{word} {tally[verdict or word]} of {total}" if total > 1 else word


def ordered(claims: Sequence[TestedClaim]) -> list[TestedClaim]:
    """Return claims in their order in ``app/lock.py``, the promised ones first."""
    order = [claim.name for claim in Claim]
    return sorted(claims, key=lambda one: (not one.promised, order.index(one.claim)))
