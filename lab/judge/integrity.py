"""Find lines of the journals that cannot be true, and leave them out: one such line must not decide a verdict.

A replica writes its lines in an order that is known: a grant, the value that will be written, the write, the release. Each
line of one turn of a request is there once. A value that is overwritten was written before, and stamps of one grant follow each
other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from app.journal import AnyEvent, Got, Refusal, Released, Writing, Wrote, WroteAgain
from lab.evidence.damage import Damage, Flaw, Flaws
from lab.evidence.history import journal_of
from lab.judge.grant import Grant, Name
from lab.judge.written import Written


class Integrity:
    """Decide for each event whether it is evidence, before any other collector takes it."""

    def __init__(self, still_open: Mapping[Name, Grant], written: Written, start: int, one_clock: bool = True) -> None:
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
            Released: self._flaw_of_released,
        }
        self._several: set[Name] = set()  # grants that announced more than one write: a stage may work in several threads

    def admits(self, replica: str, event: AnyEvent) -> bool:
        """Return whether the event is evidence. Count it otherwise."""
        flaw = self._flaw(replica, event)
        if flaw is None:
            self._before[replica] = event
            return True
        self.flaws.add(journal_of(replica), flaw, f"{type(event).__name__.lower()} of {event.request or 'no request'}")
        return False

    def damages(self) -> Iterator[Damage]:
        """Yield what was found: all journals have been read."""
        for replica, request, turn in self.open:
            if turn in self.written.turns(replica, request) and self.open[replica, request, turn].wrote is None:
                self.flaws.add(journal_of(replica), Flaw.DOUBLED, f"got of {request}")
        return self.flaws.damages()

    def _flaw(self, replica: str, event: AnyEvent) -> Flaw | None:
        """Return what is wrong with an event; None if nothing is."""
        at_ns, before = event.at_ns, self._before.get(replica)
        if before is not None and at_ns == before.at_ns and event == before:
            return Flaw.DOUBLED
        if self.one_clock:
            if at_ns < self._now_ns:
                return Flaw.MISPLACED
            self._now_ns = at_ns
        look = self._of.get(type(event))
        return None if look is None else look(replica, event, self.open.get((replica, event.request, event.turn)))

    def _flaw_of_got(self, replica: str, event: Got, grant: Grant | None) -> Flaw | None:
        if grant is not None or event.turn in self.written.turns(replica, event.request):
            return Flaw.DOUBLED
        return _impossible(event.asked_ns <= event.got_ns and event.commands >= 0)

    def _flaw_of_second_write(self, replica: str, event: WroteAgain | Refusal, grant: Grant | None) -> Flaw | None:
        return Flaw.ORPHANED if grant is None else None

    def _flaw_of_writing(self, replica: str, event: Writing, grant: Grant | None) -> Flaw | None:
        if grant is None:
            return Flaw.ORPHANED
        if grant.reading_ns:
            if (grant.read_ns, grant.value) == (event.read_ns, event.value):
                return Flaw.DOUBLED
            self._several.add((replica, event.request, event.turn))
        counts = event.value is None or (event.read is not None and 0 <= event.read == event.value - 1)
        if not counts or not grant.got_ns <= event.reading_ns <= event.read_ns:
            return Flaw.IMPOSSIBLE
        self._highest = self._highest + 1 if event.value is None else max(self._highest, event.value)
        return None

    def _flaw_of_wrote(self, replica: str, event: Wrote, grant: Grant | None) -> Flaw | None:
        if grant is None:
            return Flaw.ORPHANED
        if (grant.wrote, grant.overwrote) == (event.value, event.overwrote):
            return Flaw.DOUBLED
        announced = event.overwrote + 1 if grant.value is None else grant.value
        if event.value != announced and (replica, event.request, event.turn) not in self._several:
            return Flaw.IMPOSSIBLE
        highest = self._highest if self.one_clock else event.overwrote
        return _impossible(0 <= event.overwrote <= highest and grant.read_ns <= event.wrote_ns)

    def _flaw_of_released(self, replica: str, event: Released, grant: Grant | None) -> Flaw | None:
        if grant is None:
            return Flaw.ORPHANED if event.turn else None  # turn 0: the stage released without having worked
        began_ns = event.releasing_ns or event.released_ns
        return _impossible(grant.got_ns <= began_ns <= event.released_ns and event.commands >= 0)


def _impossible(possible: bool) -> Flaw | None:
    return None if possible else Flaw.IMPOSSIBLE
