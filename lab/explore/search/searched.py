"""What a search has found: the claims that break, what was at stake, and how much there was to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from app.lock import Claim
from lab.explore.search.budget import Budget
from lab.explore.search.event import ScheduleEvent
from lab.explore.search.graph import SearchGraph
from lab.explore.search.harm import Finding


@dataclass
class Broken:
    """A claim that some schedule breaks."""

    finding: Finding
    # a shortest schedule
    events: list[ScheduleEvent]
    # how many schedules break it
    schedules: int = 0


@dataclass
class Witness:
    """What was at stake in a search: of all states in which schedules end, those in which something has happened."""

    ends: int = 0
    # in which somebody was served; in which somebody gave up
    served: int = 0
    refused: int = 0
    # how many schedules the horizon has cut, with somebody still waiting
    cut: int = 0


@dataclass
class Searched:
    """What a search has found."""

    budget: Budget
    horizon_ms: int
    # whether the graph has one move for all clients that have done nothing yet; the numbers of schedules are of all of them
    folded: bool = False
    # whether every schedule was looked at
    complete: bool = False
    schedules: int = 0
    states: int = 0
    transitions: int = 0
    seconds: float = 0.0
    broken: dict[Claim, Broken] = field(default_factory=dict)
    witness: Witness = field(default_factory=Witness)
    graph: SearchGraph | None = None
    on_broken: Callable[[Broken], None] | None = None
