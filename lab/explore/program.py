"""What one client does: one increment under the stage's lock, by the same code that a replica runs under load."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from app.lock import Grant, Stage
from app.resources import kind as resource_kind
from lab.explore import connection
from lab.explore.budget import Budget
from lab.explore.copies import Copies, shared
from lab.explore.operation import COUNTER, LOCK, Ended, Releasing, Writing, Wrote
from lab.explore.operation import Grant as Granted
from lab.explore.replica import Replica
from lab.explore.server_table import RealRedis
from lab.explore.votes import Votes, restarted, servers_of

KEY, NUMBER = "L", "n"  # the lock's key and the counter's: short, for pictures
WAIT_MS = 10**9  # for ever: a waiter that gives up would end the search too soon
RETRY_MS = 30
ASKS = 2  # of a client that asks several servers: refused so often, it gives up. Two that split the votes could go on for ever

_Increment: Any = shared("app.increment").Increment
# its stamps are for a journal, and there is none: they must not look like a memory of the clock
shared("app.increment").__dict__["monotonic_ns"] = lambda: 1
_NestedLock: Any = shared("app.nested_lock").NestedLock


class Increment(_Increment):  # type: ignore[misc] # a copy of app.increment, whose time is that of the search
    """The request of ``app/increment.py``. It leaves marks for the search in place of a journal."""

    def __init__(self, replica: Replica, resource: Any, work_ms: int) -> None:
        super().__init__("request", resource, None, work_ms)
        self.replica = replica

    def work(self, grant: Grant) -> Any:
        self.replica.inside = True
        try:
            return super().work(grant)
        finally:
            self.replica.inside = False
            self.replica.marks.append(Releasing())

    def record(self, event: type, **fields: Any) -> None:
        match event.__name__:
            case "Got":
                self.replica.marks.append(Granted(fields["key"], fields["fence"]))
            case "Writing":
                self.replica.marks.append(Writing())
            case "Wrote":
                self.replica.marks.append(Wrote(fields["part"], fields["overwrote"] - fields["value"] + 1))


class Program:
    """A stage, ready to be run by any number of replicas."""

    def __init__(
        self, stage: Stage, ttl_ms: int, work_ms: int, real: RealRedis, nested: bool = False, servers: int | None = None
    ) -> None:
        """Take the stage, and the real server that will know its scripts.

        nested: each request takes the lock twice. servers: how many there are, for a stage that asks several.
        """
        self.stage = stage
        self.ttl_ms = ttl_ms
        self.work_ms = work_ms
        self.nested = nested
        self.votes = Votes(servers or servers_of(stage))
        self.other_servers = self.votes.servers if self.votes.servers != servers_of(stage) else 0  # 0: as many as the lab runs
        several = self.votes.servers > 1
        self.asks = ASKS if several else None  # None: a client asks until it has the lock
        self.store: Any = connection.Nodes(self.votes.servers, real) if several else connection.client(LOCK, real)
        resource = resource_kind(stage.resource)
        self.resource = resource(self.store if resource.in_lock_store else connection.client(COUNTER, real), NUMBER)
        self.path = Path(str(stage.path))
        self.module = f"app.locks.{stage.name}"
        self.lock_keys: frozenset[bytes] | None = None  # the names of the lock's keys, once a search has learned them

    def faults_in_words(self, budget: Budget) -> str:
        """Return the faults of a search or a schedule in words: one of several servers restarts, and not the store."""
        return budget.in_words(restarted(self.votes.servers))

    def modules(self) -> list[ModuleType]:
        """Return the modules of the stage, as a replica has them, and of its resource."""
        copies = Copies()
        Replica(0, str(self.path)).begin(lambda: copies.load(self.path, self.module))
        return [*copies.loaded, sys.modules[type(self.resource).__module__]]

    def start(self, number: int) -> Replica:
        """Start a replica, and with it its request: it runs to its first operation."""
        replica = Replica(number, str(self.path))
        replica.begin(lambda: self._request(replica))
        return replica

    def _request(self, replica: Replica) -> None:
        replica.copies = Copies()
        stage = replica.copies.load(self.path, self.module).STAGE
        increment = Increment(replica, self.resource, self.work_ms)
        how = "ok"
        try:
            locks = [stage.lock(self.store, KEY, self.ttl_ms, WAIT_MS, RETRY_MS) for _ in range(1 + self.nested)]
            increment.run(_NestedLock(*locks) if self.nested else locks[0])
        except Exception as error:  # noqa: BLE001 - an error of the lock, the resource or their client is a result, as it is under load
            how = type(error).__name__
        replica.marks.append(Ended(how))
