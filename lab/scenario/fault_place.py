"""Where a fault can be injected: what the servers of a run allow, compared with what the fault declares.

No place has a list of faults. So a new fault on the shelf works, or is refused by name, without a line anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lab.scenario.fault import Fault, Need, Target, kind_of


@dataclass(frozen=True)
class Refusal:
    """Why one fault cannot be injected."""

    # the name of the fault's file
    kind: str
    # the reason, as a half sentence
    why: str


@dataclass(frozen=True)
class Place:
    """What the servers of a run do not allow. An empty place allows everything."""

    # targets that no fault can reach here, each with the reason
    closed: Mapping[Target, str] = field(default_factory=dict)
    # what the lock's store does not have here, each with the reason
    lacking: Mapping[Need, str] = field(default_factory=dict)

    def refusals(self, faults: Iterable[Fault]) -> Iterator[Refusal]:
        """Yield the first reason against each fault that cannot be injected here."""
        for fault in faults:
            if (why := self._against(fault)) is not None:
                yield Refusal(kind_of(fault), why)

    def _against(self, fault: Fault) -> str | None:
        if fault.target in self.closed:
            return f"its target is the {fault.target}, and {self.closed[fault.target]}"
        missing = next((need for need in fault.needs if need in self.lacking), None)
        return None if missing is None else f"it needs {missing}, and {self.lacking[missing]}"
