"""What a stage needs, up and running: the only object with power over processes. It always cleans up."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any

from app import resources
from app.journal import Journal
from app.lock import Stage
from app.settings import Settings
from app.stores import lock_store
from app.stores.redis import Redis as Client
from lab.errors import NotReady
from lab.prerequisites import program
from lab.scenario.scenario import Scenario
from lab.servers import external_stores, process
from lab.servers.fault_target import FaultTarget, refuse
from lab.servers.partition import Partition, partitions
from lab.servers.process import Running
from lab.servers.programs.gunicorn import Gunicorn, health
from lab.servers.programs.nginx import Nginx
from lab.servers.programs.redis import Redis
from lab.servers.server import LoadWorker, Server
from lab.servers.store import EventRecorder
from lab.servers.stores import stores
from lab.servers.supervisor import Supervisor
from lab.servers.tcp_proxy import TcpProxy


@dataclass(frozen=True)
class Cluster:
    """A running system: the stores, the replicas, and nginx in front.

    stores: servers by the name of the store; counter_redis: None where the counter is kept in the lock's own store.
    workers: Locust's, where they are containers of their own. clocks: how many the replicas, the load and the judge have.
    partitions: by replica, its ways to the lock's store, where they can be cut.
    """

    run: str
    stage: Stage
    settings: Settings
    stores: Mapping[str, tuple[Server, ...]]
    counter_redis: Server | None
    replicas: tuple[Server, ...]
    nginx: Server
    workers: tuple[LoadWorker, ...] = ()
    clocks: int = 1
    partitions: Mapping[str, Sequence[Partition]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Where to send increments."""
        return self.nginx.address

    @property
    def lock_store(self) -> tuple[Server, ...]:
        """The servers of the stage's store; none if it has none."""
        return self.stores.get(self.stage.store or "", ())

    @property
    def servers(self) -> list[Server]:
        """All of them."""
        locks = [running for several in self.stores.values() for running in several]
        return [running for running in (*locks, self.counter_redis, *self.replicas, self.nginx) if running]

    def dead(self) -> list[str]:
        """The names of the servers that have ended."""
        return [running.name for running in self.servers if not running.alive()]

    def in_flight(self) -> int:
        """Requests inside the replicas now. Raises OSError when a replica does not answer."""
        return sum(int(health(replica.port, replica.host)["in_flight"]) for replica in self.replicas)

    def quiet(self, within_s: float) -> bool:
        """Wait until nothing is in flight; False if that does not come in time."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                if self.in_flight() == 0:
                    return True
            time.sleep(0.02)
        return False

    @property
    def fault_target(self) -> FaultTarget:
        """Return what faults act on."""
        return FaultTarget(self.stage.store or "", self.lock_store, self.replicas, self.partitions)

    def client_options(self) -> dict[str, Any]:
        """The options of the replicas' clients, by store."""
        options: dict[str, Any] = health(self.replicas[0].port, self.replicas[0].host)["client_options"]
        return options

    def event_recorders(self, path: Path) -> list[EventRecorder]:
        """Those who write down what the lock's store tells of its keys."""
        return stores()[self.stage.store].event_recorders(self.lock_store, path) if self.lock_store and self.stage.store else []

    def parts(self) -> dict[str, int] | None:
        """The counter, read from where it is kept; None if that is gone."""
        client = lock_store(self.stage.store, self.settings, Journal(None))
        errors = (Client.Error, client.Error) if client else (Client.Error,)
        try:
            return resources.resource(self.stage, self.settings, client).parts()
        except errors:
            return None

    def commands(self) -> dict[str, dict[str, int]]:
        """How often each command ran, by store (``lock``, ``counter``); not the lab's own."""
        counts: dict[str, dict[str, int]] = {"lock": {}, "counter": {}}
        with contextlib.suppress(OSError):
            if self.stage.store and self.lock_store:
                counts["lock"] = stores()[self.stage.store].commands(self.lock_store)
        with contextlib.suppress(OSError):
            if self.counter_redis:
                counts["counter"] = stores()["redis"].commands([self.counter_redis])
        return counts


@contextlib.contextmanager
def cluster(
    supervisor: Supervisor,
    stage: Stage,
    scenario: Scenario,
    run: str,
    folder: Path,
    shelf_name: str | None = None,
    journals: bool = True,
    also: Sequence[Stage] = (),
) -> Iterator[Cluster]:
    """Bring up what the stage needs; journals go to ``folder/journal``, logs to ``folder/logs``. Stops all of it at the end.

    shelf_name: the stage's name or path, as the replicas are to look it up. also: further stages they serve. journals:
    without them, nothing is told and no gate is passed (to measure what that costs). Raises MissingProgram, NotReady, and
    BadInput for a fault that the stage's store cannot have, or that acts on a store which is not the lab's own.
    """
    logs, journal = folder / "logs", folder / "journal"
    for path in (logs, journal):
        path.mkdir(parents=True, exist_ok=True)
    elsewhere = external_stores.urls()
    refuse(stage, scenario)
    external_stores.refuse(stage, scenario, elsewhere)
    needed = dict.fromkeys(one.store for one in (stage, *also) if one.store)
    external_stores.refuse_silence(needed, elsewhere)
    wanted = {name: stores()[name].programs(scenario) for name in needed if name not in elsewhere}
    kept_apart = any(not resources.kind(one.resource).in_lock_store for one in (stage, *also))
    counter = [Redis("counter-redis")] if kept_apart else []
    for name in dict.fromkeys(one.executable for one in (*counter, *chain(*wanted.values()), Gunicorn(""), Nginx((), run, 0))):
        program(name)  # refuse before anything has been started
    with contextlib.ExitStack() as started:

        def up(*programs: process.Program) -> list[Running]:
            starting: list[process.Starting] = []
            running: list[Running] = []
            started.callback(process.stop_all, running)
            for one in programs:
                starting.append(process.start(one, supervisor, logs))
                running.append(starting[-1].running)  # at once: an interrupt may come before the next
            ready = [one.wait() for one in starting]
            running[:] = ready  # a second try is another process than the one that was started first
            return ready

        running = iter(up(*counter, *chain(*wanted.values())))
        counter_redis = next(running) if counter else None
        found = {name: tuple(islice(running, len(several))) for name, several in wanted.items()}
        for name, several in found.items():
            started.enter_context(getattr(stores()[name], "joined", _alone)(several))
        settings = replica_settings(scenario, run, shelf_name or stage.name)
        settings |= {f"{name}_url": stores()[name].url(several) for name, several in found.items()}
        settings |= {"counter_url": counter_redis.address} if counter_redis else {}
        for name in needed & elsewhere.keys():
            settings[f"{name}_url"] = elsewhere[name]
            started.callback(external_stores.take_away, name, elsewhere[name], run)
        if scenario.faults:
            settings["gates"] = str(folder / "gates")
        names = [f"replica-{number}" for number in range(1, scenario.replicas + 1)]
        laid = started.enter_context(partitions(names, found.get(stage.store or "", ()), scenario.faults))
        told = {name: _told(name, journal if journals else None, stage.store, laid.get(name, ())) for name in names}
        replicas = up(*(Gunicorn(name, settings | told[name]) for name in names))
        ports = tuple(replica.port for replica in replicas)
        (nginx,) = up(Nginx(ports, run, read_timeout_s=int(scenario.request_timeout_s) + 30))
        known = Settings.read({}, **settings)
        system = Cluster(run, stage, known, found, counter_redis, tuple(replicas), nginx, partitions=laid)
        if dead := system.dead():
            raise NotReady(f"a server ended right after it had come up: {process.ends_of_logs(dead, logs)}")
        system.fault_target.kill_nodes(scenario.nodes_away)
        yield system


def _alone(_running: Sequence[Running]) -> contextlib.AbstractContextManager[None]:
    """Of a store whose servers need not know of each other."""
    return contextlib.nullcontext()


def _told(name: str, journal: Path | None, store: str | None, proxies: Sequence[TcpProxy]) -> dict[str, str]:
    """What one replica alone is told: where to write its journal, and its own way to the lock's store where it has one."""
    told = {"journal": str(journal / f"{name}.jsonl")} if journal else {}
    return told | ({f"{store}_url": stores()[store].url(proxies)} if store and proxies else {})


def replica_settings(scenario: Scenario, run: str, shelf_name: str) -> dict[str, str]:
    """What a replica is told of a scenario, by the names of ``app.settings.Settings``."""
    settings = {"stage": shelf_name, "run": run, "nested": scenario.nested, "receipts": "yes" if scenario.receipts else ""}
    for name in ("wait_ms", "retry_ms", "work_ms"):
        settings[name] = str(getattr(scenario, name))
    for name in ("ttl_ms", "lease_ms"):
        if getattr(scenario, name) is not None:
            settings[name] = str(getattr(scenario, name))
    return settings
