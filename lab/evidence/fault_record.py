"""What happened when a fault was injected: one line of ``faults.jsonl``.

The replica writes the first part, at the failpoint. The injector adds the rest, and writes the line after the recovery. What
followed from the fault is not in here: the judge computes it (``lab/judge/fault_outcome.py``).
"""

from __future__ import annotations

import msgspec

from app.journal import Number
from lab.evidence.fault_effect import DONE_BY_REPLICA, EFFECT_OF_KIND, Effect


class FaultRecord(msgspec.Struct):
    """One fault that was injected. Times are CLOCK_MONOTONIC in nanoseconds."""

    # Written by the replica: the kind and its number in the run, for example freeze-1.
    name: str
    # the replica whose request reached the failpoint
    replica: str
    # the process of that replica
    pid: Number
    # the request that reached the failpoint
    request: str
    # when the request reached the failpoint
    at_ns: Number
    # Written by the injector: the kind, a module of lab/scenario/faults.
    kind: str = ""
    # the failpoint, phase.moment
    failpoint: str = ""
    # when the recovery was complete; 0 before
    recovered_ns: Number = 0
    # how many servers' clocks moved
    clocks_moved: Number = 0
    # how many servers had voted for the holder when their clocks jumped; 0 where they do not vote, or in an old run
    votes: Number = 0
    # when the recovery began
    recovering_ns: Number = 0
    # how many of the replica's sessions were ended by the lock's store
    sessions_ended: Number = 0
    # how many writes reached the counter late
    late_writes: Number = 0
    # what the fault does; a record of an old run has none, and gets that of its kind
    effect: Effect = Effect.OTHER
    # when the lab had finished its part of the fault, later on a busy machine; 0: an old run
    injected_ns: Number = 0
    # Written by the replica: the command to the lock's store at which the fault was injected, and the keys that it is about;
    # empty where the failpoint is not a command.
    command: str = ""
    keys: list[str] = []

    def __post_init__(self) -> None:
        if self.effect is Effect.OTHER:
            self.effect = EFFECT_OF_KIND.get(self.kind, Effect.OTHER)

    @property
    def began_ns(self) -> int:
        """Return when the fault began: at the failpoint, or when the lab had done its part."""
        return self.at_ns if self.effect in DONE_BY_REPLICA else max(self.at_ns, self.injected_ns)

    @property
    def phase(self) -> str:
        """Return the phase of the request in which the fault was injected."""
        return self.failpoint.partition(".")[0]
