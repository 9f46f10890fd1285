"""Run one schedule again from an empty server, event by event, without any table: no finding is believed before.

The clients run live, each command goes to the real server once, and time passes there by shortening what every key has left to
live. Each reply must be the one that the search saw, and the findings must be the same.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lab.explore.model import EPOCH_MS, GRID_MS
from lab.explore.search.budget import Budget
from lab.explore.search.event import CRASH, FAILURE, LOST_COMMAND, LOST_REPLY, PAUSE, RESEND, RESTART, ScheduleEvent, short
from lab.explore.search.moves import begin, end, end_of, moves, started, take
from lab.explore.search.state import Move, State
from lab.explore.search.symmetry import renamed
from lab.explore.search.world import World
from lab.explore.store.histories import Histories, LiveHistory
from lab.explore.store.nodes import Nodes
from lab.explore.store.real_redis import MOST_MS, Key, MachineStalled, loading
from lab.explore.store.resp import Reply, Words
from lab.explore.store.table import Table, Transition, in_whole_steps

# the tables ask in database 0, also while a schedule runs; each of several servers has a database of its own
LOCK_DATABASE, COUNTER_DATABASE, NODES_FROM = 1, 2, 3
TRIES = 20
NOTHING = (b"PING",)  # only time passes
SPENDS = {
    PAUSE: "pauses",
    CRASH: "crashes",
    LOST_REPLY: "lost_replies",
    LOST_COMMAND: "lost_replies",
    RESEND: "resends",
    RESTART: "restarts",
    FAILURE: "failures",
}


class NotPossible(Exception):  # noqa: N818 - states what is wrong with the schedule
    """An event of a schedule cannot happen. The message names it, its place, and what could happen."""


class Differs(Exception):  # noqa: N818 - states what was found
    """The real server or the stage behaved otherwise than in the search. The message names what differed."""


class Unlike(Differs):
    """The code does not treat all clients alike: a search in which one stands for another decides nothing."""


@dataclass(frozen=True)
class Walk:
    """A schedule, as the explorer goes through it on an empty server."""

    world: World
    # before the first event, and after each
    states: Sequence[State]
    moves: list[Move]


class LiveTable(Table):
    """A server that is asked for every command, and remembers nothing but where it stands. Its states have a table's numbers."""

    def __init__(self, table: Table, database: int) -> None:
        super().__init__(table.real)
        self.contents, self.number = table.contents, table.number  # type: ignore[method-assign] # of the table
        self.database = database
        self.state = 0
        self.real.select(database)
        self.real.send(("FLUSHDB",))
        self._ran_s = time.monotonic()

    def answer(self, state: int, command: Words, now_ms: int = 0, version: int = 2) -> Transition:
        """Execute a command where the server stands. Raises MachineStalled."""
        self._go_on(state)
        self.real.select(self.database)
        keys = self.contents[state]
        on_time = [("PEXPIRE", key.name, key.ttl_ms) for key in keys if key.ttl_ms]  # the explorer's own time does not count
        first = on_time if state == self.state else loading(keys)  # another state: a restart, after which the server is empty
        reply, contents, published = self.real.execute(command, first, EPOCH_MS + now_ms, version)
        self._in_time()
        self.state = self.number(contents)
        return Transition(self.state, in_whole_steps(command, reply), published)

    def later(self, state: int, passed_ms: int) -> int:
        """Let time pass on the server: each key has so much less to live. Raises MachineStalled."""
        self._go_on(state)
        self.real.select(self.database)
        first = [] if state == self.state else loading(self.contents[state])
        passing = [shorten(key, passed_ms) for key in self.contents[state] if key.ttl_ms]
        _, contents, _ = self.real.execute(NOTHING, [*first, *passing])
        self._in_time()
        self.state = self.number(contents)
        return self.state

    def _in_time(self) -> None:
        if self.real.took_ms >= MOST_MS:
            raise MachineStalled("a command took too long")

    def _go_on(self, state: int) -> None:
        before_s, self._ran_s = self._ran_s, time.monotonic()
        shortest_ms = self.expires_in_ms(state)
        if shortest_ms is not None and self._ran_s - before_s > shortest_ms / 2000:
            raise MachineStalled("the machine stopped")


def shorten(key: Key, passed_ms: int) -> tuple[Any, ...]:
    """Return the command that lets time pass for a key."""
    left_ms = key.ttl_ms - passed_ms
    return ("PEXPIRE", key.name, left_ms) if left_ms > 0 else ("DEL", key.name)


def same(one: Any, other: Any) -> bool:
    """Return whether two replies are the same. What a key has left to live differs by the milliseconds that a command takes."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, int) and isinstance(other, int) and min(abs(one), abs(other)) > GRID_MS:
        return abs(one - other) < GRID_MS
    return bool(one == other)


def needed(events: Sequence[ScheduleEvent]) -> Budget:
    """Return the faults that a schedule injects."""
    counts = dict.fromkeys(Budget._fields, 0)
    for event in events:
        if name := SPENDS.get(event.kind):
            counts[name] += 1
    return Budget(**counts)


def walk(world: World, events: Sequence[ScheduleEvent], horizon_ms: int) -> list[Move]:
    """Return the moves of a schedule. Where nothing can happen after it, the last has what that breaks. Raises NotPossible."""
    budget = needed(events)
    found: list[Move] = []
    begun = begin(world, budget)
    state = begun.state
    for place, event in enumerate(events):
        move = take(world, state, event, budget, horizon_ms)
        if move is None:
            possible = ", ".join(str(move.event) for move in moves(world, state, budget, horizon_ms)) or "nothing: it is over"
            raise NotPossible(f"event {place + 1}, {event}, after {short(events[:place]) or 'the start'}; possible is {possible}")
        found.append(move)
        state = move.state
    if found and not moves(world, state, budget, horizon_ms):
        known = {one.claim for move in found for one in move.found}
        before = [one for one in begun.found if one.claim not in known]
        last = (*found[-1].found, *before, *end(world, state, end_of(world, state, budget, horizon_ms)))
        found[-1] = found[-1]._replace(found=tuple(dict.fromkeys(last)))
    return found


def like(world: World, lock: Any, counter: Table) -> World:
    """Return a world on other servers, whose replicas are new. Nothing is folded in it."""
    made = World(world.program, len(world.trees), lock, counter)
    made.about = world.about
    return made


def alike(world: World, events: Sequence[ScheduleEvent], horizon_ms: int, seen: Sequence[Move]) -> None:
    """Run a schedule again with other names of the clients, in the tables. seen: its moves. Raises Unlike."""
    clients = len(world.trees)
    names = [*range(1, clients), 0]
    try:
        other = walk(like(world, world.lock, world.counter), renamed(events, names), horizon_ms)
    except NotPossible as error:
        raise Unlike(f"the code does not treat all clients alike: {error}") from error
    for mine, its in zip(seen, other, strict=True):
        if [(found.claim, found.harm) for found in mine.found] != [(found.claim, found.harm) for found in its.found]:
            raise Unlike(f"the code does not treat all clients alike: at {mine.event}, other claims break for {its.event}")


def confirm(world: World, events: Sequence[ScheduleEvent], horizon_ms: int) -> list[Move]:
    """Run a schedule of a search again without its tables, and return its moves. Raises Differs, which names what differs."""
    try:
        seen = walk(like(world, world.lock, world.counter), events, horizon_ms)
    except NotPossible as error:  # of a folded search: this client cannot do what another one could
        raise Unlike(f"the code does not treat all clients alike: {error}") from error
    try:
        again = walk_live(world, events, horizon_ms).moves
    except NotPossible as error:
        raise Differs(f"in the repetition on a server, {error}") from error
    for before, now in zip(seen, again, strict=True):
        if before.command != now.command or before.found != now.found or not same(_value(before), _value(now)):
            raise Differs(_how(before, now))
    return seen


def _value(move: Move) -> Any:
    return move.reply.value if isinstance(move.reply, Reply) else None


def _how(before: Move, now: Move) -> str:
    """Return how a repetition differs from the search."""
    if before.command != now.command and before.command and now.command:
        words = [b" ".join(one.command.words).decode(errors="replace") for one in (before, now) if one.command]
        return f"at {before.event} it sent {words[0]!r} in the search, and {words[1]!r} in the repetition"
    if before.found != now.found:
        claims = [", ".join(one.claim.name for one in move.found) or "nothing" for move in (before, now)]
        return f"{before.event} breaks {claims[0]} in the search, and {claims[1]} in the repetition"
    return f"{before.event} was answered {_value(before)!r} in the search, and {_value(now)!r} on an empty server"


def live(world: World) -> World:
    """Return a world on empty servers, in which nothing is looked up."""
    lock, counter = world.lock, LiveTable(world.counter, COUNTER_DATABASE)
    if isinstance(lock, Histories):
        return like(world, LiveHistory(lock), counter)
    if isinstance(lock, Nodes):
        several = [LiveTable(table, NODES_FROM + place) for place, table in enumerate(lock.tables)]
        return like(world, lock.on(several), counter)
    return like(world, LiveTable(lock, LOCK_DATABASE), counter)


def walk_live(world: World, events: Sequence[ScheduleEvent], horizon_ms: int) -> Walk:
    """Run a schedule from an empty server, without any table. Raises NotPossible, and MachineStalled on a busy machine."""
    for _ in range(TRIES):
        with contextlib.suppress(MachineStalled), contextlib.closing(live(world)) as made:
            found = walk(made, events, horizon_ms)
            return Walk(made, [started(made, needed(events)), *(move.state for move in found)], found)
    raise MachineStalled(f"a key expired because the machine stopped, in each of {TRIES} tries")
