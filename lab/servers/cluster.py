"""Start all servers that a stage needs. The cluster alone controls processes, and always stops all of them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from app import resources
from app.lock import Stage
from app.settings import Settings
from app.stores import lock_store
from app.stores.redis import Redis as Client
from lab.errors import NotReady
from lab.prerequisites import program
from lab.scenario.fault import Need
from lab.scenario.options import OPTIONS
from lab.scenario.scenario import Scenario
from lab.servers import process
from lab.servers.process import Running
from lab.servers.programs.gunicorn import Gunicorn, health
from lab.servers.programs.nginx import Nginx
from lab.servers.programs.redis import RedisServer
from lab.servers.server import Server
from lab.servers.stores import refuse, store_servers
from lab.servers.supervisor import Supervisor

if TYPE_CHECKING:
    from lab.evidence.run_record import ClockReading
    from lab.servers.fault_target import FaultTarget
    from lab.servers.replication_link import ReplicationLink
    from lab.servers.store import EventRecorder


class Clocks(Protocol):
    """The clocks of replicas and Locust workers that are not processes of this machine."""

    # by their names: the clock that stamps their record; empty for the lab's own
    clock_of: dict[str, str]
    # by each other clock, its readings in the order of time
    readings: dict[str, list[ClockReading]]

    @property
    def number(self) -> int:
        """Return how many different clocks there are."""

    def look_again(self) -> None:
        """Add readings. Raises OSError."""


@dataclass(frozen=True)
class Cluster:
    """A running system: the stores, the replicas, and nginx in front."""

    run: str
    stage: Stage
    settings: Settings
    stores: Mapping[str, tuple[Server, ...]]  # the servers of each store, by the store's name
    counter_redis: Server | None  # None if the counter is kept in the lock's own store
    replicas: tuple[Server, ...]
    nginx: Server
    target: FaultTarget | None = None  # the system on which faults act, if the run has faults
    workers: tuple[Any, ...] = ()  # Locust's workers (AgentServer), if they have containers of their own
    clocks: Clocks | None = None  # None if the lab's own clock stamps everything
    versions: Mapping[str, str] = field(default_factory=dict)  # by name: the version of a program that is not on this machine

    @property
    def fault_target(self) -> FaultTarget:
        """Return the system on which faults act, for a run whose scenario has faults or which replays a schedule."""
        if self.target is None:
            raise LookupError("nothing in this run acts on its servers")
        return replace(self.target, replicas=self.replicas)

    @property
    def address(self) -> str:
        """Return the address to which increments are sent."""
        return self.nginx.address

    @property
    def lock_store(self) -> tuple[Server, ...]:
        """Return the servers of the stage's store; none if it has no store."""
        return self.stores.get(self.stage.store or "", ())

    @property
    def servers(self) -> list[Server]:
        """Return all servers."""
        locks = [running for several in self.stores.values() for running in several]
        return [running for running in (*locks, self.counter_redis, *self.replicas, self.nginx) if running]

    def dead(self) -> list[str]:
        """Return the names of the servers that have ended by accident."""
        return [running.name for running in self.servers if not running.alive()]

    def quiet(self, within_s: float) -> bool:
        """Wait until no request is in flight. Return False if that takes longer than ``within_s``, or if a server has ended."""
        until = time.monotonic() + within_s
        while time.monotonic() < until and not self.dead():
            with contextlib.suppress(OSError):
                if not any(health(replica.port, replica.host)["in_flight"] for replica in self.replicas):
                    return True
            time.sleep(0.02)
        return False

    def failures(self, name: str) -> list[str]:
        """Return why replicas cannot write their journals (name: ``unwritten``), or use the worker of their stage (``worker``).

        A replica that does not answer is left out.
        """
        found = []
        for replica in self.replicas:
            with contextlib.suppress(OSError):
                found.append(str(health(replica.port, replica.host).get(name, "")))
        return [why for why in found if why]

    def event_recorders(self, path: Path) -> list[EventRecorder]:
        """Start the recorders of the lock store's key events."""
        start = getattr(store_servers(self.stage.store), "event_recorders", None) if self.stage.store else None
        return start(self.lock_store, path) if start else []

    def parts(self) -> dict[str, int] | None:
        """Return the parts of the counter, read at its server; None if that server does not answer."""
        client = lock_store(self.stage.store, self.settings)
        errors = client.Error if client else ()  # some stores have several types of errors
        with contextlib.suppress(Client.Error, *errors if isinstance(errors, tuple) else (errors,)):
            return resources.resource(self.stage, self.settings, client).parts()
        return None

    def commands(self) -> dict[str, dict[str, int]]:
        """Return how often each command ran, by store (``lock``, ``counter``), without the lab's own."""
        counts: dict[str, dict[str, int]] = {"lock": {}, "counter": {}}
        with contextlib.suppress(OSError):
            if self.stage.store:
                counts["lock"] = store_servers(self.stage.store).commands(self.lock_store)
        with contextlib.suppress(OSError):
            if self.counter_redis:
                counts["counter"] = store_servers("redis").commands([self.counter_redis])
        return counts


@contextlib.contextmanager
def cluster(
    supervisor: Supervisor,
    stage: Stage,
    scenario: Scenario,
    run: str,
    folder: Path,
    steps: str = "",
    port: int = 0,
) -> Iterator[Cluster]:
    """Start the servers that the stage needs, and stop all of them when the block ends.

    Journals go to ``folder/journal``, logs to ``folder/logs``. steps: the address of the controller for which each command of a
    replica waits. port: of nginx; 0: any free one. Raises MissingProgram, NotReady.
    """
    logs, journal = folder / "logs", folder / "journal"
    for path in (logs, journal):
        path.mkdir(parents=True, exist_ok=True)
    refuse(stage, scenario)
    needed = (stage.store,) if stage.store else ()
    wanted = {name: store_servers(name).programs(scenario) for name in needed}
    counter = [] if resources.kind(stage.resource).in_lock_store else [RedisServer("counter-redis")]
    for name in dict.fromkeys(one.executable for one in (*counter, *chain(*wanted.values()), Gunicorn(""), Nginx((), run, 0))):
        program(name)  # a missing program is reported before anything is started
    process.prepare(Gunicorn("", stores=needed).forkable, supervisor)
    with contextlib.ExitStack() as started:

        def up(*programs: process.ServerProgram) -> list[Running]:
            running: list[Running] = []
            started.callback(process.stop_all, running)
            # each is in the list at once: an interrupt may come before the next start
            running.extend(process.start(one, supervisor, logs) for one in programs)
            return [one.wait() for one in running]

        running = iter(up(*counter, *chain(*wanted.values())))
        counter_redis = next(running) if counter else None
        found = {name: tuple(islice(running, len(programs))) for name, programs in wanted.items()}
        alone = contextlib.nullcontext(())  # the servers of most stores are alone, or know each other from their start
        joined = [getattr(store_servers(name), "joined", lambda _: alone)(several) for name, several in found.items()]
        links = tuple(chain(*map(started.enter_context, joined)))
        if not any(Need.REPLICA in fault.needs for fault in scenario.faults):  # else a fault holds them later
            for link in links:
                link.hold()
        settings = replica_settings(scenario, run, stage)
        settings |= {f"{name}_url": store_servers(name).url(several) for name, several in found.items()}
        settings |= {"counter_url": counter_redis.address} if counter_redis else {}
        settings |= ({"steps": steps} if steps else {}) | ({"faults": str(folder / "faults")} if scenario.faults else {})
        names = [f"replica-{number}" for number in range(1, scenario.replicas + 1)]
        lock_store = found.get(stage.store or "", ())
        target = started.enter_context(_fault_target(names, stage, scenario, lock_store, counter_redis, links, steps))
        own = (settings | _own_settings(name, journal, target) for name in names)
        replicas = up(*(Gunicorn(name, given, stores=needed) for name, given in zip(names, own, strict=True)))
        (nginx,) = up(Nginx(tuple(one.port for one in replicas), run, int(scenario.request_timeout_s) + 30, port))
        system = Cluster(run, stage, Settings.read({}, **settings), found, counter_redis, tuple(replicas), nginx, target)
        if dead := system.dead():
            raise NotReady(f"a server ended right after it had come up: {process.ends_of_logs(dead, logs)}")
        if scenario.nodes_away:
            system.fault_target.kill_nodes(scenario.nodes_away)
        yield system


@contextlib.contextmanager
def _fault_target(
    replicas: Sequence[str],
    stage: Stage,
    scenario: Scenario,
    lock_store: Sequence[Running],
    counter_redis: Running | None,
    links: Sequence[ReplicationLink],
    steps: str,
) -> Iterator[FaultTarget | None]:
    """Yield the system on which faults act, before the replicas are up; None for a run without faults."""
    if not (scenario.faults or scenario.nodes_away or steps):
        yield None
        return
    from lab.servers.fault_target import prepared  # with its proxies and clocks: no other run needs them

    with prepared(replicas, stage, lock_store, counter_redis, scenario.faults, links) as target:
        yield target


def _own_settings(name: str, journal: Path, target: FaultTarget | None) -> dict[str, str]:
    """Return the settings of one replica alone: its journal, and its ways to the lock's store and to the counter."""
    return {"journal": str(journal / f"{name}.jsonl")} | (target.settings_of(name) if target else {})


def replica_settings(scenario: Scenario, run: str, stage: Stage) -> dict[str, str]:
    """Return a scenario's settings for the replicas, by the names of ``app.settings.Settings``."""
    settings = {"stage": stage.lookup, "run": run}
    settings |= {"nested": scenario.nested, "receipts": str(scenario.receipts)}
    for name in (*(option.name for option in OPTIONS.values() if option.reaches_replica), "lease_ms"):
        if (value := getattr(scenario, name)) is not None:
            settings[name] = str(value)
    return settings
