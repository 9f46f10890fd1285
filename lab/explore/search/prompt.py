"""Commands that are sent at once, because nobody can notice their moment: renewals of leases, and waits for events.

A session is kept alive by a thread of its client. As long as its lease lives, nothing that others do at the same moment
changes what a renewal does, and it changes nothing for them. A watch that begins at a revision reports what came after it,
whenever it is sent; and the event of a watch reaches its client when it happens. So such a command is sent as soon as it is
due, and its orders among other commands are one. A pause or a crash just before it is the same as one just before it was due.
That its reply is lost, or the command itself, is still decided. A renewal of a lease that has ended is a command like others:
what its client learns from it makes a difference.

Source: partial-order reduction by ample sets (Clarke, Grumberg and Peled, "Model Checking").
"""

from __future__ import annotations

from lab.explore.code.operation import LOCK, CommandSent
from lab.explore.search import one_server
from lab.explore.search.state import RUNS, Did, State
from lab.explore.search.world import World
from lab.explore.store.histories import Histories


def due(world: World, state: State) -> list[Did]:
    """Return what can happen to such a command that is due; nothing where there is none."""
    table = world.lock
    if not isinstance(table, Histories):
        return []
    for client, mode in enumerate(state.modes):
        for thread, operation in enumerate(world.node(state, client).pending if mode == RUNS else ()):
            if not isinstance(operation, CommandSent) or operation.server != LOCK or world.is_blocked(state, client, thread):
                continue
            if table.is_prompt(state.lock, operation.words):
                return [one._replace(alone=True) for one in one_server.dids(world, state, client, thread, operation)]
    return []
