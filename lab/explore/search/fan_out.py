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
from typing import Any

from lab.explore.code.operation import LOST, CommandSent, FanOut
from lab.explore.search.event import LOST_COMMAND, LOST_REPLY, RESEND, STEP
from lab.explore.search.move import Move
from lab.explore.search.state import Flight, State, put, without
from lab.explore.search.world import World
from lab.explore.store.resp import Reply


def possible(
    world: World, state: State, client: int, thread: int, operation: FanOut, nodes: Collection[int] | None = None
) -> Iterator[Move]:
    """Yield what can happen to such a command: at each server, and at all of them. nodes: at these only; 0: at all of them."""
    known = flight_of(state, client, thread)
    flight = known or Flight(client, thread, state.now_ms, (None,) * len(operation.commands))
    chosen = world.servers(state) if nodes is None else nodes
    for command in unanswered(state, client, thread, operation):
        if command.node in chosen:
            sent = Move(world, state, world.event(state, client, thread, node=command.node), command)
            yield from _at_one(sent, command, flight, operation.commands.index(command))
    if known is None and (nodes is None or 0 in nodes or world.unnoticed is not None):
        yield from _at_all(Move(world, state, world.event(state, client, thread)), flight)


def unanswered(state: State, client: int, thread: int, operation: FanOut) -> list[CommandSent]:
    """Return the commands that have no answer yet."""
    flight = flight_of(state, client, thread)
    return [one for place, one in enumerate(operation.commands) if flight is None or flight.answers[place] is None]


def flight_of(state: State, client: int, thread: int) -> Flight | None:
    """Return the command of a thread that servers are executing; None before the first of them has."""
    return next((one for one in state.flights if (one.client, one.thread) == (client, thread)), None)


def _at_one(sent: Move, command: CommandSent, flight: Flight, place: int) -> Iterator[Move]:
    left, executed = sent.state.left, sent.again(STEP)
    reply = executed.execute(command)
    yield _answered(executed.again(STEP), flight, place, LOST if flight.fault is LOST_REPLY else reply)
    if flight.fault is not STEP:
        return
    if left.lost_replies:
        yield _answered(executed.again(LOST_REPLY).charge("lost_replies"), flight, place, LOST)
        if executed.state.lock != sent.state.lock:  # otherwise it makes no difference whether the server executed it
            yield _answered(sent.again(LOST_COMMAND).charge("lost_replies", in_vain=True), flight, place, LOST)
    if left.resends:
        twice = executed.again(RESEND)
        reply = twice.execute(command)
        yield _answered(twice.charge("resends", twice.state.lock == executed.state.lock), flight, place, reply)


def _at_all(sent: Move, flight: Flight) -> Iterator[Move]:
    left = sent.state.left
    if left.lost_replies:
        yield _fly(sent.again(LOST_REPLY).charge("lost_replies"), flight._replace(fault=LOST_REPLY))
        unsent = sent.again(LOST_COMMAND).charge("lost_replies", in_vain=True)
        yield unsent.resume(flight.client, flight.thread, (LOST,) * len(flight.answers))
    if left.resends:
        yield _fly(sent.again(RESEND).charge("resends", in_vain=True), flight._replace(fault=RESEND))


def _answered(did: Move, flight: Flight, place: int, reply: Any) -> Move:
    """Let a server have executed the command. After the last of them, the client continues."""
    did.changed(did.before, flight.client, flight.thread, flight.since_ms).reply = reply
    flight = flight._replace(answers=put(flight.answers, place, (reply.raw if isinstance(reply, Reply) else reply,)))
    replies, alike = tuple([one[0] for one in flight.answers if one is not None]), did.world.alike
    if len(replies) < len(flight.answers):
        return _fly(did, flight)
    if flight.fault is RESEND:
        return _fly(did, flight._replace(answers=(None,) * len(replies), fault=STEP))
    did.set(flights=without(did.state.flights, *flight[:2]))
    return did.resume(flight.client, flight.thread, replies if alike is None else alike.in_order(replies))


def _fly(did: Move, flight: Flight) -> Move:
    others = without(did.state.flights, *flight[:2])
    return did.set(flights=tuple(sorted([*others, flight], key=itemgetter(0, 1))))
