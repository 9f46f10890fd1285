"""The sleep of a client between two tries: when it ends.

A client that was refused, and sleeps until it tries again, need not wake before the lock's store has changed: until then it would
be refused again. So time need not pass for it.

Where a lock asks several servers, a try takes several events: another client can change a server that has already refused it,
and a lost reply or a pause can be the reason why it failed. Such a try is disturbed. The sleep after it ends at the next change,
or after its time.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.explore.client_tree import Node
from lab.explore.ghosts import put
from lab.explore.operation import Nap
from lab.explore.overlay import GRID_MS
from lab.explore.parking import AWAKE, PARKED, after_change
from lab.explore.state import DEAD, RUNS, Flight, State


def disturbed(state: State, nodes: list[Node], by: int, server: int = 0) -> tuple[int, ...]:
    """Return the clients whose try was disturbed, after one client has changed the store; -1 where time or a fault has.

    server: which of several servers has changed; 0 where that can be all of them.
    """
    trying = {client for client, node in enumerate(nodes) if client != by and _was_answered(state, client, node, server)}
    return tuple(sorted(trying.union(state.disturbed)))


def _was_answered(state: State, client: int, node: Node, server: int) -> bool:
    """Return whether a client is in the middle of a try, and the server has answered it already."""
    if state.modes[client] == DEAD or node.ended or node.inside or state.ghosts.writes[client]:
        return False
    if not node.is_fresh:
        return not isinstance(node.pending[0], Nap)
    return any(flight.client == client and _has_answered(flight, server) for flight in state.flights)


def _has_answered(flight: Flight, server: int) -> bool:
    """Return whether a server has answered a command; a command that only some servers are sent is not looked at closely."""
    return not 0 < server <= len(flight.answers) or flight.answers[server - 1] is not None


def faulted(state: State, client: int) -> State:
    """Return the state after a command of a client was lost or sent twice: its try need not fail again."""
    return state if client in state.disturbed else state._replace(disturbed=tuple(sorted((*state.disturbed, client))))


def paused(state: State, client: int, node: Node) -> State:
    """Return the state after a client was paused: a try that began before the pause can fail because of the time that it lost."""
    in_a_try = not (node.inside or node.ended or isinstance(node.pending[0], Nap))
    return faulted(state, client) if in_a_try else state


def after_step(
    state: State, store_changed: bool, client: int, thread: int, before: Node, node: Node | None
) -> tuple[tuple[int, ...], State]:
    """Return which clients are parked after a step of a client, and the state without a try of it that is over.

    node: where the client has come; None while it waits for the other servers.
    """
    parked = after_change(len(state.parked), store_changed, state.parked)
    if node is None or thread:
        return parked, state
    if client in state.disturbed and (isinstance(before.pending[0], Nap) or node.inside or node.ended):
        state = state._replace(disturbed=tuple(one for one in state.disturbed if one != client))
    return put(parked, client, PARKED if isinstance(node.pending[0], Nap) else AWAKE), state


def deadlines(state: State, nodes: list[Node]) -> Iterator[tuple[int, int]]:
    """Yield each client that sleeps after a disturbed try, with the moment at which it wakes."""
    for client in state.disturbed:
        if state.modes[client] == RUNS and isinstance(nodes[client].pending[0], Nap):
            yield client, nodes[client].at_ms + GRID_MS
