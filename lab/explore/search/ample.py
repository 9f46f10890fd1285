"""Steps at two servers, of which neither notices the other, in one order.

Clients that ask several servers at once have a command on its way to each. What two servers do with them is independent. So a
search need not try each order of all servers: it continues at a few of them, and the others follow later. The few are such that
every client that has commands on their way has one there: so nobody can come back to one of these servers, with another
command, before a step at them. Clients that do anything else than to ask all servers take part with that. No fault may be left,
for a fault at another server would be no independent step. Source: persistent sets (Godefroid, "Partial-Order Methods for the
Verification of Concurrent Systems").
"""

from __future__ import annotations

from itertools import combinations

from lab.explore.code.operation import FanOut, Operation
from lab.explore.search.state import State
from lab.explore.search.world import World

Able = list[tuple[int, int, Operation]]


def of(world: World, state: State, able: Able) -> tuple[Able, tuple[int, ...] | None]:
    """Return the threads at which a search continues, and of several servers at which ones; None for all of them."""
    asking = [
        _unanswered(state, client, thread, operation) for client, thread, operation in able if isinstance(operation, FanOut)
    ]
    if not asking:
        return able, None
    servers = list(world.servers(state))
    for number in range(1, len(servers)):
        hitting = [few for few in combinations(servers, number) if all(set(few) & one for one in asking)]
        if hitting:
            return able, min(hitting, key=lambda few: sum(len(set(few) & one) for one in asking))
    return able, None


def _unanswered(state: State, client: int, thread: int, operation: FanOut) -> set[int]:
    """Return the servers that have not executed a command yet."""
    flight = next((one for one in state.flights if (one.client, one.thread) == (client, thread)), None)
    return {one.node for place, one in enumerate(operation.commands) if flight is None or flight.answers[place] is None}
