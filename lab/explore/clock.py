"""Time as an actor: the clock moves to the next deadline, and only when no client that runs can do anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab.explore import naps, rules, watching
from lab.explore.budget import Budget
from lab.explore.event import CLOCK, NOBODY, Event
from lab.explore.operation import Listen, Until
from lab.explore.parking import AWAKE, after_change
from lab.explore.state import DEAD, RUNS, Move, State

if TYPE_CHECKING:
    from lab.explore.world import World


def moves(world: World, state: State, budget: Budget, horizon_ms: int) -> Iterator[Move]:
    """Yield the move of the clock, if there is a deadline before the search ends."""
    if world.all_over(state):
        return
    found = list(deadlines(world, state))
    expires_in_ms = world.lock.expires_in_ms(state.lock)
    if expires_in_ms is not None:
        found.append(state.now_ms + expires_in_ms)
    then_ms = min(found, default=horizon_ms + 1)
    if then_ms <= horizon_ms:
        lock = world.lock.later(state.lock, then_ms - state.now_ms)
        everyone = range(len(state.nodes))
        working = any(state.modes[client] != DEAD and world.node(state, client).inside for client in everyone)
        idle = not working and any(world.waits(state, client) for client in everyone)
        used, program = budget.used(state.left), world.program
        about = rules.Passed(world.lock.contents[lock], state.now_ms, then_ms, program.ttl_ms, used, idle, program.nested)
        ghosts, broken = rules.passed(state.ghosts, about)
        after = _woken(world, state._replace(lock=lock, now_ms=then_ms, ghosts=ghosts), state)
        after = watching.expired(after, world.lock.contents[state.lock], world.lock.contents[lock])
        yield Move(Event(CLOCK, NOBODY, 0, then_ms), after, tuple(broken))


def _woken(world: World, state: State, before: State) -> State:
    """Return the state after time has passed, in which the naps have ended that need not last."""
    if world.program.asks is None:
        return state._replace(parked=after_change(len(state.parked), state.lock != before.lock, state.parked))
    if len(world.lock.contents[state.lock]) != len(world.lock.contents[before.lock]):
        return world.disturbed(state._replace(parked=(AWAKE,) * len(state.parked)))
    ended = {client for client, until_ms in naps.deadlines(state, world.client_nodes(state)) if until_ms <= state.now_ms}
    return state._replace(parked=tuple(AWAKE if client in ended else one for client, one in enumerate(state.parked)))


def deadlines(world: World, state: State) -> Iterator[int]:
    """Yield the moments for which the threads that run wait."""
    if state.disturbed:
        sleeping = naps.deadlines(state, world.client_nodes(state))
        yield from (at_ms for client, at_ms in sleeping if not world.gives_up(state, client))
    for client, mode in enumerate(state.modes):
        for operation in world.node(state, client).pending if mode == RUNS else ():
            match operation:
                case Until(at_ms) if at_ms is not None and at_ms > state.now_ms:
                    yield at_ms
                case Listen(at_ms) if at_ms is not None and at_ms > state.now_ms:
                    yield at_ms
