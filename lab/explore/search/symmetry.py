"""Fold what differs only in the names of the clients: clients that have done nothing yet are interchangeable.

All clients run the same code. So a schedule with other names is a schedule as well, and it breaks the same claims. Of the
clients that have done nothing, a folded search lets only the first continue, and counts its move once for each of them. So the
numbers of schedules stay those of an unfolded search.

That the code treats all clients alike is not believed: the random schedules of a folded search get other names, and run again.
Source: symmetry reduction (Ip and Dill, "Better Verification Through Symmetry").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.explore.search.event import ScheduleEvent
from lab.explore.search.state import Move, State


def folded(state: State, moves: Sequence[Move]) -> list[Move]:
    """Return the moves of the first of several interchangeable clients only. Each has the number of moves for which it stands."""
    first: dict[Any, int] = {}
    stands_for: dict[int, int] = {}  # the first client of a group → how many clients are in it
    dropped: set[int] = set()
    for client, node in enumerate(state.nodes):
        if node or any(one[0] == client for one in (*state.flights, *state.blocked)):
            continue
        leader = first.setdefault(state.modes[client], client)
        stands_for[leader] = stands_for.get(leader, 0) + 1
        if leader != client:
            dropped.add(client)
    if not dropped:
        return list(moves)
    return [
        move._replace(ways=move.ways * stands_for.get(move.event.client, 1)) for move in moves if move.event.client not in dropped
    ]


def renamed(events: Sequence[ScheduleEvent], names: Sequence[int]) -> list[ScheduleEvent]:
    """Return the same schedule with other names of the clients."""
    return [event._replace(client=names[event.client]) if event.client >= 0 else event for event in events]
