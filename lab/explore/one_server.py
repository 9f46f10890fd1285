"""A command that is sent to one server, and its faults: the reply is lost, the command is lost, or it is sent twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lab.explore import in_flight, rules, watching
from lab.explore.event import LOST_COMMAND, LOST_REPLY, RESEND, STEP, Event
from lab.explore.fan_out import LOST
from lab.explore.operation import LOCK, POPPING, Command
from lab.explore.state import SUBSCRIBE, UNSUBSCRIBE, Move, State, subscribed
from lab.explore.transaction import UNWATCH, WATCH

if TYPE_CHECKING:
    from lab.explore.world import World


def moves(world: World, state: State, client: int, thread: int, command: Command) -> Iterator[Move]:
    """Yield what can happen to such a command: it is executed, or a fault hits it."""
    name, event = command.words[0].upper(), Event(STEP, client, thread, node=command.node)
    if name in (SUBSCRIBE, UNSUBSCRIBE):
        yield world.resume(subscribed(state, client, command), event, None)
        return
    if name in (WATCH, UNWATCH):
        yield world.resume(watching.begun_or_ended(state, client, thread, command), event, watching.OK)
        return
    words = (POPPING[name], command.words[1]) if name in POPPING else command.words
    command = command._replace(words=words)
    after, reply = watching.executed(world, state, client, thread, command)
    if name in POPPING:
        if reply is None:
            return  # it waits in the server
        reply = (words[1], reply)
    yield world.resume(after, event, reply, state)
    if command.server != LOCK:
        return
    after = in_flight.with_those_behind(world, after, command)
    if state.left.lost_replies:
        faulted = rules.faulted(state.ghosts, client)
        spent = after._replace(left=state.left.without("lost_replies"), ghosts=faulted)
        yield world.resume(watching.cut(spent, client, thread, command), event._replace(kind=LOST_REPLY), LOST, state)
        # a pipeline that has arrived is executed; and without a change it makes no difference whether it has
        if after.lock != state.lock and not command.follows:
            unsent = state._replace(left=state.left.without("lost_replies"), ghosts=faulted)
            yield world.resume(watching.cut(unsent, client, thread, command), event._replace(kind=LOST_COMMAND), LOST, state)
    # a pipeline is sent again as a whole; a client that watches keys raises an error instead
    if state.left.resends and not command.follows and not command.watches:
        twice, reply = watching.executed(world, after, client, thread, command)
        spent = twice._replace(left=state.left.without("resends"), ghosts=state.ghosts._replace(resent=client))
        yield world.resume(spent, event._replace(kind=RESEND), reply, state)
