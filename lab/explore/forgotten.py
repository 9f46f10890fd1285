"""Forget what makes no difference any more, so that two states which differ in nothing else are one.

A client that is dead, or whose request is over, does nothing more in its request. What it did there has been judged. The marks
of a step are judged in the move itself. So numbers of schedules and findings stay what they were.
"""

from __future__ import annotations

from collections.abc import Sequence

from lab.explore.client_tree import ClientTree
from lab.explore.ghosts import put
from lab.explore.parking import AWAKE
from lab.explore.state import DEAD, State


def forgotten(state: State, trees: Sequence[ClientTree]) -> State:
    """Return the state without what makes no difference any more."""
    if DEAD in state.modes:
        state = _without_dead(state)
    nodes = tuple([tree.rests[node] for tree, node in zip(trees, state.nodes, strict=True)])
    ghosts = state.ghosts
    for client, (tree, node, mode) in enumerate(zip(trees, nodes, state.modes, strict=True)):
        is_over = mode == DEAD or tree.nodes[node].ended
        if is_over and (ghosts.writes[client] or ghosts.releases_own[client]):
            releases_own, writes = put(ghosts.releases_own, client, False), put(ghosts.writes, client, 0)
            ghosts = ghosts._replace(releases_own=releases_own, writes=writes)
    if any(one.client >= 0 for one in ghosts.written):
        ghosts = ghosts._replace(written=tuple(one._replace(client=-1) for one in ghosts.written))
    return state if nodes == state.nodes and ghosts is state.ghosts else state._replace(nodes=nodes, ghosts=ghosts)


def _without_dead(state: State) -> State:
    dead = [mode == DEAD for mode in state.modes]
    return state._replace(
        nodes=tuple(0 if gone else one for one, gone in zip(state.nodes, dead, strict=True)),
        parked=tuple(AWAKE if gone else one for one, gone in zip(state.parked, dead, strict=True)),
        channels=tuple(() if gone else one for one, gone in zip(state.channels, dead, strict=True)),
        watched=tuple(one for one in state.watched if not dead[one.client]),
        inboxes=tuple(() if gone else one for one, gone in zip(state.inboxes, dead, strict=True)),
    )
