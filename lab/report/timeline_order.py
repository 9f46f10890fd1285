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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from lab.judge.grant import GrantRecord
from lab.story.timeline import NEVER, DrawnGrant, Timeline

TRIES = 3000  # steps back, since the search came farther than ever, until it gives up there
ALL_TRIES = 30_000  # steps back in all


class Command(NamedTuple):
    """A read or a write of the counter. Times are CLOCK_MONOTONIC in nanoseconds."""

    # when it was sent, and when it was answered
    sent: int
    answered: int
    # the number that it found
    found: int
    # the number that it left; a read leaves what it found
    left: int


@dataclass(slots=True)
class Order:
    """The order of some commands."""

    # the places of the commands, in the order in which the counter took them
    places: list[int] = field(default_factory=list)
    # when the counter took each command, by place; NEVER for a command that fits nowhere
    at: list[int] = field(default_factory=list)
    # the places of the commands before which a number appeared that no command had left
    breaks: list[int] = field(default_factory=list)
    # the places of the reads that fit nowhere
    misfits: list[int] = field(default_factory=list)


def order_of(commands: Sequence[Command], start: int | None) -> Order:
    """Return the order of the commands. start: the first number of the counter; None if it is unknown."""
    by_answer = sorted(range(len(commands)), key=lambda place: commands[place].answered)
    chain = [commands[place] for place in by_answer]
    if all(one.left == other.found for one, other in pairwise(chain)) and (not chain or start in (None, chain[0].found)):
        order = Order(by_answer, [NEVER] * len(commands))  # as in each run whose lock kept its promise
    else:
        search = _Search(commands, by_answer)
        search.run(start)
        order = Order(search.taken, [NEVER] * len(commands), search.breaks, search.misfits)
    for place, at in zip(order.places, _moments([commands[place] for place in order.places]), strict=True):
        order.at[place] = at
    return order


class _Search:
    """The commands that are taken so far."""

    def __init__(self, commands: Sequence[Command], by_answer: Sequence[int]) -> None:
        self.commands, self.by_answer = commands, by_answer
        self.taken: list[int] = []
        self.breaks: list[int] = []
        self.misfits: list[int] = []
        self.is_taken = [False] * len(commands)
        self.rank = {place: rank for rank, place in enumerate(by_answer)}
        self.first = 0  # no command before this one, in the order of the answers, is still to be taken
        self.found: dict[int, list[int]] = {}  # the commands that found a number, first answered first
        for place in by_answer:
            self.found.setdefault(commands[place].found, []).append(place)

    def run(self, value: int | None) -> None:
        """Take all commands. value: the first number; None if it is unknown."""
        choices: list[tuple[int, list[int]]] = []  # how many were taken, and the other writes to try
        kept = 0  # commands that no step back gives up
        farthest: list[int] = []  # the most commands that were ever taken after those
        steps = all_steps = 0
        while (due := self.due()) is not None:
            if nexts := self.nexts(value, self.commands[due].answered):
                choices += [(len(self.taken), nexts[:0:-1])] * (len(nexts) > 1)
                value = self.take(nexts[0])
                continue
            if len(self.taken) > kept + len(farthest):
                farthest, steps = self.taken[kept:], 0
            steps, all_steps = steps + 1, all_steps + 1
            while choices and not choices[-1][1]:
                choices.pop()
            if choices and steps < TRIES and all_steps < ALL_TRIES:
                length, others = choices[-1]
                self.give_up(length)
                value = self.take(others.pop())
                continue
            self.give_up(kept)
            for place in farthest:
                value = self.take(place)
            value = self.give_in(value)
            choices.clear()
            kept, farthest, steps = len(self.taken), [], 0

    def due(self) -> int | None:
        """Return the command that was answered first of those still to be taken; None without one."""
        while self.first < len(self.by_answer) and self.is_taken[self.by_answer[self.first]]:
            self.first += 1
        return None if self.first == len(self.by_answer) else self.by_answer[self.first]

    def nexts(self, value: int | None, open_until: int) -> list[int]:
        """Return the commands to try next: one that leaves the number as it is, or the writes, first answered first."""
        found = () if value is None else self.found.get(value, ())
        fit = [place for place in found if not self.is_taken[place] and self.commands[place].sent <= open_until]
        return [place for place in fit if self.commands[place].left == value][:1] or fit

    def take(self, place: int) -> int:
        """Take a command as the next one. Return the number that it left."""
        self.taken.append(place)
        self.is_taken[place] = True
        return self.commands[place].left

    def give_up(self, length: int) -> None:
        """Give up all that was taken after the first ``length`` commands."""
        for place in self.taken[length:]:
            self.is_taken[place] = False
            self.first = min(self.first, self.rank[place])
        del self.taken[length:]

    def give_in(self, value: int | None) -> int | None:
        """Go on if no command fits: leave out the read that is due, or go on with another number. Return the number then.

        A number that a write found as well was certainly there.
        """
        due = self.due()
        assert due is not None  # noqa: S101 - the search ends when none is due
        command = self.commands[due]
        others = (self.commands[place] for place in self.found[command.found] if not self.is_taken[place])
        if any(other.left != other.found and other.sent <= command.answered for other in others):
            self.breaks += [due] * (value is not None)
            return self.take(due)
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


Pair = tuple[GrantRecord, DrawnGrant]


def place_commands(picture: Timeline, grants: Sequence[GrantRecord], origin_ns: int, start: int | None) -> None:
    """Find the moments of all reads and writes, and the numbers of the counter between them.

    grants: those of the picture, in the same order. start: the first number of the counter; None if the picture lacks its
    beginning.
    """
    parts: dict[str, list[Pair]] = {}
    for grant, held in zip(grants, picture.held, strict=True):
        parts.setdefault(grant.part, []).append((grant, held))
    writes = []
    for part, pairs in parts.items():
        of_part = 0 if part and start is not None else start
        writes += [(held.wrote_in, part, held) for held in _placed(picture, pairs, origin_ns, of_part)]
    writes.sort(key=lambda write: write[0])
    values = {"": start or 0}
    for _, part, held in writes:
        values[part] = held.wrote or 0
        if len(parts) == 1:
            held.counter = held.wrote
        elif start is not None:
            held.counter = sum(values.values())
    picture.gaps.sort()


def _placed(picture: Timeline, pairs: Sequence[Pair], origin_ns: int, start: int | None) -> list[DrawnGrant]:
    """Give the reads and writes of one part their moments. Return the grants that wrote, in the order of their writes."""
    commands = list(_commands(pairs))
    owners = [owner for owner, _ in commands]
    order = order_of([command for _, command in commands], start)
    moments = [at if at == NEVER else (at - origin_ns) / 1000 for at in order.at]
    for (held, is_write), moment in zip(owners, moments, strict=True):
        if is_write:
            held.wrote_in = moment
        else:
            held.read_in = moment
    picture.gaps += [moments[place] for place in order.breaks]
    return [owners[place][0] for place in order.places if owners[place][1]]


def _commands(pairs: Sequence[Pair]) -> Iterator[tuple[tuple[DrawnGrant, bool], Command]]:
    """Yield each read and write: the grant that it belongs to, whether it is a write, and the command."""
    for grant, held in pairs:
        if grant.read is not None:
            yield (held, False), Command(grant.reading_ns, grant.read_ns, grant.read, grant.read)
        if grant.wrote is not None and grant.overwrote is not None:
            yield (held, True), Command(grant.writing_ns, grant.wrote_ns, grant.overwrote, grant.wrote)
