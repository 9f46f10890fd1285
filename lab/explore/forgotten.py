"""Forget what makes no difference any more, so that two states which differ in nothing else are one.

A client that is dead, or whose request is over, does nothing more in its request. What it did there has been judged. The marks
of a step are judged in the move itself. So numbers of schedules and findings stay what they were.
"""

from __future__ import annotations

from collections.abc import Sequence

from lab.explore.client_tree import ClientTree
from lab.explore.parking import AWAKE
from lab.explore.state import DEAD, State


def forgotten(state: State, trees: Sequence[ClientTree]) -> State:
    """Return the state without what makes no difference any more."""
    ghosts = state.ghosts
    dead = [mode == DEAD for mode in state.modes]
    nodes = tuple(0 if gone else tree.rests[node] for gone, tree, node in zip(dead, trees, state.nodes, strict=True))
    over = [gone or bool(tree.nodes[node].ended) for gone, tree, node in zip(dead, trees, nodes, strict=True)]
    if any(over):
        ghosts = ghosts._replace(
            releases_own=tuple(one and not done for one, done in zip(ghosts.releases_own, over, strict=True)),
            writes=tuple(0 if done else one for one, done in zip(ghosts.writes, over, strict=True)),
        )
    if ghosts.written:
        ghosts = ghosts._replace(written=tuple(one._replace(client=-1) for one in ghosts.written))
    if any(dead):
        state = state._replace(
            parked=tuple(AWAKE if gone else one for one, gone in zip(state.parked, dead, strict=True)),
            channels=tuple(() if gone else one for one, gone in zip(state.channels, dead, strict=True)),
            watched=tuple(one for one in state.watched if not dead[one.client]),
            inboxes=tuple(() if gone else one for one, gone in zip(state.inboxes, dead, strict=True)),
        )
    return state._replace(nodes=nodes, ghosts=ghosts)
