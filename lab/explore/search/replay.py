"""Run one schedule again from an empty server, event by event, without any table. A finding counts only after that.

The clients run live, and the real server executes each command once more, on the keys that the command before has left. Each
reply must be the same as in the search, and the findings must be the same.
"""

from __future__ import annotations

import contextlib
from collections import Counter
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


class NotPossible(Exception):  # noqa: N818 - a result
    """An event of a schedule cannot happen. The message names the event, its place, and the possible events."""


# errors after which a schedule cannot be run again, and decides nothing
CANNOT = (NotPossible, MachineStalled, NotExplored, NeverWaits)


class Differs(Exception):  # noqa: N818 - a result
    """The real server or the stage behaved otherwise than in the search. The message names the difference."""


class ClientsDiffer(Differs):
    """The code does not treat all clients alike: a search that tries only one of several clients decides nothing."""


@dataclass(frozen=True)
class Walk:
    """The run of a schedule from an empty server."""

    world: World
    # the state before the first event
    start: State
    moves: list[Move]


def same(left: Any, right: Any) -> bool:
    """Return whether two replies are the same. Times to live may differ by the milliseconds that a command takes."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, int) and isinstance(right, int) and min(abs(left), abs(right)) > GRID_MS:
        return abs(left - right) < GRID_MS
    return bool(left == right)


def needed(events: Sequence[ScheduleEvent]) -> Budget:
    """Return the faults that a schedule injects."""
    return Budget(**Counter(SPENDS[event.kind] for event in events if event.kind in SPENDS))


def walk(world: World, events: Sequence[ScheduleEvent], horizon_ms: int) -> list[Move]:
    """Return the moves of a schedule. If it ends there, the last move also has the findings of the end. Raises NotPossible."""
    budget = needed(events)
    done: list[Move] = []
    begun = begin(world, budget)
    state = begun.state
    for place, event in enumerate(events):
        move = take(world, state, event, budget, horizon_ms)
        if move is None:
            possible = ", ".join(str(move.event) for move in moves(world, state, budget, horizon_ms)) or "nothing: it is over"
            raise NotPossible(f"event {place + 1}, {event}, after {short(events[:place]) or 'the start'}; possible is {possible}")
        done.append(move)
        state = move.state
    if done and not moves(world, state, budget, horizon_ms):
        known = {finding.claim for move in done for finding in move.findings}
        before = [finding for finding in begun.findings if finding.claim not in known]
        last = (*done[-1].findings, *before, *end(world, state, budget, horizon_ms))
        done[-1] = done[-1]._replace(findings=tuple(dict.fromkeys(last)))
    return done


def unfolded(world: World) -> World:
    """Return a copy of a world in which each client, each server and every moment of a command is tried."""
    copied = copy(world)
    copied.symmetry = copied.unnoticed = None
    return copied


def check_clients(world: World, events: Sequence[ScheduleEvent], horizon_ms: int, seen: Sequence[Move]) -> None:
    """Run a schedule again with permuted clients, in the tables. Raises ClientsDiffer. seen: its moves without permutation."""
    clients = len(world.trees)
    names = [*range(1, clients), 0]
    try:
        other = walk(unfolded(world), renamed(events, names), horizon_ms)
    except NotPossible as error:
        raise ClientsDiffer(f"the code does not treat all clients alike: {error}") from error
    for move, as_other in zip(seen, other, strict=True):
        harms = [[(finding.claim, finding.harm) for finding in each.findings] for each in (move, as_other)]
        if harms[0] != harms[1]:
            difference = f"at {move.event}, other claims break for {as_other.event}"
            raise ClientsDiffer(f"the code does not treat all clients alike: {difference}")


def confirm(world: World, events: Sequence[ScheduleEvent], horizon_ms: int) -> list[Move]:
    """Run a schedule of a search again without tables, and return its moves in the search. Raises Differs."""
    try:
        seen = walk(unfolded(world), events, horizon_ms)
    except NotPossible as error:  # the folded search had another client for this event
        raise ClientsDiffer(f"the code does not treat all clients alike: {error}") from error
    try:
        again = walk_live(world, events, horizon_ms).moves
    except NotPossible as error:
        raise Differs(f"in the repetition on a server, {error}") from error
    for before, now in zip(seen, again, strict=True):
        if difference := _difference(before, now):
            raise Differs(difference)
    return seen


def _difference(before: Move, now: Move) -> str:
    """Return in words how a repetition differs from the search; empty if it does not."""
    if before.command != now.command:
        sent = [b" ".join(move.command.words).decode(errors="replace") if move.command else "nothing" for move in (before, now)]
        return f"at {before.event} it sent {sent[0]!r} in the search, and {sent[1]!r} in the repetition"
    if before.findings != now.findings:
        claims = [", ".join(finding.claim.name for finding in move.findings) or "nothing" for move in (before, now)]
        return f"{before.event} breaks {claims[0]} in the search, and {claims[1]} in the repetition"
    values = [move.reply.value if isinstance(move.reply, Reply) else None for move in (before, now)]
    if not same(*values):
        return f"{before.event} was answered {values[0]!r} in the search, and {values[1]!r} on an empty server"
    return ""


def walk_live(world: World, events: Sequence[ScheduleEvent], horizon_ms: int) -> Walk:
    """Run a schedule from an empty server, without tables. Raises NotPossible, and MachineStalled on a busy machine."""
    replicas = [Tree(world.program, number, folds=False) for number in range(len(world.trees))]
    live = unfolded(world)
    live.trees, live.lock, live.counter = replicas, world.lock.live(), world.counter.live()
    with contextlib.closing(live):
        return Walk(live, begin(live, needed(events)).state, walk(live, events, horizon_ms))
