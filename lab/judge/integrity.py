"""Find lines of the journals that cannot be true, and leave them out: one such line must not decide a verdict.

A replica writes its lines in an order that is known: a grant, the value that will be written, the write, the release. Each
line of one turn of a request is there once. A value that is overwritten was written before, and stamps of one grant follow each
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from app.journal import AnyEvent, Got, Refusal, Released, SoldOut, Writing, Wrote, WroteAgain
from lab.evidence.damage import Damage, Flaw, Flaws
from lab.evidence.history import journal_of
from lab.judge.grant import Grant, Name
from lab.judge.written_values import WrittenValues


class Integrity:
    """Decide for each event whether it is evidence, before any other collector takes it."""

    def __init__(self, still_open: Mapping[Name, Grant], written: WrittenValues, start: int, one_clock: bool = True) -> None:
        """still_open: the grants without a release. start: the counter before the run.

        one_clock: whether the events come in the order of time.
        """
        self.open = still_open
        self.written = written
        self.one_clock = one_clock
        self.flaws = Flaws()
        self._highest = start  # the highest value that a write has announced so far
        self._now_ns = 0
        self._before: dict[str, AnyEvent] = {}  # the last event of each replica
        self._of: dict[type[AnyEvent], Callable[[str, Any, Grant | None], Flaw | None]] = {
            Got: self._flaw_of_got,
            Writing: self._flaw_of_writing,
            Wrote: self._flaw_of_wrote,
            WroteAgain: self._flaw_of_second_write,
            Refusal: self._flaw_of_second_write,
            SoldOut: self._flaw_of_second_write,
            Released: self._flaw_of_released,
        }
        self._several: set[Name] = set()  # grants that announced more than one write: a stage may work in several threads

    def admits(self, replica: str, event: AnyEvent, grant: Grant | None, at_ns: int = 0) -> bool:
        """Return whether the event is evidence. Count it otherwise.

        grant: the open grant to which it belongs. at_ns: the event's stamp; 0 where stamps cannot be compared.
        """
        if event == self._before.get(replica):
            flaw: Flaw | None = Flaw.DOUBLED
        elif at_ns < self._now_ns:
            flaw = Flaw.MISPLACED
        else:
            self._now_ns = at_ns
            look = self._of.get(type(event))
            flaw = None if look is None else look(replica, event, grant)
        if flaw is None:
            self._before[replica] = event
            return True
        self.flaws.add(journal_of(replica), flaw, f"{type(event).__name__.lower()} of {event.request or 'no request'}")
        return False

    def damages(self) -> Iterator[Damage]:
        """Yield what was found: all journals have been read."""
        for replica, request, turn in self.open:
            if self.written.in_turn(replica, request, turn) and self.open[replica, request, turn].wrote is None:
                self.flaws.add(journal_of(replica), Flaw.DOUBLED, f"got of {request}")
        return self.flaws.damages()

    def _flaw_of_got(self, replica: str, event: Got, grant: Grant | None) -> Flaw | None:
        if grant is not None or self.written.in_turn(replica, event.request, event.turn):
            return Flaw.DOUBLED
        return None if event.asked_ns <= event.got_ns and event.commands >= 0 else Flaw.IMPOSSIBLE

    def _flaw_of_second_write(self, replica: str, event: WroteAgain | Refusal | SoldOut, grant: Grant | None) -> Flaw | None:
        return Flaw.ORPHANED if grant is None else None

    def _flaw_of_writing(self, replica: str, event: Writing, grant: Grant | None) -> Flaw | None:
        if grant is None:
            return Flaw.ORPHANED
        if grant.reading_ns:
            if grant.read_ns == event.read_ns and grant.value == event.value:
                return Flaw.DOUBLED
            self._several.add((replica, event.request, event.turn))
        value, read = event.value, event.read
        counts = value is None or (read is not None and 0 <= read == value - 1)
        if not counts or not grant.got_ns <= event.reading_ns <= event.read_ns:
            return Flaw.IMPOSSIBLE
        if value is None:
            self._highest += 1
        elif value > self._highest:
            self._highest = value
        return None

    def _flaw_of_wrote(self, replica: str, event: Wrote, grant: Grant | None) -> Flaw | None:
        if grant is None:
            return Flaw.ORPHANED
        value, overwrote = event.value, event.overwrote
        if grant.wrote == value and grant.overwrote == overwrote:
            return Flaw.DOUBLED
        announced = overwrote + 1 if grant.value is None else grant.value
        if value != announced and (replica, event.request, event.turn) not in self._several:
            return Flaw.IMPOSSIBLE
        highest = self._highest if self.one_clock else overwrote
        return None if 0 <= overwrote <= highest and grant.read_ns <= event.wrote_ns else Flaw.IMPOSSIBLE

    def _flaw_of_released(self, replica: str, event: Released, grant: Grant | None) -> Flaw | None:
        if grant is None:
            return Flaw.ORPHANED if event.turn else None  # turn 0: the stage released without having worked
        began_ns = event.releasing_ns or event.released_ns
        return None if grant.got_ns <= began_ns <= event.released_ns and event.commands >= 0 else Flaw.IMPOSSIBLE
