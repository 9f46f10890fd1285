"""Run one schedule again from an empty server, event by event, without any table: no finding is believed before.

The clients run live, each command goes to the real server once, and time passes there by shortening what every key has left to
live. Each reply must be the one that the search saw, and the findings must be the same.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Sequence

from lab.explore.alike import with_numbers
from lab.explore.budget import Budget
from lab.explore.event import CRASH, LOST_COMMAND, LOST_REPLY, PAUSE, RESEND, RESTART, Event, short
from lab.explore.nodes import Nodes
from lab.explore.program import Program
from lab.explore.rehearsal import NOTHING, Asked, Rehearsed, agrees, same, shorten
from lab.explore.search import Searched
from lab.explore.server_table import MOST_MS, Answer, RealRedis, ServerTable, loading
from lab.explore.state import Move, State
from lab.explore.symmetry import other_names, renamed
from lab.explore.world import World

LOCK_DATABASE, COUNTER_DATABASE, NODES_FROM = 0, 1, 2  # each of several servers has a database of its own
TRIES = 20
SPENDS = {
    PAUSE: "pauses",
    CRASH: "crashes",
    LOST_REPLY: "lost_replies",
    LOST_COMMAND: "lost_replies",
    RESEND: "resends",
    RESTART: "restarts",
}


class NotPossible(Exception):  # noqa: N818 - states what is wrong with the schedule
    """An event of a schedule cannot happen. The message names it, its place, and what could happen."""


class Differs(Exception):  # noqa: N818 - states what was found
    """The real server or the stage behaved otherwise than in the search. The message names the command."""


class Stalled(Exception):  # noqa: N818 - states what happened
    """The machine did not run for so long that a key may have expired in the meantime. Another try may succeed."""


class LiveServer(ServerTable):
    """A server that is asked for every command, and remembers nothing but where it stands."""

    def __init__(self, real: RealRedis, database: int) -> None:
        super().__init__(real)
        self.database = database
        self.state = 0
        self.real.select(database)
        self.real.send(("FLUSHDB",))
        self._ran_s = time.monotonic()

    def answer(self, state: int, command: tuple[bytes, ...]) -> Answer:
        """Execute a command where the server stands. Raises Stalled."""
        self._go_on(state)
        self.real.select(self.database)
        keys = self.contents[state]
        on_time = [("PEXPIRE", key.name, key.ttl_ms) for key in keys if key.ttl_ms]  # the explorer's own time does not count
        first = on_time if state == self.state else loading(keys)  # another state: a restart, after which the server is empty
        reply, contents, published = self.real.execute(command, first)
        if self.real.took_ms >= MOST_MS:
            raise Stalled
        self.state = self._number(contents)
        return Answer(self.state, reply, published)

    def later(self, state: int, passed_ms: int) -> int:
        """Let time pass on the server: each key has so much less to live. Raises Stalled."""
        self._go_on(state)
        self.real.select(self.database)
        first = [] if state == self.state else loading(self.contents[state])
        passing = [shorten(key, passed_ms) for key in self.contents[state] if key.ttl_ms]
        _, contents, _ = self.real.execute(NOTHING, [*first, *passing])
        if self.real.took_ms >= MOST_MS:
            raise Stalled
        self.state = self._number(contents)
        return self.state

    def _go_on(self, state: int) -> None:
        before_s, self._ran_s = self._ran_s, time.monotonic()
        shortest_ms = self.expires_in_ms(state)
        if shortest_ms is not None and self._ran_s - before_s > shortest_ms / 2000:
            raise Stalled


def live(program: Program, clients: int, real: RealRedis) -> World:
    """Return a world on an empty server, in which nothing is looked up."""
    if program.lock_keys is None:  # to learn them takes many tries, and no live server
        World(program, 1, ServerTable(real), ServerTable(real)).close()
    servers = program.votes.servers
    several = [LiveServer(real, NODES_FROM + place) for place in range(servers)] if servers > 1 else []
    return World(
        program, clients, Nodes(several) if several else LiveServer(real, LOCK_DATABASE), LiveServer(real, COUNTER_DATABASE)
    )


def needed(events: Sequence[Event]) -> Budget:
    """Return the faults that a schedule injects."""
    counts = dict.fromkeys(Budget._fields, 0)
    for event in events:
        if name := SPENDS.get(event.kind):
            counts[name] += 1
    return Budget(**counts)


def walk(world: World, events: Sequence[Event], budget: Budget, horizon_ms: int) -> list[Move]:
    """Return the moves of a schedule. Where nothing can happen after it, the last has what that breaks. Raises NotPossible."""
    moves: list[Move] = []
    state = world.start(budget)
    for place, event in enumerate(events):
        move = world.take(state, event, budget, horizon_ms)
        if move is None:
            possible = (
                ", ".join(str(move.event) for move in world.moves(state, budget, horizon_ms)) or "nothing: the schedule is over"
            )
            raise NotPossible(f"event {place + 1}, {event}, after {short(events[:place]) or 'the start'}; possible is {possible}")
        moves.append(move)
        state = move.state
    stuck = world.stuck(state, budget, horizon_ms)
    if moves and stuck is not None and not world.moves(state, budget, horizon_ms):
        moves[-1] = moves[-1]._replace(found=(*moves[-1].found, stuck))
    return moves


def confirm(world: World, program: Program, events: Sequence[Event], budget: Budget, horizon_ms: int, real: RealRedis) -> None:
    """Run a schedule of a search again without its tables. Raises Differs, which names the first command that differs."""
    try:
        seen = walk(world, events, budget, horizon_ms)
    except NotPossible as error:  # of a folded search: this client cannot do what another one could
        raise Differs(f"the code does not treat all clients alike: {error}") from error
    try:
        on_empty = walk_rehearsed(world, events, horizon_ms, real) or walk_live(
            program, len(world.trees), events, horizon_ms, real
        )
    except NotPossible as error:
        raise Differs(f"on an empty server, {error}") from error
    for before, again in zip(seen, on_empty, strict=True):
        if (before.command, before.found) != (again.command, again.found) or not same(before.reply, again.reply):
            name = b" ".join(before.command.words).decode(errors="replace") if before.command else str(before.event)
            raise Differs(f"{name} was answered {before.reply!r} in the search, and {again.reply!r} on an empty server")


def walk_rehearsed(world: World, events: Sequence[Event], horizon_ms: int, real: RealRedis) -> list[Move] | None:
    """Run a schedule from an empty server in one round trip; None where the server does not answer as the tables do."""
    if world.program.votes.servers > 1:  # each of them is another server
        return None
    asked: list[Asked] = []
    servers = Rehearsed(world.lock, LOCK_DATABASE, asked), Rehearsed(world.counter, COUNTER_DATABASE, asked)
    with contextlib.closing(World(world.program, len(world.trees), *servers)) as rehearsed:
        moves = walk(rehearsed, events, needed(events), horizon_ms)
    return moves if agrees(real, asked) else None


def walk_live(program: Program, clients: int, events: Sequence[Event], horizon_ms: int, real: RealRedis) -> list[Move]:
    """Run a schedule from an empty server, without any table. Raises NotPossible, and Stalled on a machine that is too busy."""
    return walk_in(program, clients, events, horizon_ms, real)[1]


def walk_in(
    program: Program, clients: int, events: Sequence[Event], horizon_ms: int, real: RealRedis
) -> tuple[World, list[Move]]:
    """Return the moves as ``walk_live`` does, and the world in which they happened: it knows what each state holds."""
    for _ in range(TRIES):
        world = live(program, clients, real)
        with contextlib.suppress(Stalled), contextlib.closing(world):
            return world, walk(world, events, needed(events), horizon_ms)
    raise Stalled(f"a key expired because the machine stopped, in each of {TRIES} tries")


def random_schedules(found: Searched, number: int, seed: int, world: World, horizon_ms: int) -> list[list[Event]]:
    """Draw random schedules of a search, each to its end, and return each once.

    Those of a folded search get other names and servers.
    """
    chance = random.Random(seed)  # noqa: S311 - not a secret
    schedules: dict[tuple[Event, ...], None] = {}
    for _ in range(number):
        path: list[tuple[Event, State]] = []
        state, called = found.start, list(range(len(found.start.nodes) if found.start else 0))
        while state is not None and (moves := found.graph[state]):
            (move,) = chance.choices(moves, [move.ways for move in moves])
            path += [(event, move.state) for event in renamed([move.event], called)]
            state, called = move.state, [called[name] for name in move.names] if move.names else called
        events = with_numbers(world, path, found.budget, horizon_ms, chance)
        names = other_names(chance, len(found.start.nodes)) if found.folded and found.start else None
        schedules[tuple(renamed(events, names) if names else events)] = None
    return [list(events) for events in schedules]
