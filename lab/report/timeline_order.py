"""Find the order in which the counter executed its reads and writes, and a moment for each.

A stamp is taken before a command is sent, and after its answer came: the counter executed the command between the two moments.
Each write has the number that it replaced, and each read has the number that it found. So the commands form a chain: a command
fits only when the counter holds its number. The counter has one value at a time, so such an order always exists. If the
evidence allows no order, it is damaged, or a command is missing.

The search adds the commands one by one. A command may come next if no remaining command was answered before this one was sent. A
command that leaves the number as it is comes at once: it excludes nothing. Among several writes, the one that was answered
first is tried first, and the search goes back if the chain ends too soon.

Each part of the counter is a number of its own, and has an order of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lab.story.timeline import NEVER, DrawnGrant, Timeline

TRIES = 3000  # steps back without a longer chain, until the search goes on without the command that fits nowhere
ALL_TRIES = 30_000  # steps back in all
NS = 1000  # in a microsecond: a moment has parts of it


class Command(NamedTuple):
    """A read or a write of the counter."""

    # when it was sent, and when it was answered
    sent: int
    answered: int
    # the number that it found
    found: int
    # the number that it left; a read leaves the number that it found
    left: int


class Order:
    """The order in which the counter executed some commands. A place is the index of a command in the list."""

    def __init__(self, commands: Sequence[Command], start: int | None) -> None:
        """Find the order. start: the first number of the counter; None if it is unknown."""
        self.commands = commands
        self.by_answer = sorted(range(len(commands)), key=lambda place: commands[place].answered)
        # the places in the order in which the counter executed the commands
        self.places = self.by_answer
        chain = [commands[place] for place in self.by_answer]
        is_broken = any(before.left != after.found for before, after in pairwise(chain))
        if is_broken or (chain and start not in (None, chain[0].found)):
            self._find_order(start)  # otherwise the order of the answers is right, as in a run whose lock kept its promise
        # when the counter executed each command; NEVER for a command that fits nowhere
        self.at = [NEVER] * len(commands)
        for place, at in zip(self.places, _moments([commands[place] for place in self.places]), strict=True):
            self.at[place] = at

    def _find_order(self, value: int | None) -> None:
        """Order all commands. value: the first number of the counter; None if it is unknown."""
        self.places = []
        self.is_taken = [False] * len(self.commands)
        self.rank = {place: rank for rank, place in enumerate(self.by_answer)}
        self.first = 0  # in the order of the answers, all commands before this index are taken
        self.found: dict[int, list[int]] = {}  # by number: the commands that found it, first answered first
        for place in self.by_answer:
            self.found.setdefault(self.commands[place].found, []).append(place)
        choices: list[tuple[int, list[int]]] = []  # of each: how many commands were taken, and the writes still to try then
        kept = 0  # how many commands stay taken at each step back
        farthest: list[int] = []  # the longest chain so far after these commands
        steps = all_steps = 0
        while (due := self._due()) is not None:
            if nexts := self._nexts(value, self.commands[due].answered):
                choices += [(len(self.places), nexts[:0:-1])] * (len(nexts) > 1)
                value = self._take(nexts[0])
                continue
            if len(self.places) > kept + len(farthest):
                farthest, steps = self.places[kept:], 0
            steps, all_steps = steps + 1, all_steps + 1
            while choices and not choices[-1][1]:
                choices.pop()
            if choices and steps < TRIES and all_steps < ALL_TRIES:
                length, writes = choices[-1]
                self._give_up(length)
                value = self._take(writes.pop())
                continue
            self._give_up(kept)
            for place in farthest:
                value = self._take(place)
            value = self._give_in(value)
            choices.clear()
            kept, farthest, steps = len(self.places), [], 0

    def _due(self) -> int | None:
        """Return the remaining command that was answered first; None if none remains."""
        while self.first < len(self.by_answer) and self.is_taken[self.by_answer[self.first]]:
            self.first += 1
        return None if self.first == len(self.by_answer) else self.by_answer[self.first]

    def _nexts(self, value: int | None, open_until: int) -> list[int]:
        """Return the commands to try next: one that leaves the number as it is, or all fitting writes, first answered first."""
        candidates = () if value is None else self.found.get(value, ())
        fit = [place for place in candidates if not self.is_taken[place] and self.commands[place].sent <= open_until]
        return [place for place in fit if self.commands[place].left == value][:1] or fit

    def _take(self, place: int) -> int:
        """Take a command as the next one. Return the number that it left."""
        self.places.append(place)
        self.is_taken[place] = True
        return self.commands[place].left

    def _give_up(self, length: int) -> None:
        """Undo all commands after the first ``length`` ones."""
        for place in self.places[length:]:
            self.is_taken[place] = False
            self.first = min(self.first, self.rank[place])
        del self.places[length:]

    def _give_in(self, value: int | None) -> int | None:
        """Go on if no command fits: leave out the read that is due, or assume the number that it found. Return the number then.

        If a write found this number too, the counter certainly had it.
        """
        due = self._due()
        assert due is not None  # noqa: S101 - the search ends when none is due
        command = self.commands[due]
        remaining = (self.commands[place] for place in self.found[command.found] if not self.is_taken[place])
        if any(candidate.left != candidate.found and candidate.sent <= command.answered for candidate in remaining):
            return self._take(due)
        self.is_taken[due] = True
        return value


def _moments(commands: Sequence[Command]) -> list[int]:
    """Return a moment for each command of an ordered list: as late as possible, and after the moment of the command before."""
    latest, moments = 1 << 62, []
    for command in reversed(commands):
        latest = min(latest - 1, command.answered)
        moments.append(latest)
    moments.reverse()
    earliest = -1
    for number, command in enumerate(commands):
        earliest = moments[number] = max(moments[number], command.sent, earliest)
    return moments


def place_commands(picture: Timeline, start: int | None) -> None:
    """Find the moments of all reads and writes, and the numbers of the counter between them.

    start: the first number of the counter; None if the picture lacks its beginning.
    """
    parts: dict[str, list[DrawnGrant]] = {}
    for held in picture.held:
        parts.setdefault(held.part, []).append(held)
    for part, grants in parts.items():
        reads = [(held, "read_in", held.reading, held.read_at, held.read, held.read) for held in grants]
        writes = [(held, "wrote_in", held.writing, held.wrote_at, held.overwrote, held.wrote) for held in grants]
        known = [fields for fields in (*reads, *writes) if None not in fields[4:]]
        commands = [Command(sent * NS, answered * NS, found or 0, left or 0) for *_, sent, answered, found, left in known]
        order = Order(commands, 0 if part and start is not None else start)
        moments = [at if at == NEVER else at / NS for at in order.at]
        for (held, field, *_), moment in zip(known, moments, strict=True):
            setattr(held, field, moment)
    values = {"": start or 0}
    for held in sorted((held for held in picture.held if held.wrote_in != NEVER), key=lambda held: held.wrote_in):
        values[held.part] = held.wrote or 0
        if len(parts) == 1:
            held.counter = held.wrote
        elif start is not None:
            held.counter = sum(values.values())
