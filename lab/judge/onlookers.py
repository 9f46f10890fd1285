"""The requests that wanted the lock after a fault: only they can show that it stays taken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from lab.judge.fault_outcome import FaultOutcome
from lab.judge.key_history import FOREVER_NS


class Want(NamedTuple):
    """One request that wanted the lock: when it asked, and when it got the lock or gave up."""

    asked_ns: int
    ended_ns: int
    got: bool


@dataclass
class Onlookers:
    """Those who wanted the lock after one fault, until another request got it."""

    fault: FaultOutcome
    wants: list[Want] = field(default_factory=list)

    def look(self, request: str, want: Want) -> None:
        """Take note of a request that was still waiting, or asked, after the fault."""
        is_over = 0 < self.fault.next_got_ns <= want.asked_ns
        if request != self.fault.record.request and want.ended_ns > self.fault.record.began_ns and not is_over:
            self.wants.append(want)

    @property
    def wanted_meanwhile(self) -> bool:
        """Return whether anybody wanted the lock before the recovery began."""
        return any(one.asked_ns < self.fault.record.recovering_ns for one in self.wants)

    def show_taken(self, bound_ms: float) -> bool:
        """Return whether any of them shows that the lock was taken for longer than the bound.

        Each that was waiting when the bound was over shows it. One that asked only then shows it if it gave up before another
        request got the lock, or waited for as long again.
        """
        bound_ns = int(bound_ms * 1e6)
        late_ns, until_ns = self.fault.record.began_ns + bound_ns, self.fault.next_got_ns or FOREVER_NS
        return any(
            one.asked_ns <= late_ns
            or (not one.got and one.ended_ns <= until_ns)
            or min(one.ended_ns, until_ns) - one.asked_ns > bound_ns
            for one in self.wants
            if one.asked_ns < until_ns and one.ended_ns > late_ns
        )
