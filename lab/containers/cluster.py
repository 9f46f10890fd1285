"""The cluster in containers: the containers that docker-compose.yml (or docker-stack.yml) has
started, as the same ``Cluster``.

The judge is in a container itself, so names and ports are those of the containers' own network. The
stores run already. The agents start the replicas again for each run, with that run's settings.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from app import resources
from app.lock import Stage
from app.settings import Settings
from lab.containers import agent
from lab.containers.clocks import Reading, number_of
from lab.containers.host_control import CUT, MEND, RELOAD, HostControl
from lab.containers.server import PORTS, AgentServer, ContainerServer, RecordFetcher, until_ready
from lab.errors import BadInput, NotReady
from lab.load.locust import MASTER_PORT, RECORD
from lab.scenario.fault import Need, Place, Target, kind_of
from lab.scenario.requirements import ENSEMBLES
from lab.scenario.scenario import Scenario
from lab.servers.cluster import Cluster, replica_settings
from lab.servers.fault_target import FaultTarget
from lab.servers.programs.gunicorn import health
from lab.servers.programs.mariadb import TABLES, ask
from lab.servers.stores import refuse as refuse_faults
from lab.servers.stores import store_servers
from lab.servers.supervisor import Supervisor

REPLICAS, WORKERS = "app", "locust-worker"  # the services that are scaled
REPLICA = "replica"  # the replicas' name on the network that all share; they are also on the network of the locks
LOCKS = "locks"
NGINX, NGINX_PORT = "nginx", 8080
COUNTER = "counter-redis"
PROFILES = {"redis_nodes": "redlock", "zookeeper": "zookeeper", "etcd": "etcd", "mysql": "mariadb"}
SEEN_WITHIN_S = 3.0
STORES_UP_WITHIN_S = 20.0
# stores at which all replicas have the same user here, so that the sessions of one replica cannot be found
ONE_USER = ("mysql",)


@dataclass(frozen=True)
class ContainerPartition:
    """A replica's connection to the network of the locks."""

    container: str
    control: HostControl

    def cut(self) -> None:
        self.control.do(CUT, self.container)

    def mend(self) -> None:
        self.control.do(MEND, self.container)


def addresses(service: str) -> list[str]:
    """Return the addresses of a service's containers, in a stable order; none if none is up."""
    try:
        found = socket.getaddrinfo(service, None, socket.AF_INET, socket.SOCK_STREAM)
    except OSError:
        return []
    return sorted({str(place[4][0]) for place in found})


def names(store: str, scenario: Scenario) -> list[str]:
    """Return the names of a store's containers: those of the servers that a local run starts."""
    return [one.name for one in store_servers(store).programs(dataclasses.replace(scenario, store_nodes=1))]


def place(stage: Stage) -> Place:
    """Return what containers do not allow, even if the lab on the host can stop and start them."""
    lacking = {
        Need.CLOCKS: "containers have the clock of their host",
        Need.DISK: "a container that is killed here starts with nothing",
    }
    if stage.store in ENSEMBLES:
        lacking[Need.LEADER] = f"the file has one server of {stage.store}"
    if stage.store in ONE_USER:
        lacking[Need.SESSIONS] = f"all replicas have the same user at {stage.store} here"
    return Place(closed={Target.COUNTER: "no proxy of the lab stands before a container"}, lacking=lacking)


COMPOSE_SCALE, COMPOSE_RELOAD = "docker compose up -d --scale app", "docker compose kill -s HUP nginx"
SWARM_RELOAD = "docker service update --force lab_nginx"
# if no lab on the host can stop, kill or disconnect a container
WITHOUT_CONTROL = Place(closed=dict.fromkeys((Target.NETWORK, Target.STORE), "no lab on the host can reach its container"))


def refuse(stage: Stage, scenario: Scenario, control: bool, has_hosts: bool = False) -> None:
    """Refuse, by name, a scenario that cannot work in containers. Raises BadInput.

    control: whether containers can be stopped and started. has_hosts: whether they are on several hosts.
    """
    broken = list(dict.fromkeys(map(kind_of, scenario.faults))) + ["nodes_away"] * bool(scenario.nodes_away)
    if broken and has_hosts:
        raise BadInput(
            f"{scenario.name} does not work in a Swarm: for {', '.join(broken)}, lab and replicas must be on one host. "
            f"There it works: make scenario STAGE={stage.name} SCENARIO={scenario.name}"
        )
    never = {
        "a clock that jumps (store_clocks), and containers have the clock of their host": scenario.store_clocks,
        "a store's replica that is held back by a proxy of the lab (store_replica)": scenario.store_replica,
        "a store that writes each change to disk (store_persists)": scenario.store_persists,
    }
    if why := next((words for words, true in never.items() if true), None):
        raise BadInput(f"{scenario.name} does not work in containers: it needs {why}. It works without ENGINE=docker")
    if stage.store and stage.store not in PORTS:
        raise BadInput(f"{stage.name} does not run in containers: no service has its store, {stage.store}")
    refuse_faults(stage, scenario)
    for kind, why in place(stage).refusals(scenario.faults).items():
        raise BadInput(
            f"{scenario.name} does not work in containers: the fault {kind} cannot be injected, because {why}. "
            "It works without ENGINE=docker"
        )
    by_host = list(WITHOUT_CONTROL.refusals(scenario.faults))
    by_host += ["nodes_away"] if scenario.nodes_away else []
    if by_host and not control:
        raise BadInput(
            f"{scenario.name} stops, kills or disconnects a container ({', '.join(by_host)}), which only the host can do; "
            f"start it on the host: make scenario STAGE={stage.name} SCENARIO={scenario.name} ENGINE=docker"
        )


@contextlib.contextmanager
def cluster(
    _supervisor: Supervisor,
    stage: Stage,
    scenario: Scenario,
    run: str,
    folder: Path,
    also: Sequence[Stage] = (),
    has_hosts: bool = False,
) -> Iterator[Cluster]:
    """Yield the containers as ``lab.servers.cluster.cluster`` does its processes.

    has_hosts: whether they are on several hosts. Raises NotReady, and BadInput for what cannot work here.
    """
    control = HostControl.found()
    refuse(stage, scenario, control is not None, has_hosts)
    for path in (folder / "logs", folder / "journal"):
        path.mkdir(parents=True, exist_ok=True)
    secret = os.environ.get("MARIADB_ROOT_PASSWORD", "")
    several = (stage, *also)
    found = {
        name: tuple(
            ContainerServer(one, PORTS[name], name, secret if name == "mysql" else "", control) for one in names(name, scenario)
        )
        for name in dict.fromkeys(one.store for one in several if one.store)
    }
    apart = any(not resources.kind(one.resource).in_lock_store for one in several)
    counter = ContainerServer(COUNTER, PORTS["redis"], "redis", control=control) if apart else None
    settings = replica_settings(scenario, run, also or (stage,))
    settings |= {f"{name}_url": _url(name, servers) for name, servers in found.items()}
    settings |= {"counter_url": counter.address} if counter else {}
    settings |= {"faults": str(folder / "faults")} if scenario.faults else {}
    with contextlib.ExitStack() as ending:
        for server in [one for servers in found.values() for one in servers] + ([counter] if counter else []):
            until_ready(server.name, server.ready, STORES_UP_WITHIN_S, _how_to_start(server))
            ending.callback(server.restore)
        for server in found.get("mysql", ()):
            _make_tables(server)
        replicas, workers = _replicas(scenario, has_hosts), _workers()
        _begin_run(replicas, settings, folder, run, ending)
        _see_all(replicas, control)
        known = Settings.read({}, **settings)
        clocks = number_of([Reading(agent.boot(), 0, 0), *(one.clock() for one in (*replicas, *workers))])
        nginx = ContainerServer(NGINX, NGINX_PORT, control=control)
        laid = (
            {one.name: [ContainerPartition(str(one.ask("GET", "/")["container"]), control)] for one in replicas}
            if control
            else {}
        )
        target = FaultTarget(stage.store or "", found.get(stage.store or "", ()), replicas, laid)
        system = Cluster(run, stage, known, found, counter, replicas, nginx, target, workers, clocks)
        target.kill_nodes(scenario.nodes_away)
        yield system


def _url(store: str, servers: Sequence[ContainerServer]) -> str:
    secret = servers[0].secret
    return (f"root:{secret}@" if secret else "") + store_servers(store).url(servers)


def _how_to_start(server: ContainerServer) -> str:
    profile = PROFILES.get(server.store)
    return f"; start it as well: docker compose --profile {profile} up -d {server.name}" if profile else ""


def _make_tables(server: ContainerServer) -> None:
    for statement in TABLES.split(";"):
        if statement.strip():
            ask(server.port, statement, server.host, server.secret)


def _replicas(scenario: Scenario, has_hosts: bool) -> tuple[AgentServer, ...]:
    """Return all replicas that are up. Raises BadInput when the run needs another number: nginx
    sends to all of them.
    """
    places = addresses(REPLICA)
    if len(places) != scenario.replicas:
        scale, reload = ("docker service scale lab_app", SWARM_RELOAD) if has_hosts else (COMPOSE_SCALE, COMPOSE_RELOAD)
        raise BadInput(
            f"{len(places)} replicas are up, and this run needs {scenario.replicas}: {scale}={scenario.replicas}, "
            f"then {reload}; or give --replicas {len(places)}"
        )
    return tuple(AgentServer(f"replica-{number}", agent.REPLICA_PORT, place=place) for number, place in enumerate(places, 1))


def _workers() -> tuple[AgentServer, ...]:
    return tuple(AgentServer(f"worker-{number}", agent.PORT, place=place) for number, place in enumerate(addresses(WORKERS), 1))


def _begin_run(
    replicas: Sequence[AgentServer], settings: dict[str, str], folder: Path, run: str, ending: contextlib.ExitStack
) -> None:
    """Start all replicas for this run at the same time, and return when they answer.

    Records that are written on another host are copied from then on.
    """

    def begin(replica: AgentServer) -> None:
        record = str(folder / "journal" / f"{replica.name}.jsonl")
        replica.begin_run(name=replica.name, settings=settings, record=record)
        until_ready(replica.name, _serves(replica, run))

    for replica in replicas:
        ending.callback(replica.end_run)
    with ThreadPoolExecutor(len(replicas)) as pool:
        list(pool.map(begin, replicas))
    for replica in replicas:
        if not replica.ask("GET", "/")["shared"]:
            fetching = RecordFetcher(replica, folder / "journal" / f"{replica.name}.jsonl")
            fetching.start()
            ending.callback(fetching.close)


def _serves(replica: AgentServer, run: str) -> Callable[[], bool]:
    def serves() -> bool:
        about = health(replica.port, replica.host)
        return (about["run"], about["replica"]) == (run, replica.name)

    return serves


def _see_all(replicas: Sequence[AgentServer], control: HostControl | None) -> None:
    """Check that nginx sends to each replica; let it resolve their names again if it does not. Raises NotReady."""
    wanted = {replica.name for replica in replicas}
    seen: set[str] = set()

    def all_seen() -> bool:
        seen.add(str(health(NGINX_PORT, NGINX)["replica"]))
        return wanted <= seen

    with contextlib.suppress(NotReady):
        until_ready(NGINX, all_seen, SEEN_WITHIN_S)
        return
    if control is not None:
        control.do(RELOAD, NGINX)
    until_ready(
        NGINX,
        all_seen,
        SEEN_WITHIN_S,
        f" with all {len(wanted)} replicas behind it (it resolves their name when it starts): {COMPOSE_RELOAD}, "
        f"or in a Swarm {SWARM_RELOAD}",
    )


@contextlib.contextmanager
def load_workers(workers: Sequence[AgentServer], host: str, folder: Path) -> Iterator[None]:
    """Run the Locust workers for the duration of the block. Raises OSError, NotReady.

    The request logs of workers on other hosts are copied to this one.
    """
    options = {"host": f"http://{host}", "master-port": MASTER_PORT, "expect-workers": len(workers)}
    with contextlib.ExitStack() as ending:
        for worker in workers:
            ending.callback(worker.end_run)
            options["master-host"] = worker.lab_address()
            worker.begin_run(options=options, record=str(folder / RECORD))
            if not worker.ask("GET", "/")["shared"]:
                fetching = RecordFetcher(worker, folder / RECORD)
                fetching.start()
                ending.callback(fetching.close)
        yield
