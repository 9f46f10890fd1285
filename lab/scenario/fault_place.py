"""Where a fault can be injected: what the servers of a run allow, compared with what the fault declares.

No place has a list of faults. So a new fault on the shelf works, or is refused by name, without a line anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lab.scenario.fault import Fault, Need, Target, kind_of


@dataclass(frozen=True)
class Place:
    """What the servers of a run do not allow. An empty place allows everything."""

    # targets that no fault can reach here, each with the reason
    closed: Mapping[Target, str] = field(default_factory=dict)
    # what the lock's store does not have here, each with the reason
    lacking: Mapping[Need, str] = field(default_factory=dict)

    def refusals(self, faults: Iterable[Fault]) -> dict[str, str]:
        """Return the faults that cannot be injected here: the name of each one's file, and why, as a half sentence."""
        found = {kind_of(fault): self._against(fault) for fault in faults}
        return {kind: why for kind, why in found.items() if why}

    def _against(self, fault: Fault) -> str:
        """Return the first reason against a fault; empty if there is none."""
        if fault.target in self.closed:
            return f"its target is the {fault.target}, and {self.closed[fault.target]}"
        return next((f"it needs {need}, and {self.lacking[need]}" for need in fault.needs if need in self.lacking), "")
