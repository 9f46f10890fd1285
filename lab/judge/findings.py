"""What a history says: everything that checks, verdicts and charts need to know about it."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lab.evidence.history import ACKNOWLEDGED
from lab.judge.attribution import Losses
from lab.judge.concurrency import Crowd
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.grant import Increment
from lab.judge.ledger import Account
from lab.judge.waits import Idle, Overtaken, Repeated, Wait


@dataclass
class Findings:
    """What a history says. Times are nanoseconds; ``by_bin`` counts are per BIN_NS since ``origin_ns``.

    overtaken: who was overtaken most, where fairness is the question. idlest: the longest hand-over. longest: who waited
    longest of those who got it. sent: how many commands the replicas sent to the lock's store to get it and to let go, each
    script one. freed_early, freed_first: who took its lock twice and found nothing left to release at the
    end, though its lease was not over. in_vain: the first who gave up; in_vain_ns: how long
    each of them had waited. repeated: who wrote most often of those who wrote again. whys: what
    was said of those who gave up or failed, and how often; the first few kinds.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    acknowledged_by_replica: Counter[str] = field(default_factory=Counter)
    origin_ns: int = 0
    end_ns: int = 0
    account: Account = field(default_factory=lambda: Account(0, 0, 0, 0, ""))
    losses: dict[str, Losses] = field(default_factory=dict)
    duplicated: int = 0
    half_done: list[dict[str, Any]] = field(default_factory=list)
    repeated: list[Repeated] = field(default_factory=list)
    mismatches: list[str] = field(default_factory=list)
    overlapping_beliefs: int = 0
    renewals: int = 0
    gave_up: int = 0
    whys: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    not_owner: int = 0
    thefts: int = 0
    freed_early: int = 0
    freed_first: Increment | None = None
    measures: Counter[str] = field(default_factory=Counter)
    faults: list[FaultOutcome] = field(default_factory=list)
    ttl_ms: int = 0
    retry_ms: int = 30
    nested: str = ""
    tests: str = ""
    users: int = 0
    idle_ns: array[int] = field(default_factory=lambda: array("q"))
    overtaken: Overtaken | None = None
    idlest: Idle | None = None
    longest: Wait | None = None
    in_vain: list[Wait] = field(default_factory=list)
    in_vain_ns: array[int] = field(default_factory=lambda: array("q"))
    waits_ns: array[int] = field(default_factory=lambda: array("q"))
    acknowledged_by_bin: Counter[int] = field(default_factory=Counter)
    unknown_by_bin: Counter[int] = field(default_factory=Counter)
    value_by_bin: dict[int, int] = field(default_factory=dict)
    crowd: Crowd = field(default_factory=Crowd)

    @property
    def requests(self) -> int:
        return self.outcomes.total()

    @property
    def duration_s(self) -> float:
        """From the first request's start to the last one's end."""
        return max(0, self.end_ns - self.origin_ns) / 1e9

    def measure_shares(self, replicas: Sequence[str]) -> None:
        """What the least busy of them acknowledged: of all there was, and of what each would have if all had as much."""
        if acknowledged := self.outcomes[ACKNOWLEDGED]:
            least = min((self.acknowledged_by_replica[name] for name in replicas), default=0)
            self.measures["least_share_percent"] = 100 * least // acknowledged
            self.measures["least_of_even_share_percent"] = 100 * least * len(replicas) // acknowledged


@dataclass(frozen=True)
class Circumstances:
    """What a pass must know of a run. ttl_ms: 0 without one. final: the counter in the end, by its
    parts; None if it could not be read.
    """

    has_store: bool
    final: dict[str, int] | None
    ttl_ms: int = 0
    retry_ms: int = 30
    start: int = 0
    nested: str = ""
    store_persists: bool = False
    tests: str = ""
    users: int = 0
