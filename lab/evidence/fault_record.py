"""A fault that struck, as the history has it, and what became of the lock after it."""

from __future__ import annotations

from typing import Any

import msgspec


class Strike(msgspec.Struct):
    """Whom a fault hit. replica, pid, request: as the replica left word. at_ns, healed_ns: from when to when it hurt;
    healing_ns: when it began to be undone.

    kind: the fault's file. next_got_ns: when somebody else got the lock after it, 0 if nobody did.
    went_on_ns: when the request was over all the same, 0 if it never was. renewals: by its replica, while it hurt.
    clocks_moved: how many servers' own time was seen to leap.
    foreign_renewals: that succeeded at other replicas before anybody else had got the lock.
    sessions_ended: of its replica, at the lock's store.
    """

    name: str
    replica: str
    pid: int
    request: str
    at_ns: int
    kind: str = ""
    gate: str = ""
    healed_ns: int = 0
    next_got_ns: int = 0
    next_request: str = ""
    went_on_ns: int = 0
    renewals: int = 0
    clocks_moved: int = 0
    healing_ns: int = 0
    sessions_ended: int = 0
    foreign_renewals: int = 0

    def by_another(self, request: str, replica: str) -> bool:
        """Whether a grant to this request shows that others can get the lock again.

        A lost reply leaves it in the hand of a thread, and the next request that this thread serves may enter by that hand.
        """
        return replica != self.replica if self.kind == "lose_reply" else request != self.request

    @property
    def phase(self) -> str:
        """In which phase of a request it struck."""
        return self.gate.partition(".")[0]

    @property
    def idle_ms(self) -> float | None:
        """From the strike to the next grant; None if there was none."""
        return (self.next_got_ns - self.at_ns) / 1e6 if self.next_got_ns else None

    def facts(self) -> dict[str, Any]:
        """For ``verdict.json``."""
        return dict(msgspec.to_builtins(self))
