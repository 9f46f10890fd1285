"""A command that is sent to several servers: each of them executes it at a moment of its own, and its client waits for all.

So what another client does can come between any two of them. That is how votes are split. A fault can hit the command at one
server, or at all of them: a reply is lost, the command is lost, it is sent twice. Faults at all servers begin before the first
of them has executed the command.

A client that is paused or killed sends nothing to the servers that have not executed its command yet. That a server executes it
all the same is decided as well: it is the same as a pause just after that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from lab.explore.code.operation import LOST, FanOut
from lab.explore.search.event import LOST_COMMAND, LOST_REPLY, RESEND, STEP, ScheduleEvent
from lab.explore.search.one_server import actor_of
from lab.explore.search.state import RUNS, Did, Flight, State, put
from lab.explore.search.unnoticed import Unnoticed
from lab.explore.search.world import World
from lab.explore.store.resp import Reply


class FannedOut(NamedTuple):
    """A command that was sent to several servers, and its state at each."""

    world: World
    state: State
    operation: FanOut
    flight: Flight

    @property
    def actor(self) -> int:
        return actor_of(self.world, self.flight.client, self.flight.thread)


def dids(
    world: World, state: State, client: int, thread: int, operation: FanOut, nodes: Collection[int] | None = None
) -> Iterator[Did]:
    """Yield what can happen to such a command: at each server, and at all of them. nodes: at these only; 0: at all of them."""
    flight = _flight(state, client, thread)
    new = flight or Flight(client, thread, state.now_ms, (None,) * len(operation.commands))
    sent = FannedOut(world, state, operation, new)
    chosen = world.servers(state) if nodes is None else nodes
    for place, command in enumerate(operation.commands):
        if new.answers[place] is None and command.node in chosen:
            yield from _at_one(sent, place)
    if flight is None and (nodes is None or 0 in nodes or world.unnoticed is not None):
        yield from _at_all(sent)


def _flight(state: State, client: int, thread: int) -> Flight | None:
    return next((one for one in state.flights if (one.client, one.thread) == (client, thread)), None)


def unnoticed(world: World, state: State) -> list[Did]:
    """Return what can happen to a command that nobody can notice at its server; nothing where there is none."""
    if (known := world.unnoticed) is None:
        return []
    for client, mode in enumerate(state.modes):
        for thread, operation in enumerate(world.node(state, client).pending if mode == RUNS else ()):
            if isinstance(operation, FanOut) and (node := _unnoticed_at(world, known, state, client, thread, operation)):
                found = dids(world, state, client, thread, operation, (node,))
                return [did._replace(alone=True) for did in found]
    return []


def _unnoticed_at(world: World, known: Unnoticed, state: State, client: int, thread: int, operation: FanOut) -> int:
    """Return the server at which nobody can notice a command; 0 without one, and where only one server has not answered yet."""
    flight = _flight(state, client, thread)
    left = [one for place, one in enumerate(operation.commands) if flight is None or flight.answers[place] is None]
    for command in left if len(left) > 1 else ():
        known.sends(client, command.words)
        if known.is_unnoticed(world.lock.each[state.lock][command.node - 1], client, command.words, state.now_ms):
            return command.node
    return 0


def _at_one(sent: FannedOut, place: int) -> Iterator[Did]:
    world, state, flight, command = sent.world, sent.state, sent.flight, sent.operation.commands[place]
    after, reply = world.execute(state, command)
    event = world.event(state, flight.client, flight.thread, kind=STEP, node=command.node)
    yield _answered(sent, event, place, after, LOST if flight.fault is LOST_REPLY else reply)
    if flight.fault is not STEP:
        return
    if state.left.lost_replies:
        spent = state.left.without("lost_replies")
        lost = sent.actor, "lost_replies", False
        yield _answered(sent, event._replace(kind=LOST_REPLY), place, after._replace(left=spent), LOST)._replace(fault=lost)
        if after.lock != state.lock:  # otherwise it makes no difference whether the server executed it
            did = _answered(sent, event._replace(kind=LOST_COMMAND), place, state._replace(left=spent), LOST)
            yield did._replace(fault=(sent.actor, "lost_replies", True))
    if state.left.resends:
        twice, reply = world.execute(after, command)
        spent_state = twice._replace(left=state.left.without("resends"))
        yield _answered(sent, event._replace(kind=RESEND), place, spent_state, reply)._replace(
            fault=(sent.actor, "resends", twice.lock == after.lock)
        )


def _at_all(sent: FannedOut) -> Iterator[Did]:
    state, flight = sent.state, sent.flight
    event = sent.world.event(state, flight.client, flight.thread, kind=LOST_REPLY)
    if state.left.lost_replies:
        spent = state._replace(left=state.left.without("lost_replies"))
        lost = Did(event, _flying(spent, flight._replace(fault=LOST_REPLY)), fault=(sent.actor, "lost_replies", False))
        yield lost
        unsent = Did(event._replace(kind=LOST_COMMAND), spent)
        done = sent.world.resume(unsent, flight.client, flight.thread, (LOST,) * len(flight.answers))
        yield done._replace(fault=(sent.actor, "lost_replies", True))
    if state.left.resends:
        spent = state._replace(left=state.left.without("resends"))
        again = _flying(spent, flight._replace(fault=RESEND))
        yield Did(event._replace(kind=RESEND), again, fault=(sent.actor, "resends", True))


def _answered(sent: FannedOut, event: ScheduleEvent, place: int, after: State, reply: Any) -> Did:
    """Return what was done when a server has executed the command. After the last of them, the client continues."""
    world, command = sent.world, sent.operation.commands[place]
    raw = reply.raw if isinstance(reply, Reply) else reply
    flight = sent.flight._replace(answers=put(sent.flight.answers, place, (raw,)))
    changes = (world.change(sent.state, after, flight.client, flight.thread, flight.since_ms),)
    replies = tuple([one[0] for one in flight.answers if one is not None])
    is_last = len(replies) == len(flight.answers)
    if is_last and flight.fault is not RESEND:
        result = replies if world.alike is None else world.alike.in_order(replies)
        did = Did(event, without(after, flight), changes, command=command, reply=reply)
        return world.resume(did, flight.client, flight.thread, result)
    if is_last:
        flight = flight._replace(answers=(None,) * len(replies), fault=STEP)
    return Did(event, _flying(after, flight), changes, command=command, reply=reply)


def _flying(state: State, flight: Flight) -> State:
    others = [one for one in state.flights if one[:2] != flight[:2]]
    return state._replace(flights=tuple(sorted([*others, flight], key=itemgetter(0, 1))))


def without(state: State, flight: Flight) -> State:
    """Return the state after a command is over."""
    return state._replace(flights=tuple([one for one in state.flights if one[:2] != flight[:2]]))


def without_client(state: State, client: int) -> State:
    """Return the state after a client has died: what it has not sent, no server executes."""
    return state._replace(flights=tuple([one for one in state.flights if one.client != client])) if state.flights else state


__all__ = ["dids", "unnoticed", "without", "without_client"]
