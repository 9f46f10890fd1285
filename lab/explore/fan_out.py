"""A command that is sent to several servers: each of them executes it at a moment of its own, and the client goes on after all.

So what another client does can come between any two of them. That is how votes are split. A fault can hit the command at one
server, or at all of them: a reply is lost, the command is lost, it is sent twice. Faults at all servers begin before the first
of them has executed the command.

A client that is paused or killed sends nothing to the servers that have not executed its command yet. That a server executes it
all the same is decided as well: it is the same as a pause just after that.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from lab.explore import naps, rules
from lab.explore.event import LOST_COMMAND, LOST_REPLY, RESEND, STEP, Event
from lab.explore.ghosts import put
from lab.explore.operation import Failure, FanOut, Reply
from lab.explore.state import RUNS, Flight, Move, State

if TYPE_CHECKING:
    from lab.explore.unnoticed import Unnoticed
    from lab.explore.world import World

LOST = Failure("TimeoutError", "the reply was lost")


class Sent(NamedTuple):
    """A command that was sent to several servers, as far as it has come."""

    world: World
    state: State
    operation: FanOut
    flight: Flight
    # whether no server has executed it yet, not even before it was sent again
    begins: bool


def moves(world: World, state: State, client: int, thread: int, operation: FanOut, node: int | None) -> Iterator[Move]:
    """Yield what can happen to such a command: at each server, and at all of them. node: at this server only; 0: at all only."""
    flight = _flight(state, client, thread)
    new = flight or Flight(client, thread, state.now_ms, (None,) * len(operation.commands))
    sent = Sent(world, state, operation, new, not any(new.answers) and (flight is None or flight.fault is not STEP))
    chosen = world.servers(state) if node is None else (node,)
    for place, command in enumerate(operation.commands):
        if new.answers[place] is None and command.node in chosen:
            yield from _at_one(sent, place)
    if flight is None and (not node or world.unnoticed is not None):
        yield from _at_all(sent)


def _flight(state: State, client: int, thread: int) -> Flight | None:
    return next((one for one in state.flights if (one.client, one.thread) == (client, thread)), None)


def unnoticed(world: World, state: State) -> list[Move]:
    """Return what can happen to a command that nobody can notice at its server; nothing where there is none."""
    if (known := world.unnoticed) is None:
        return []
    for client, mode in enumerate(state.modes):
        for thread, operation in enumerate(world.node(state, client).pending if mode == RUNS else ()):
            if isinstance(operation, FanOut) and (node := _unnoticed_at(world, known, state, client, thread, operation)):
                found = moves(world, state, client, thread, operation, node)
                return [move._replace(alone=True) for move in found]
    return []


def _unnoticed_at(world: World, known: Unnoticed, state: State, client: int, thread: int, operation: FanOut) -> int:
    """Return the server at which nobody can notice a command; 0 without one, and where only one server has not answered yet."""
    flight = _flight(state, client, thread)
    left = [one for place, one in enumerate(operation.commands) if flight is None or flight.answers[place] is None]
    for command in left if len(left) > 1 else ():
        known.sends(client, command.words)
        if known.is_unnoticed(world.lock.each[state.lock][command.node - 1], client, command.words):
            return command.node
    return 0


def _at_one(sent: Sent, place: int) -> Iterator[Move]:
    world, state, flight, command = sent.world, sent.state, sent.flight, sent.operation.commands[place]
    after, reply = world.execute(state, command.server, command.words, command.node)
    event = Event(STEP, flight.client, flight.thread, node=command.node)
    yield _answered(sent, event, place, after, LOST if flight.fault is LOST_REPLY else reply)
    if flight.fault is not STEP:
        return
    if state.left.lost_replies:
        yield _answered(sent, event._replace(kind=LOST_REPLY), place, _lost(after, flight.client), LOST)
        if after.lock != state.lock:  # otherwise it makes no difference whether the server executed it
            yield _answered(sent, event._replace(kind=LOST_COMMAND), place, _lost(state, flight.client), LOST)
    if state.left.resends:
        twice, reply = world.execute(after, command.server, command.words, command.node)
        yield _answered(sent, event._replace(kind=RESEND), place, _sent_again(twice, flight.client), reply)


def _at_all(sent: Sent) -> Iterator[Move]:
    state, flight = sent.state, sent.flight
    event = Event(STEP, flight.client, flight.thread)
    if state.left.lost_replies:
        spent = _lost(state, flight.client)
        yield Move(event._replace(kind=LOST_REPLY), _flying(spent, flight._replace(fault=LOST_REPLY)), ())
        yield sent.world.resume(spent, event._replace(kind=LOST_COMMAND), (LOST,) * len(flight.answers), state)
    if state.left.resends:
        spent = _sent_again(state, flight.client)
        yield Move(event._replace(kind=RESEND), _flying(spent, flight._replace(fault=RESEND)), ())


def _lost(state: State, client: int) -> State:
    ghosts = rules.faulted(state.ghosts, client)
    return naps.faulted(state._replace(left=state.left.without("lost_replies"), ghosts=ghosts), client)


def _sent_again(state: State, client: int) -> State:
    ghosts = state.ghosts._replace(resent=client)
    return naps.faulted(state._replace(left=state.left.without("resends"), ghosts=ghosts), client)


def _answered(sent: Sent, event: Event, place: int, after: State, reply: Reply) -> Move:
    """Return the move in which a server has executed the command. After the last of them, the client goes on."""
    world, command = sent.world, sent.operation.commands[place]
    flight = sent.flight._replace(answers=put(sent.flight.answers, place, (reply,)))
    replies = tuple(one[0] for one in flight.answers if one is not None)
    is_last = len(replies) == len(flight.answers)
    if is_last and flight.fault is not RESEND:
        result = replies if world.alike is None else world.alike.in_order(replies)
        move = world.resume(_without(after, flight), event, result, sent.state, flight.since_ms, sent.begins)
        return move._replace(command=command, reply=reply)
    if is_last:
        flight = flight._replace(answers=(None,) * len(replies), fault=STEP)
    return world.executed(_flying(after, flight), event, sent.state, flight.since_ms, sent.begins, command, reply)


def _flying(state: State, flight: Flight) -> State:
    if not state.flights:
        return state._replace(flights=(flight,))
    return state._replace(flights=tuple(sorted((*_others(state, flight), flight), key=itemgetter(0, 1))))


def _without(state: State, flight: Flight) -> State:
    return state._replace(flights=tuple(_others(state, flight)))


def _others(state: State, flight: Flight) -> list[Flight]:
    return [one for one in state.flights if one[:2] != flight[:2]]


def without_client(state: State, client: int) -> State:
    """Return the state after a client has died: what it has not sent, no server executes."""
    return state._replace(flights=tuple(one for one in state.flights if one.client != client))
