"""What the judge knows of a run before it reads its history: the figures of ``run.json``, and which commands it will not see.

The store counts each command, those inside scripts included, and the replicas journal how often they sent each. What the store
ran more often came from another client: one of a library of its own, a bare socket, another process. Of a lock that runs scripts,
only the calls of scripts are compared: the store counts the commands inside them as well.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from app.journal import Started
from lab.evidence.history import History
from lab.evidence.run_record import Ending, RunRecord
from lab.judge.fact import Unseen

REPORTS_KEYS = ("redis", "redis_nodes")  # stores that report what becomes of their keys
# by how a request nests its locks: the shortest pause in which it holds the outer one alone (app/web.py)
PAUSES_MS = {"same": 100, "crossed": 200}
SHORT_WORK = 0.5  # of a lease: no machine is so slow that work of this length outlasts its lease by itself
PATIENT = 0.9  # of its readiness to wait: a request that waited for longer has waited to the end
# of a store whose servers follow no other: a replica carries out what its primary does
SERVERS = {"redis": 1, "redis_nodes": 5, "postgresql": 1}
# what clients of Redis send to introduce themselves, and to look after a connection
CONNECTING = frozenset({"select", "auth", "quit", "reset", "readonly", "command", "client", "hello", "ping", "info"})
# what the lab sends if a scenario shifts a clock: none of it takes or frees a lock
OF_THE_LAB = frozenset({"time"})
SCRIPTS = frozenset({"eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro"})
CROWDED = 60  # percent of the processors: another run on the same machine, which takes half of them, is no excuse
# A thread that mostly sleeps gets a processor soon, also there. And where a lock is stuck, others have what the run leaves them.
SLOWEST = 2
FEW, SHARE = 1, 0.02  # so many may have been sent between the two counts


@dataclass(frozen=True)
class RunFacts:
    """What the judge must know of a run to analyse its history."""

    # whether the stage locks outside the process
    has_store: bool
    # the counter after the run, by its parts; None if nobody could read it
    final: dict[str, int] | None
    # the time to live that the scenario gives to locks; 0 without one
    ttl_ms: int = 0
    # how long a lease lasts, as the stage promises it; 0 for a stage whose locks have no end
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
    # how many items there are to sell; None where the number only grows
    stock: int | None = None
    # how many users send requests at the same time
    users: int = 0
    # how many replicas the counter has; 0 where it is not known
    replicas: int = 0
    # whether a lease has begun before the grant, and is renewed while its request waits: only renewals prolong it, no commands
    leases_begin_before: bool = False
    # whether the lock's store reports what becomes of its keys
    reports_keys: bool = False
    # how long a request is ready to wait for the lock
    wait_ms: int = 0
    # whether several servers vote on a lock
    has_votes: bool = False
    # whether the scenario injects faults
    has_faults: bool = False
    # whether the run ended as planned
    is_complete: bool = True
    # what the lab did not see of the lock's commands; None where it saw them all
    unseen: Unseen | None = None
    # how long the work of a request takes
    work_ms: float = 0
    # the share of the processors' time that programs outside the run took, in percent; 0 where it is not known
    others_percent: int = 0

    @property
    def slowness(self) -> float:
        """Return how many times slower than on an idle machine a sound lock may have been; 1 unless others took most of it."""
        return SLOWEST if self.others_percent > CROWDED else 1

    @property
    def lease_ns(self) -> int:
        """Return how long a lease lasts; 0 for a stage whose locks have no end."""
        return self.lease_ms * 1_000_000

    @property
    def ttl_ns(self) -> int:
        """Return the time to live that the scenario gives to locks; 0 without one."""
        return self.ttl_ms * 1_000_000

    @property
    def patience_ns(self) -> float:
        """Return from which length on a wait was one to the end."""
        return PATIENT * self.wait_ms * 1e6

    @property
    def stretched(self) -> bool:
        """Return whether the scenario itself lets a lease end before the work does: by a fault, or by long work."""
        if self.nested == "crossed":  # each waits with its first lock for the second, until a TTL ends
            return True
        pause_ms = PAUSES_MS.get(self.nested, 0)
        held_ms = self.work_ms + (max(pause_ms, self.work_ms) if self.nested else 0)  # the work goes on between the releases
        return self.has_faults or held_ms > SHORT_WORK * self.lease_ms > 0


def of(record: RunRecord, history: History) -> RunFacts:
    """Return what is known of a run before its history is read."""
    scenario = record.scenario
    return RunFacts(
        unseen=unseen(record, history),
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
        stock=scenario.get("stock"),
        users=scenario["users"],
        replicas=scenario.get("replicas") or 0,
        wait_ms=scenario.get("wait_ms", 0),
        leases_begin_before=record.stage.get("store") == "etcd",
        reports_keys=record.stage.get("store") in REPORTS_KEYS,
        has_votes=record.stage.get("store") == "redis_nodes",
        has_faults=bool(scenario.get("faults")),
        is_complete=record.ended is Ending.COMPLETE,
        others_percent=record.others_percent or 0,
    )


def unseen(record: RunRecord, history: History) -> Unseen | None:
    """Return what the lab did not see of the lock's commands; None where it saw all of them, or nobody knows."""
    store, ran = record.stage.get("store"), record.commands.get("lock", {})
    if record.clients is None or store not in SERVERS:
        return None
    counts: Counter[str] = Counter()
    ports: set[int] = set()
    starts = 0
    for event in history.sent():
        if isinstance(event, Started):
            starts += 1
        else:
            counts.update(event.counts)
            ports |= set(event.ports)
    if counts and record.lock_servers != SERVERS[store]:
        return None
    # a process that ends by itself takes its last counts with it
    may_have_died = starts > record.scenario["replicas"] + len(record.scenario.get("faults", ()))
    # the store counts what a script runs as well: of a lock with scripts, only their calls can be compared
    not_compared = {*ran} - SCRIPTS if SCRIPTS & {*counts} else set()
    if store != "postgresql":  # there, SELECT is no connection's
        not_compared |= CONNECTING | OF_THE_LAB
    missing = {
        name: ran[name] - counts[name]
        for name in ran
        if name not in not_compared
        and ran[name] - counts[name] > FEW + SHARE * ran[name]
        and (not counts[name] or not may_have_died)
    }
    return Unseen(missing, tuple(one for one in record.clients if one.port not in ports)) if missing else None
