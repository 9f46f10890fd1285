"""A client that tried for the lock in vain, and naps before it tries again, is parked: it need not wake before the store changes.

Until then it would be refused again. That is so only if the store has not changed since the try began. A try of several commands
can be overtaken: another client frees the lock when its first command has been refused. Then the nap ends at once.
"""

from __future__ import annotations

from lab.explore.client_tree import Node
from lab.explore.operation import Command, Nap, Operation

# TRYING: if the try ends in a nap before the store changes, the client is parked
AWAKE, PARKED, TRYING = range(3)


def after_step(was: int, before: Node, operation: Operation | None, node: Node, lost: bool) -> int:
    """Return whether a client is parked or trying after a step of its request.

    was: what it was before. lost: whether its command or the reply was lost. Then nobody has refused it.
    """
    sent = isinstance(operation, Command)
    undisturbed = (was == TRYING or before.is_fresh) and not lost
    if node.inside or node.ended:
        return AWAKE
    if isinstance(node.pending[0], Nap):
        return PARKED if undisturbed or not sent else AWAKE
    if sent:
        return TRYING if undisturbed else AWAKE
    return AWAKE if was == PARKED else was


def after_change(clients: int, store_changed: bool, parked: tuple[int, ...]) -> tuple[int, ...]:
    """Return what all clients are after an event."""
    return (AWAKE,) * clients if store_changed else parked
