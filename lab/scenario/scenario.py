"""One situation under which one claim is tested. ``reader.py`` makes the record from a TOML file."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.lock import Claim, Stage
from lab.scenario.fault import Fault, kind_of
from lab.scenario.requirements import NEEDS, servers
from lab.scenario.toml_types import Counts, Duration, Line, Nodes, Servers, Switch, Text, Texts
from lab.text import counted

SYNCS = ("always", "everysec", "no")  # before each answer, once a second, when the kernel likes to; Redis's appendfsync


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The fields are the keys of the TOML file. A user can change those in ``options.py`` for one run."""

    name: str = ""  # the name of the file
    title: Line
    tests: Claim  # the claim under stress
    load: Text = "rush"  # a file of locustfiles/
    cures: Text = ""  # a scenario that shows the problem; this one shows the cure, so no stage has to fail here
    needs: Texts = ()  # what a stage must have for the scenario to make sense: names in NEEDS
    danger: Counts = field(default_factory=dict)  # what must have happened for a pass to count: least value by measure
    faults: tuple[Fault, ...] = ()  # what is broken on purpose, and where
    requests: int = 5000
    users: int = 100
    replicas: int = 3
    processes: int = 1
    ttl_ms: int | None = None  # None: the stage's own
    wait_ms: int = 10_000
    retry_ms: int = 30
    lease_ms: Duration | None = None  # an explicit lease time; None: the stage's default
    work_ms: int = 0
    stock: int | None = None  # how many items there are to sell; None for a counter that only grows
    # where a request takes two locks: ``same`` for one key twice, ``crossed`` for two keys in either order, ``ordered`` in one
    nested: Text = ""
    receipts: Switch = False  # whether the work writes twice: the counter, and a receipt
    store_persists: Switch = False  # whether the lock's store writes every change to a file
    store_syncs: Text = "always"  # when it syncs that file to disk: a name in SYNCS
    store_replica: Switch = False  # whether each server of the lock's store has a replica, and a Sentinel that promotes it
    store_second_replica: Switch = False  # whether it has two of them; for a store of one primary
    store_clocks: Switch = False  # whether the clocks of the lock's store can be shifted
    store_nodes: Servers = 3  # the number of servers of the lock's store, where it is an ensemble
    nodes_away: Nodes = ()  # the servers of the lock's store that are stopped from the beginning, counted from 1
    rate: float | None = None  # arrivals per second; None: users that wait for their answers
    connections: int | None = None  # at a rate: requests on their way at most, the next is late; None: none is late
    seed: int = 1
    notes: tuple[str, ...] = ()  # what the lab changed on the user's behalf, and why

    @property
    def request_timeout_s(self) -> float:
        """Return when a client gives up on an answer: longer than any wait and work can take."""
        return 10 + (self.wait_ms + self.work_ms + (self.ttl_ms or 0)) / 1000

    @property
    def locust_users(self) -> int:
        """Return how many users Locust starts. At a rate without connections, one in each process sends all requests."""
        return (self.connections or self.processes) if self.rate else self.users

    def misfit(self, stage: Stage) -> str | None:
        """Return why this scenario makes no sense for a stage; None if it does."""
        for need in self.needs:
            what, has = NEEDS[need]
            if not has(stage):
                return f"the scenario {self.name} needs {what}; the stage {stage.name} does not have it"
        return self._no_such_server(stage)

    def _no_such_server(self, stage: Stage) -> str | None:
        """Return why a fault does nothing at the servers of the stage's store; None where each does something."""
        number = servers(stage.store, self.store_nodes, self.store_replica)
        for fault in self.faults if number else ():
            nodes = getattr(fault, "nodes", ())
            if nodes and min(nodes) > number:
                has = f"the store of {stage.name} has {counted(number, 'server')}"
                return f"the fault {kind_of(fault)} of the scenario {self.name} acts on server {min(nodes)}, and {has}"
        return None
