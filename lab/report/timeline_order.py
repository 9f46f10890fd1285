"""Find the order in which the counter took its reads and writes, and a moment for each.

A stamp is taken before a command is sent, and after its answer came: the counter took the command at some moment between the two.
Each write knows which number it replaced, and each read knows which number it found. So the commands form a chain: a command
fits only where the counter holds its number. The counter has one value at a time, so such an order always exists. If the
evidence admits none, it is damaged or a command is missing.

The search takes the commands one by one. A command may come next if no other command was answered before this one was sent. A
command that leaves the number as it is comes at once: it cannot be in the way. Among several writes, the one that was answered
first is tried first, and the search goes back if the chain ends too soon.

Each part of the counter is a number of its own, and has an order of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lab.story.timeline import NEVER, DrawnGrant, Timeline

TRIES = 3000  # steps back, since the search came farther than ever, until it gives up there
ALL_TRIES = 30_000  # steps back in all
NS = 1000  # in a microsecond: a moment has parts of it


class Command(NamedTuple):
    """A read or a write of the counter."""

    # when it was sent, and when it was answered
    sent: int
    answered: int
    # the number that it found
    found: int
    # the number that it left; a read leaves what it found
    left: int


class Order:
    """The order in which the counter took some commands. A place is that of a command in the list."""

    def __init__(self, commands: Sequence[Command], start: int | None) -> None:
        """Find the order. start: the first number of the counter; None if it is unknown."""
        self.commands = commands
        self.by_answer = sorted(range(len(commands)), key=lambda place: commands[place].answered)
        # the places in the order in which the counter took the commands
        self.places = self.by_answer
        # the places of the commands before which a number appeared that no command had left, and of the reads that fit nowhere
        self.breaks: list[int] = []
        self.misfits: list[int] = []
        chain = [commands[place] for place in self.by_answer]
        if any(one.left != other.found for one, other in pairwise(chain)) or (chain and start not in (None, chain[0].found)):
            self._search(start)  # otherwise it is a run whose lock kept its promise
        # when the counter took each command; NEVER for a command that fits nowhere
        self.at = [NEVER] * len(commands)
        for place, at in zip(self.places, _moments([commands[place] for place in self.places]), strict=True):
            self.at[place] = at

    def _search(self, value: int | None) -> None:
        """Take all commands. value: the first number; None if it is unknown."""
        self.places = []
        self.is_taken = [False] * len(self.commands)
        self.rank = {place: rank for rank, place in enumerate(self.by_answer)}
        self.first = 0  # no command before this one, in the order of the answers, is still to be taken
        self.found: dict[int, list[int]] = {}  # the commands that found a number, first answered first
        for place in self.by_answer:
            self.found.setdefault(self.commands[place].found, []).append(place)
        choices: list[tuple[int, list[int]]] = []  # how many were taken, and the other writes to try
        kept = 0  # commands that no step back gives up
        farthest: list[int] = []  # the most commands that were ever taken after those
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
                length, others = choices[-1]
                self._give_up(length)
                value = self._take(others.pop())
                continue
            self._give_up(kept)
            for place in farthest:
                value = self._take(place)
            value = self._give_in(value)
            choices.clear()
            kept, farthest, steps = len(self.places), [], 0

    def _due(self) -> int | None:
        """Return the command that was answered first of those still to be taken; None without one."""
        while self.first < len(self.by_answer) and self.is_taken[self.by_answer[self.first]]:
            self.first += 1
        return None if self.first == len(self.by_answer) else self.by_answer[self.first]

    def _nexts(self, value: int | None, open_until: int) -> list[int]:
        """Return the commands to try next: one that leaves the number as it is, or the writes, first answered first."""
        found = () if value is None else self.found.get(value, ())
        fit = [place for place in found if not self.is_taken[place] and self.commands[place].sent <= open_until]
        return [place for place in fit if self.commands[place].left == value][:1] or fit

    def _take(self, place: int) -> int:
        """Take a command as the next one. Return the number that it left."""
        self.places.append(place)
        self.is_taken[place] = True
        return self.commands[place].left

    def _give_up(self, length: int) -> None:
        """Give up all that was taken after the first ``length`` commands."""
        for place in self.places[length:]:
            self.is_taken[place] = False
            self.first = min(self.first, self.rank[place])
        del self.places[length:]

    def _give_in(self, value: int | None) -> int | None:
        """Go on if no command fits: leave out the read that is due, or go on with another number. Return the number then.

        A number that a write found as well was certainly there.
        """
        due = self._due()
        assert due is not None  # noqa: S101 - the search ends when none is due
        command = self.commands[due]
        others = (self.commands[place] for place in self.found[command.found] if not self.is_taken[place])
        if any(other.left != other.found and other.sent <= command.answered for other in others):
            self.breaks += [due] * (value is not None)
            return self._take(due)
        self.misfits.append(due)
        self.is_taken[due] = True
        return value


def _moments(commands: Sequence[Command]) -> list[int]:
    """Return a moment for each of the commands, which are in their order: as late as possible, and each after the last one."""
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
        known = [one for one in (*reads, *writes) if None not in one[4:]]
        commands = [Command(sent * NS, answered * NS, found or 0, left or 0) for *_, sent, answered, found, left in known]
        order = Order(commands, 0 if part and start is not None else start)
        moments = [at if at == NEVER else at / NS for at in order.at]
        for (held, field, *_), moment in zip(known, moments, strict=True):
            setattr(held, field, moment)
        picture.gaps += [moments[place] for place in order.breaks]
    values = {"": start or 0}
    for held in sorted((held for held in picture.held if held.wrote_in != NEVER), key=lambda held: held.wrote_in):
        values[held.part] = held.wrote or 0
        if len(parts) == 1:
            held.counter = held.wrote
        elif start is not None:
            held.counter = sum(values.values())
    picture.gaps.sort()
