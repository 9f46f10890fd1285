"""Run one schedule again from an empty server, event by event, without any table: no finding is believed before.

The clients run live, each command goes to the real server once, and time passes there by shortening what every key has left to
live. Each reply must be the one that the search saw, and the findings must be the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from lab.explore.code.replica import NeverWaits
from lab.explore.code.tree import Tree
from lab.explore.model import GRID_MS, NotExplored
from lab.explore.search.event import SPENDS, Budget, ScheduleEvent, short
from lab.explore.search.reductions import renamed
from lab.explore.search.rules import end
from lab.explore.search.state import Move, State
from lab.explore.search.transitions import begin, moves, take
from lab.explore.search.world import World
from lab.explore.store.real_redis import MachineStalled
from lab.explore.store.resp import Reply
from lab.explore.store.table import COUNTER_DATABASE


class NotPossible(Exception):  # noqa: N818 - states what is wrong with the schedule
    """An event of a schedule cannot happen. The message names it, its place, and what could happen."""


# why a schedule cannot be run again: nothing is decided by it then
CANNOT = (NotPossible, MachineStalled, NotExplored, NeverWaits)


class Differs(Exception):  # noqa: N818 - states what was found
    """The real server or the stage behaved otherwise than in the search. The message names what differed."""


class Unlike(Differs):
    """The code does not treat all clients alike: a search in which one stands for another decides nothing."""


@dataclass(frozen=True)
class Walk:
    """A schedule, as the explorer goes through it on an empty server."""

    world: World
    # before the first event
    start: State
    moves: list[Move]


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
        last = (*found[-1].found, *before, *end(world, state, budget, horizon_ms))
        found[-1] = found[-1]._replace(found=tuple(dict.fromkeys(last)))
    return found


def unfolded(world: World) -> World:
    """Return the same world, in which nothing is folded."""
    made = copy(world)
    made.alike = made.unnoticed = None
    return made


def alike(world: World, events: Sequence[ScheduleEvent], horizon_ms: int, seen: Sequence[Move]) -> None:
    """Run a schedule again with other names of the clients, in the tables. seen: its moves. Raises Unlike."""
    clients = len(world.trees)
    names = [*range(1, clients), 0]
    try:
        other = walk(unfolded(world), renamed(events, names), horizon_ms)
    except NotPossible as error:
        raise Unlike(f"the code does not treat all clients alike: {error}") from error
    for mine, its in zip(seen, other, strict=True):
        if [(found.claim, found.harm) for found in mine.found] != [(found.claim, found.harm) for found in its.found]:
            raise Unlike(f"the code does not treat all clients alike: at {mine.event}, other claims break for {its.event}")


def confirm(world: World, events: Sequence[ScheduleEvent], horizon_ms: int) -> list[Move]:
    """Run a schedule of a search again without its tables, and return its moves. Raises Differs, which names what differs."""
    try:
        seen = walk(unfolded(world), events, horizon_ms)
    except NotPossible as error:  # of a folded search: this client cannot do what another one could
        raise Unlike(f"the code does not treat all clients alike: {error}") from error
    try:
        again = walk_live(world, events, horizon_ms).moves
    except NotPossible as error:
        raise Differs(f"in the repetition on a server, {error}") from error
    for before, now in zip(seen, again, strict=True):
        if difference := _difference(before, now):
            raise Differs(difference)
    return seen


def _difference(before: Move, now: Move) -> str:
    """Return how a repetition differs from the search; empty if it does not."""
    if before.command != now.command:
        sent = [b" ".join(one.command.words).decode(errors="replace") if one.command else "nothing" for one in (before, now)]
        return f"at {before.event} it sent {sent[0]!r} in the search, and {sent[1]!r} in the repetition"
    if before.found != now.found:
        claims = [", ".join(one.claim.name for one in move.found) or "nothing" for move in (before, now)]
        return f"{before.event} breaks {claims[0]} in the search, and {claims[1]} in the repetition"
    values = [one.reply.value if isinstance(one.reply, Reply) else None for one in (before, now)]
    if not same(*values):
        return f"{before.event} was answered {values[0]!r} in the search, and {values[1]!r} on an empty server"
    return ""


def walk_live(world: World, events: Sequence[ScheduleEvent], horizon_ms: int) -> Walk:
    """Run a schedule from an empty server, without any table. Raises NotPossible, and MachineStalled on a busy machine."""
    counter = world.counter.live(COUNTER_DATABASE)
    replicas = [Tree(world.program, number, folds=False) for number in range(len(world.trees))]
    made = unfolded(world)
    made.trees, made.lock, made.counter = replicas, world.lock.live(), counter
    with contextlib.closing(made):
        return Walk(made, begin(made, needed(events)).state, walk(made, events, horizon_ms))
