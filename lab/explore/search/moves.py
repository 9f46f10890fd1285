"""What can happen in a state, and what it breaks."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lab.explore.code.operation import Choice, CommandSent, Ended, FanOut, Listen, Nap, Operation
from lab.explore.search import clock, fan_out, faults, ghosts, one_server, reductions, rules, rules_of_faults, rules_of_time
from lab.explore.search.event import CHOICE, CLOCK, CRASH, NONE, PAUSE, RESTART, RESUME, STEP, Budget, ScheduleEvent
from lab.explore.search.ghosts import Consequences
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.move import Move
from lab.explore.search.rules_of_faults import charged
from lab.explore.search.state import RUNS, State
from lab.explore.search.world import World


def moves(world: World, state: State, budget: Budget, horizon_ms: int) -> list[Move]:
    """Return everything that can happen in a state, and what it breaks."""
    return [judged(did, budget) for did in happenings(world, state, horizon_ms)]


def happenings(world: World, state: State, horizon_ms: int) -> list[Move]:
    """Return everything that can happen in a state."""
    if unnoticed := reductions.unnoticed(world, state):
        return [did.finish() for did in unnoticed]
    able = list(world.able(state))
    at = reductions.servers(world, state, able)
    found = [did.finish() for one in able for did in _of_thread(world, state, *one, at)]
    if all(isinstance(operation, Nap) for *_, operation in able):
        found += clock.possible(world, state, horizon_ms)
    return found + [did.finish() for did in faults.possible(world, state)]


def take(world: World, state: State, event: ScheduleEvent, budget: Budget, horizon_ms: int) -> Move | None:
    """Return the move of one event, and execute no other; None if the event is not possible."""
    possible: Iterator[Move] = iter(())
    if event.kind is CLOCK:
        if all(isinstance(operation, Nap) for *_, operation in world.able(state)):
            possible = clock.possible(world, state, horizon_ms)
    elif event.kind in (PAUSE, RESUME, CRASH, RESTART):
        possible = faults.possible(world, state, event.node)
    elif event.client < len(state.nodes) and state.modes[event.client] == RUNS:
        pending = dict(enumerate(world.node(state, event.client).pending)).get(event.thread)
        if world.is_able(state, event.client, event.thread, pending):
            possible = _of_thread(world, state, event.client, event.thread, pending, (event.node,))
    did = next((did for did in possible if did.event == event), None)
    if did is None:
        return None
    return judged(did if event.kind is CLOCK else did.finish(), budget)


def _of_thread(
    world: World, state: State, client: int, thread: int, operation: Operation | None, nodes: Collection[int] | None = None
) -> Iterator[Move]:
    """Yield what a thread can do next. nodes: of several servers, at these only; 0: at all of them."""
    if world.alike is not None:
        world.alike.check(operation)
    match operation:
        case CommandSent():
            yield from one_server.possible(world, state, client, thread, operation)
        case FanOut():
            yield from fan_out.possible(world, state, client, thread, operation, nodes)
        case Listen(_, connection) if world.messages(state, client, connection):
            yield Move(world, state, world.event(state, client, thread)).read(client, thread, connection)
        case Nap():
            yield Move(world, state, world.event(state, client, thread)).resume(client, thread, None)
        case Choice(values):
            for number, value in enumerate(values):
                yield Move(world, state, world.event(state, client, thread, CHOICE, number=number)).resume(client, thread, value)


def begin(world: World, budget: Budget) -> Move:
    """Return how each replica has run to its first operation, and what that breaks: a lock may grant before it asks anybody.

    What it breaks is noted where a schedule ends: a later loss makes the better story, if there is one.
    """
    did = Move(world, world.start(budget), ScheduleEvent(STEP))
    did.marks = tuple([(client, number, mark) for client, tree in enumerate(world.trees) for number, mark in tree.nodes[0].marks])
    return judged(did, budget)


def started(world: World, budget: Budget) -> State:
    """Return the state in which each replica has run to its first operation."""
    return begin(world, budget).state


def judged(did: Move, budget: Budget) -> Move:
    """Return a move that is done, with the ghosts after it and what it breaks."""
    world, state, about = did.world, did.state, did.world.about
    if not (did.changes or did.marks or did.fault or did.event.kind in (CLOCK, RESTART, PAUSE, CRASH)):
        return did
    then = Consequences(about, state.ghosts, state.now_ms)
    for change in did.changes:
        rules.changed(then, change)
    used = budget.used(state.left)
    if did.event.kind is CLOCK:
        rules_of_time.passed(then, world, did.before, state, used)
    _fault(did, then)
    for client, request, mark in did.marks:
        actor = client * about.task.at_once + request
        rules.marked(then, actor, mark)
        if isinstance(mark, Ended):
            node = world.node(state, client)
            if not node.ended[request]:
                then.of_actor(actor, phase=ghosts.ASKS)  # of several requests in turn, the next
            elif any(one is not None and not own for one, own in zip(node.pending, node.own, strict=True)):
                then.of_actor(actor, over_ms=state.now_ms)
    # an error is a finding only where nothing was injected
    found = [charged(one, then.ghosts, about, used) for one in then.found if one.harm is not Harm.FAILED or used == NONE]
    did.found = tuple(dict.fromkeys(found))
    return did.set(ghosts=then.ghosts)


def _fault(did: Move, then: Consequences) -> None:
    """Let a fault change the ghosts; nothing without one."""
    at_once, client = did.world.about.task.at_once, did.event.client
    if did.event.kind is RESTART:
        rules_of_faults.restarted(then, did.state.lock)
    if did.fault is not None:
        rules_of_faults.faulted(then, *did.fault)
    for number in range(at_once) if did.event.kind in (PAUSE, CRASH) else ():
        actor = client * at_once + number
        if did.event.kind is CRASH:
            rules_of_faults.crashed(then, actor)
        else:
            rules_of_faults.paused(then, actor, number in did.world.node(did.before, client).writing)


def end(world: World, state: State, budget: Budget, horizon_ms: int) -> list[Finding]:
    """Return what is broken where nothing can happen any more."""
    then, used = Consequences(world.about, state.ghosts, state.now_ms), budget.used(state.left)
    rules_of_time.ended(then, world, state, used, state.now_ms >= horizon_ms)
    return [charged(one, state.ghosts, world.about, used) for one in then.found]
