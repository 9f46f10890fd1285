"""Find the order in which the counter took its reads and writes, and a moment for each.

A stamp is taken before a command is sent, and after its answer came: the counter took the command at some moment between the two.
Each write knows which number it replaced, and each read knows which number it found. So the commands form a chain: a command
fits only where the counter holds its number. The counter has one value at a time, so such an order always exists. Where the
evidence admits none, it is damaged or a command is missing.

The search takes the commands one by one. A command may come next if no other command was answered before this one was sent. A
command that leaves the number as it is comes at once: it cannot be in the way. Among several writes, the one that was answered
first is tried first, and the search goes back where the chain ends too soon.

Each part of the counter is a number of its own, and has an order of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import NamedTuple

from lab.judge.grant import GrantRecord
from lab.story.timeline import NEVER, DrawnGrant, Timeline

TRIES = 1000  # steps back, since the search came farther than ever, until it gives up there
ALL_TRIES = 10_000  # steps back in all
FAR = 64  # commands that found the same number, of which a step asks whether they can still come in time


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
        search = _Search(commands, start)
        search.run()
        order = Order(search.taken, [NEVER] * len(commands), search.breaks, search.misfits)
    for place, at in zip(order.places, _moments([commands[place] for place in order.places]), strict=True):
        order.at[place] = at
    return order


class _Search:
    """The state of the search: the commands that are taken so far, and the choices that led there."""

    def __init__(self, commands: Sequence[Command], start: int | None) -> None:
        self.commands = commands
        self.value = start
        self.taken: list[int] = []
        self.breaks: list[int] = []
        self.misfits: list[int] = []
        self.is_taken = [False] * len(commands)
        self.by_answer = sorted(range(len(commands)), key=lambda place: commands[place].answered)
        self.rank = [0] * len(commands)
        for rank, place in enumerate(self.by_answer):
            self.rank[place] = rank
        self.first = 0  # no command before this one, in the order of the answers, is still to be taken
        # the commands that found a number, in the order in which they were sent; all before the head are taken
        self.found: dict[int, list[int]] = {}
        for place in sorted(range(len(commands)), key=lambda place: commands[place].sent):
            self.found.setdefault(commands[place].found, []).append(place)
        self.head = dict.fromkeys(self.found, 0)
        self.leaves: dict[int, list[int]] = {}  # the writes that left a number, in the order in which they were sent
        for place in sorted(range(len(commands)), key=lambda place: commands[place].sent):
            if commands[place].left != commands[place].found:
                self.leaves.setdefault(commands[place].left, []).append(place)
        # a state is the exclusive or of the marks of the commands that are taken; the search goes through each state once
        self.marks = [hash((place,)) for place in range(len(commands))]
        self.state = 0
        self.seen: set[tuple[int, int | None]] = set()
        self.position = [0] * len(commands)
        for places in self.found.values():
            for position, place in enumerate(places):
                self.position[place] = position

    def run(self) -> None:
        """Take all commands."""
        choices: list[tuple[int, int | None, list[int]]] = []  # how many were taken, the value, and the other writes to try
        kept = 0  # commands that no step back gives up
        farthest: list[int] = []  # the most commands that were ever taken after those
        steps = all_steps = 0
        while (open_until := self.open_until()) is not None:
            nexts = self.nexts(open_until)
            if len(nexts) > 1:
                choices.append((len(self.taken), self.value, nexts[:0:-1]))
            if nexts:
                self.take(nexts[0])
                continue
            if len(self.taken) > kept + len(farthest):
                farthest, steps = self.taken[kept:], 0
            steps, all_steps = steps + 1, all_steps + 1
            while choices and not choices[-1][2]:
                choices.pop()
            if choices and steps < TRIES and all_steps < ALL_TRIES:
                length, self.value, others = choices[-1]
                self.give_up(length)
                self.take(others.pop())
                continue
            self.go_to(kept, farthest)
            self.give_in()
            choices.clear()
            kept, farthest, steps = len(self.taken), [], 0

    def open_until(self) -> int | None:
        """Return when the first of the commands still to be taken was answered; None without one."""
        while self.first < len(self.by_answer) and self.is_taken[self.by_answer[self.first]]:
            self.first += 1
        return None if self.first == len(self.by_answer) else self.commands[self.by_answer[self.first]].answered

    def nexts(self, open_until: int) -> list[int]:
        """Return the commands to try next: one that leaves the number as it is, or the writes, first answered first."""
        if self.value is None or self.value not in self.found:
            return []
        places, head = self.found[self.value], self.head[self.value]
        while head < len(places) and self.is_taken[places[head]]:
            head += 1
        self.head[self.value] = head
        writes = []
        for place in islice(places, head, None):
            command = self.commands[place]
            if command.sent > open_until:
                break
            if self.is_taken[place]:
                continue
            if command.found == command.left:
                return [place]
            writes.append(place)
        if len(writes) > 1 and not self.is_new():
            return []
        return sorted((place for place in writes if self.may_leave(place)), key=self.rank.__getitem__)

    def is_new(self) -> bool:
        """Return whether the search has not been in this state before, and remember the state."""
        state = (self.state, self.value)
        is_new = state not in self.seen
        self.seen.add(state)
        return is_new

    def may_leave(self, next_place: int) -> bool:
        """Return whether the other commands that found this number can still come in time, if this write leaves it now.

        The number has to come back for them: for all reads once, and for each write once more.
        """
        number = self.commands[next_place].found
        places = islice(self.found[number], self.head[number], self.head[number] + FAR)
        others = [place for place in places if not self.is_taken[place] and place != next_place]
        if not others:
            return True
        others.sort(key=self.rank.__getitem__)
        back = (self.commands[place].sent for place in self.leaves.get(number, ()) if not self.is_taken[place])
        times, came = 0, list(islice(back, len(others)))
        for place in others:
            command = self.commands[place]
            times += command.left != number
            if max(1, times) > len(came) or came[max(1, times) - 1] > command.answered:
                return False
        return True

    def take(self, place: int) -> None:
        """Take a command as the next one."""
        self.taken.append(place)
        self.is_taken[place] = True
        self.state ^= self.marks[place]
        self.value = self.commands[place].left

    def give_up(self, length: int) -> None:
        """Give up all that was taken after the first ``length`` commands."""
        for place in self.taken[length:]:
            self.is_taken[place] = False
            self.state ^= self.marks[place]
            self.first = min(self.first, self.rank[place])
            found = self.commands[place].found
            self.head[found] = min(self.head[found], self.position[place])
        del self.taken[length:]

    def go_to(self, kept: int, farthest: Sequence[int]) -> None:
        """Go back to the state in which most commands were taken."""
        same = kept
        while same < min(len(self.taken), kept + len(farthest)) and self.taken[same] == farthest[same - kept]:
            same += 1
        self.give_up(same)
        for place in farthest[same - kept :]:
            self.take(place)

    def give_in(self) -> None:
        """Go on where no command fits: leave out the read that is due, or go on with another number.

        A number that a write found as well was certainly there.
        """
        self.open_until()  # moves to the command that is due
        due = self.by_answer[self.first]
        command = self.commands[due]
        places = islice(self.found[command.found], self.head[command.found], None)
        others = (place for place in places if not self.is_taken[place] and self.commands[place].left != command.found)
        if any(self.commands[place].sent <= command.answered for place in others):
            if self.value is not None:
                self.breaks.append(due)
            self.take(due)
        else:
            self.misfits.append(due)
            self.is_taken[due] = True


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
