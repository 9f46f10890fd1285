"""Take from ``run.json`` the facts that the judge needs before it reads a run's history."""

from __future__ import annotations

from dataclasses import dataclass, field

from lab.evidence.run_record import Ending, RunRecord
from lab.judge.clock_bounds import Clocks

REPORTS_KEYS = ("redis", "redis_nodes")  # stores that report changes of their keys
# by how a request nests its locks: the shortest pause in which it holds only the outer lock (app/web.py)
PAUSES_MS = {"same": 100, "crossed": 200}
SHORT_WORK = 0.5  # part of a lease: shorter work cannot outlast its lease, even on a slow machine
PATIENT = 0.9  # part of the wait limit: a request that waited longer has waited to the end
CROWDED = 60  # percent of the processors: another run beside this one takes half of them, and is no excuse
# How much slower a lock may be at most: a thread that mostly sleeps soon gets a processor; a stuck lock leaves processors free.
SLOWEST = 2


@dataclass(frozen=True)
class RunFacts:
    """The facts of a run without which the judge cannot analyse its history."""

    # whether the stage locks outside the process
    has_store: bool
    # the counter after the run, by its parts; None if it could not be read
    final: dict[str, int] | None
    # the time to live that the scenario gives to locks; 0 without one
    ttl_ms: int = 0
    # how long a lease lasts, as the stage promises it; 0 if its locks have no end
    lease_ms: int = 0
    # whether the request set the lease time itself
    has_explicit_lease: bool = False
    # how long a waiter pauses between two tries
    retry_ms: int = 30
    # the counter before the run
    start: int = 0
    # how a request nests locks: ``same``, ``crossed``, or empty for one lock
    nested: str = ""
    # whether the lock's store writes to disk
    store_persists: bool = False
    # when a store that writes to disk syncs: ``always`` (before it answers), ``everysec`` or ``no``
    store_syncs: str = "always"
    # the claim that the scenario tests, by its name
    tests: str = ""
    # how many users send requests at the same time
    users: int = 0
    # whether the lock's store reports changes of its keys
    reports_keys: bool = False
    # how long a request is ready to wait for the lock
    wait_ms: int = 0
    # whether several servers vote on a lock
    has_votes: bool = False
    # whether the scenario injects faults
    has_faults: bool = False
    # whether the run ended as planned
    is_complete: bool = True
    # how long the work of a request takes
    work_ms: float = 0
    # the percentage of the processors' time that programs outside the run took; 0 if that is not known
    others_percent: int = 0
    # how far the clocks that stamped the history are apart
    clocks: Clocks = field(default_factory=Clocks)

    @property
    def slowness(self) -> float:
        """Return how many times slower a sound lock may be: 1 unless other programs took most of the processors."""
        return SLOWEST if self.others_percent > CROWDED else 1

    @property
    def lease_ns(self) -> int:
        """Return how many nanoseconds a lease lasts; 0 if the stage's locks have no end."""
        return self.lease_ms * 1_000_000

    @property
    def ttl_ns(self) -> int:
        """Return the time to live that the scenario gives to locks, in nanoseconds; 0 without one."""
        return self.ttl_ms * 1_000_000

    @property
    def patience_ns(self) -> float:
        """Return the length from which on a wait counts as one to the end, in nanoseconds."""
        return PATIENT * self.wait_ms * 1e6

    @property
    def stretched(self) -> bool:
        """Return whether the scenario makes leases end before the work does, by a fault or by long work."""
        if self.nested == "crossed":  # each holds its first lock while it waits for the second, until a TTL ends
            return True
        pause_ms = PAUSES_MS.get(self.nested, 0)
        held_ms = self.work_ms + (max(pause_ms, self.work_ms) if self.nested else 0)  # the work goes on between the releases
        return self.has_faults or held_ms > SHORT_WORK * self.lease_ms > 0


def of(record: RunRecord, clocks: Clocks) -> RunFacts:
    """Return the facts of a run from its record. clocks: from its history."""
    scenario = record.scenario
    return RunFacts(
        work_ms=scenario.get("work_ms") or 0,
        has_store=record.has_store,
        final=None if record.final is None else record.parts or {"": record.final},
        ttl_ms=scenario["ttl_ms"] or 0,
        lease_ms=scenario.get("lease_ms") or record.stage.get("ttl_ms") or 0,
        has_explicit_lease=bool(scenario.get("lease_ms")),
        retry_ms=scenario["retry_ms"],
        start=record.start,
        nested=scenario.get("nested", ""),
        store_persists=scenario.get("store_persists", False),
        store_syncs=scenario.get("store_syncs", "always"),
        tests=scenario["tests"],
        users=scenario["users"],
        wait_ms=scenario.get("wait_ms", 0),
        reports_keys=record.stage.get("store") in REPORTS_KEYS,
        has_votes=record.stage.get("store") == "redis_nodes",
        has_faults=bool(scenario.get("faults")),
        is_complete=record.ended is Ending.COMPLETE,
        others_percent=record.others_percent or 0,
        clocks=clocks,
    )
