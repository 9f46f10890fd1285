"""Where a request is at each event of a schedule, in the words of the failpoints: its phase, and what it sent in that phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from app.failpoints import ACQUIRE, READ, RELEASE, RENEW, THINK, WRITE
from lab.explore.code.operation import LOCK, CommandSent
from lab.explore.search.budget import NONE
from lab.explore.search.moves import moves, started
from lab.explore.search.replay import Walk
from lab.explore.search.state import State
from lab.explore.search.world import World

UNTIL_MS = 1_000_000


class At(NamedTuple):
    """Where a client is when an event comes."""

    phase: str
    # how many commands its request has sent to the lock's store in this phase
    sent: int = 0
    # how many of them changed the lock's store: the store agreed
    agreed: int = 0


def places(seen: Walk) -> Iterator[At]:
    """Yield where the client of each event is when the event comes."""
    was_inside = [False] * len(seen.world.trees)
    sent: Counter[tuple[int, str]] = Counter()
    agreed: Counter[tuple[int, str]] = Counter()
    for before, after, move in zip(seen.states, seen.states[1:], seen.moves, strict=False):
        client = move.event.client
        for number in range(len(was_inside)):
            was_inside[number] |= bool(seen.world.node(before, number).inside)
        if client < 0:
            yield At(ACQUIRE)
            continue
        phase = RENEW if not move.event.own else _phase(seen.world, before, client, was_inside[client])
        yield At(phase, sent[client, phase], agreed[client, phase])
        if move.command is not None and move.command.server == LOCK:
            sent[client, phase] += 1
            agreed[client, phase] += before.lock != after.lock


def _phase(world: World, state: State, client: int, was_inside: bool) -> str:
    node = world.node(state, client)
    if node.writing:
        return WRITE
    if node.inside:
        return READ if isinstance(node.pending[0], CommandSent) else THINK
    return RELEASE if was_inside else ACQUIRE


def phase_of(world: World, state: State, client: int) -> str:
    """Return the phase of a client in its work; empty outside it."""
    return _phase(world, state, client, was_inside=False) if world.node(state, client).inside else ""


def commands_alone(world: World) -> Counter[str]:
    """Return how many commands one request sends to the lock's store in each phase, when nobody else asks for the lock.

    world: of one replica.
    """
    found: Counter[str] = Counter()
    state, was_inside = started(world, NONE), False
    while not world.is_over(state, 0) and (possible := moves(world, state, NONE, UNTIL_MS)):
        was_inside |= bool(world.node(state, 0).inside)
        move = next((move for move in possible if move.event.client == 0 and move.event.own), possible[0])
        if move.event.own and move.command is not None and move.command.server == LOCK:
            found[_phase(world, state, 0, was_inside)] += 1
        state = move.state
    return found
