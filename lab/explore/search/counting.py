"""How many schedules a graph has, and how many of them break each claim: counted backwards, without walking any."""

from __future__ import annotations

from collections.abc import Callable

from lab.explore.search.graph import SearchGraph
from lab.explore.search.searched import Searched


def count(result: Searched, graph: SearchGraph) -> None:
    """Count all schedules, and for each broken claim those that keep it: what is left breaks it."""
    order = _backwards(graph)
    if order is None:
        return

    def counted(ends: Callable[[int], bool], keeps: Callable[[int], bool] = lambda place: True) -> int:
        counts = [0] * len(graph)
        for number in order:
            places = graph.places(number)
            counts[number] = (
                sum([graph.ways[place] * counts[graph.leads_to[place]] for place in places if keeps(place)])
                if places
                else int(ends(number))
            )
        return counts[0]

    result.schedules = counted(lambda number: True)
    result.witness.cut = counted(lambda number: number in graph.cut)
    for claim, broken in result.broken.items():
        kept = counted(
            lambda number, claim=claim: all(one.claim is not claim for one in graph.ends[number]),  # type: ignore[misc] # a default binds it
            lambda place, claim=claim: all(one.claim is not claim for one in graph.found.get(place, ())),  # type: ignore[misc] # as above
        )
        broken.schedules = result.schedules - kept


def _backwards(graph: SearchGraph) -> list[int] | None:
    """Return the numbers of the states so that each comes after all that can follow it; None where a schedule has no end."""
    order: list[int] = []
    status = bytearray(len(graph))
    stack = [0]
    while stack:
        number = stack[-1]
        if status[number] == 0:
            status[number] = 1
            for place in graph.places(number):
                after = graph.leads_to[place]
                if status[after] == 1:
                    return None
                if status[after] == 0:
                    stack.append(after)
        else:
            stack.pop()
            if status[number] == 1:
                status[number] = 2
                order.append(number)
    return order
