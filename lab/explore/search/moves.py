"""What can happen in a state, and what it breaks."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lab.explore.code.operation import Choice, CommandSent, Ended, FanOut, Listen, Nap, Operation
from lab.explore.search import clock, fan_out, faults, ghosts, one_server, reductions, rules, rules_of_faults, rules_of_time
from lab.explore.search.event import CHOICE, CLOCK, CRASH, NONE, PAUSE, RESTART, RESUME, STEP, Budget, ScheduleEvent
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.rules_of_faults import charged
from lab.explore.search.state import DEAD, PAUSED, RUNS, Move, State
from lab.explore.search.world import World


def moves(world: World, state: State, budget: Budget, horizon_ms: int) -> list[Move]:
    """Return everything that can happen in a state, and what it breaks."""
    return [judged(world, state, did, budget) for did in happenings(world, state, horizon_ms)]


def happenings(world: World, state: State, horizon_ms: int) -> list[Move]:
    """Return everything that can happen in a state."""
    if unnoticed := reductions.unnoticed(world, state):
        return [_finished(world, state, did) for did in unnoticed]
    able = list(world.able(state))
    at = reductions.servers(world, state, able)
    found = [did for one in able for did in _of_thread(world, state, *one, at)]
    if all(isinstance(operation, Nap) for *_, operation in able):
        found += clock.dids(world, state, horizon_ms)
    found += faults.dids(world, state)
    return [did if did.event.kind is CLOCK else _finished(world, state, did) for did in found]


def take(world: World, state: State, event: ScheduleEvent, budget: Budget, horizon_ms: int) -> Move | None:
    """Return the move of one event, and execute no other; None if the event is not possible."""
    possible: Iterator[Move]
    if event.kind is CLOCK:
        able = any(not isinstance(operation, Nap) for *_, operation in world.able(state))
        possible = iter(()) if able else clock.dids(world, state, horizon_ms)
    elif event.kind in (PAUSE, RESUME, CRASH, RESTART):
        possible = faults.dids(world, state, event.node)
    elif event.client < len(state.nodes) and state.modes[event.client] == RUNS:
        pending = world.node(state, event.client).pending
        if event.thread >= len(pending) or not world.is_able(state, event.client, event.thread, pending[event.thread]):
            return None
        possible = _of_thread(world, state, event.client, event.thread, pending[event.thread], (event.node,))
    else:
        return None
    did = next((did for did in possible if did.event == event), None)
    if did is None:
        return None
    return judged(world, state, did if event.kind is CLOCK else _finished(world, state, did), budget)


def _finished(world: World, before: State, did: Move) -> Move:
    return world.settled(world.serve_blocked(did) if did.state.blocked else did, before)


def _of_thread(
    world: World, state: State, client: int, thread: int, operation: Operation | None, nodes: Collection[int] | None = None
) -> Iterator[Move]:
    """Yield what a thread can do next. nodes: of several servers, at these only; 0: at all of them."""
    if world.alike is not None:
        world.alike.check(operation)
    match operation:
        case CommandSent() if not world.is_blocked(state, client, thread):
            yield from one_server.dids(world, state, client, thread, operation)
        case FanOut():
            yield from fan_out.dids(world, state, client, thread, operation, nodes)
        case Listen(_, connection) if messages := world.messages(state, client, connection):
            heard = Move(world.event(state, client, thread, kind=STEP), world.without_message(state, client, connection))
            yield world.resume(heard, client, thread, messages[0])
        case Nap():
            yield world.resume(Move(world.event(state, client, thread, kind=STEP), state), client, thread, None)
        case Choice(values):
            for number, value in enumerate(values):
                drawn = Move(world.event(state, client, thread, kind=CHOICE, number=number), state)
                yield world.resume(drawn, client, thread, value)


def begin(world: World, budget: Budget) -> Move:
    """Return how each replica has run to its first operation, and what that breaks: a lock may grant before it asks anybody.

    What it breaks is noted where a schedule ends: a later loss makes the better story, if there is one.
    """
    state = world.start(budget)
    marks = tuple([(client, number, mark) for client, tree in enumerate(world.trees) for number, mark in tree.nodes[0].marks])
    return judged(world, state, Move(ScheduleEvent(STEP), state, marks=marks), budget)


def started(world: World, budget: Budget) -> State:
    """Return the state in which each replica has run to its first operation."""
    return begin(world, budget).state


def judged(world: World, before: State, did: Move, budget: Budget) -> Move:
    """Return a move: what was done, with the ghosts after it and what it breaks."""
    about, state = world.about, did.state
    now = state.ghosts
    found: list[Finding] = []
    for change in did.changes:
        now, broken = rules.changed(now, about, change, state.now_ms)
        found += broken
    if did.event.kind is CLOCK:
        now, broken = _passed(world, before, state, now, budget)
        found += broken
    now = _faulted(world, did, now)
    for client, request, mark in did.marks:
        actor = client * about.at_once + request
        now, broken = rules.marked(now, about, actor, mark, state.now_ms)
        found += broken
        if isinstance(mark, Ended):
            node = world.node(state, client)
            if not node.ended[request]:
                now = now.of_actor(actor, phase=ghosts.ASKS)  # of several requests in turn, the next
            elif any(one is not None and not own for one, own in zip(node.pending, node.own, strict=True)):
                now = now.of_actor(actor, over_ms=state.now_ms)
    if found:  # an error is a finding only where nothing was injected
        used = budget.used(state.left)
        found = [charged(one, now, about, used) for one in found if one.harm is not Harm.FAILED or used == NONE]
    return did._replace(state=state._replace(ghosts=now), found=tuple(dict.fromkeys(found)))


def _passed(world: World, before: State, state: State, now: ghosts.Ghosts, budget: Budget) -> tuple[ghosts.Ghosts, list[Finding]]:
    """Return the ghosts after some time, and what that breaks."""
    at_once, used, waiting = world.about.at_once, budget.used(before.left), world.waiting(before)
    times = before.lock, state.lock, before.now_ms, state.now_ms
    again = [
        client * at_once + one
        for client, mode in enumerate(before.modes)
        if mode == RUNS
        for one in world.node(before, client).asking_again
    ]
    about_time = rules_of_time.Passed(*times, used, waiting, _is_idle(world, before))
    return rules_of_time.passed(now, world.about, about_time, again)


def _faulted(world: World, did: Move, now: ghosts.Ghosts) -> ghosts.Ghosts:
    """Return the ghosts after a fault; the same without one."""
    about, state = world.about, did.state
    if did.event.kind is RESTART:
        now = rules_of_faults.restarted(now, about, state.lock, state.now_ms)
    if did.fault is not None:
        now = rules_of_faults.faulted(now, *did.fault)
    for number in range(about.at_once) if did.event.kind is CRASH else ():
        now = rules_of_faults.crashed(now, did.event.client * about.at_once + number)
    return now


def _is_idle(world: World, state: State) -> bool:
    """Return whether no request uses the lock: none works, and the request that has taken the lock is not paused."""
    about = world.about
    for actor, one in enumerate(state.ghosts.actors):
        if one.phase == ghosts.WORKS and state.modes[actor // about.at_once] != DEAD:
            return False
    if about.servers > 1 and PAUSED in state.modes:  # whose the votes are, is not known before most of them are given
        return False
    owners = [owner.actor // about.at_once for _, owner in state.ghosts.owners]
    return not any(state.modes[client] == PAUSED for client in owners)


def end(world: World, state: State, about: rules_of_time.End) -> list[Finding]:
    """Return what is broken where nothing can happen any more. about: what ``end_of`` returns."""
    return [charged(one, state.ghosts, world.about, about.used) for one in rules_of_time.ended(state.ghosts, world.about, about)]


def end_of(world: World, state: State, budget: Budget, horizon_ms: int) -> rules_of_time.End:
    """Return what an end of a schedule is."""
    goes_on = any(not world.is_own(state, client, thread) for client, thread, _ in world.threads(state))
    requests = world.actors * world.program.task.in_turn
    is_cut = state.now_ms >= horizon_ms
    return rules_of_time.End(state.lock, state.now_ms, budget.used(state.left), world.waiting(state), is_cut, goes_on, requests)
