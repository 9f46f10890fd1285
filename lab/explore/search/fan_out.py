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

from lab.explore.code.operation import LOST, CommandSent, FanOut
from lab.explore.search.event import LOST_COMMAND, LOST_REPLY, RESEND, STEP, ScheduleEvent
from lab.explore.search.one_server import actor_of
from lab.explore.search.state import Flight, Move, State, put, without
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
) -> Iterator[Move]:
    """Yield what can happen to such a command: at each server, and at all of them. nodes: at these only; 0: at all of them."""
    flight = flight_of(state, client, thread)
    new = flight or Flight(client, thread, state.now_ms, (None,) * len(operation.commands))
    sent = FannedOut(world, state, operation, new)
    chosen = world.servers(state) if nodes is None else nodes
    for command in unanswered(state, client, thread, operation):
        if command.node in chosen:
            yield from _at_one(sent, operation.commands.index(command))
    if flight is None and (nodes is None or 0 in nodes or world.unnoticed is not None):
        yield from _at_all(sent)


def unanswered(state: State, client: int, thread: int, operation: FanOut) -> list[CommandSent]:
    """Return the commands that have no answer yet."""
    flight = flight_of(state, client, thread)
    return [one for place, one in enumerate(operation.commands) if flight is None or flight.answers[place] is None]


def flight_of(state: State, client: int, thread: int) -> Flight | None:
    """Return the command of a thread that servers are executing; None before the first of them has."""
    return next((one for one in state.flights if (one.client, one.thread) == (client, thread)), None)


def _at_one(sent: FannedOut, place: int) -> Iterator[Move]:
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


def _at_all(sent: FannedOut) -> Iterator[Move]:
    state, flight = sent.state, sent.flight
    event = sent.world.event(state, flight.client, flight.thread, kind=LOST_REPLY)
    if state.left.lost_replies:
        spent = state._replace(left=state.left.without("lost_replies"))
        lost = Move(event, _flying(spent, flight._replace(fault=LOST_REPLY)), fault=(sent.actor, "lost_replies", False))
        yield lost
        unsent = Move(event._replace(kind=LOST_COMMAND), spent)
        done = sent.world.resume(unsent, flight.client, flight.thread, (LOST,) * len(flight.answers))
        yield done._replace(fault=(sent.actor, "lost_replies", True))
    if state.left.resends:
        spent = state._replace(left=state.left.without("resends"))
        again = _flying(spent, flight._replace(fault=RESEND))
        yield Move(event._replace(kind=RESEND), again, fault=(sent.actor, "resends", True))


def _answered(sent: FannedOut, event: ScheduleEvent, place: int, after: State, reply: Any) -> Move:
    """Return what was done when a server has executed the command. After the last of them, the client continues."""
    world, command = sent.world, sent.operation.commands[place]
    raw = reply.raw if isinstance(reply, Reply) else reply
    flight = sent.flight._replace(answers=put(sent.flight.answers, place, (raw,)))
    changes = (world.change(sent.state, after, flight.client, flight.thread, flight.since_ms),)
    replies = tuple([one[0] for one in flight.answers if one is not None])
    is_last = len(replies) == len(flight.answers)
    if is_last and flight.fault is not RESEND:
        result = replies if world.alike is None else world.alike.in_order(replies)
        did = Move(event, after._replace(flights=without(after.flights, *flight[:2])), changes, command=command, reply=reply)
        return world.resume(did, flight.client, flight.thread, result)
    if is_last:
        flight = flight._replace(answers=(None,) * len(replies), fault=STEP)
    return Move(event, _flying(after, flight), changes, command=command, reply=reply)


def _flying(state: State, flight: Flight) -> State:
    return state._replace(flights=tuple(sorted([*without(state.flights, *flight[:2]), flight], key=itemgetter(0, 1))))
