"""Make a ``Cluster`` of the containers that docker-compose.yml (or docker-stack.yml) has started.

The judge is in a container itself, so it uses the names and ports of the containers' own network. The stores already run. The
agents start the replicas again for each run, with that run's settings and faults. Each fault is prepared at one replica:
containers share no folder, so two replicas could take the same fault otherwise.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import socket
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from app import resources
from app.failpoints import PREPARED
from app.lock import Stage
from app.settings import Settings
from lab.containers import agent
from lab.containers.clocks import ClockWatch
from lab.containers.host_control import CUT, MEND, HostControl
from lab.containers.server import PORTS, PROGRAMS, AgentServer, ContainerServer, Relay, until_ready
from lab.errors import BadInput, NotReady
from lab.load.locust import MASTER_PORT, RECORD
from lab.scenario.fault import Need, Place, Target
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
PASSWORD = Path("/run/secrets/mariadb")  # empty without a password
SEEN_WITHIN_S = 10.0
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
    """Return the addresses of a service's containers, in a stable order; an empty list if none is up."""
    try:
        infos = socket.getaddrinfo(service, None, socket.AF_INET, socket.SOCK_STREAM)
    except OSError:
        return []
    return sorted({str(place[4][0]) for place in infos})


def names(store: str, scenario: Scenario) -> list[str]:
    """Return the names of a store's containers. The servers of a local run have the same names."""
    return [program.name for program in store_servers(store).programs(dataclasses.replace(scenario, store_nodes=1))]


def place(stage: Stage) -> Place:
    """Return the faults that are impossible in containers, even if the lab on the host can stop and start containers."""
    lacking = {
        Need.CLOCKS: "containers have the clock of their host",
        Need.DISK: "a container that is killed here starts with nothing",
    }
    if stage.store in ENSEMBLES:
        lacking[Need.LEADER] = f"the file has one server of {stage.store}"
    if stage.store in ONE_USER:
        lacking[Need.SESSIONS] = f"all replicas have the same user at {stage.store} here"
    return Place(closed={Target.COUNTER: "no proxy of the lab stands before a container"}, lacking=lacking)


# if no lab on the host can stop, kill or disconnect a container
WITHOUT_CONTROL = Place(closed=dict.fromkeys((Target.NETWORK, Target.STORE), "no lab on the host can reach its container"))


def refuse(stage: Stage, scenario: Scenario, control: bool, has_hosts: bool = False) -> None:
    """Raise BadInput with the reason if a scenario cannot work in containers.

    control: whether containers can be stopped and started. has_hosts: whether they are on several hosts.
    """
    never = {
        "a clock that jumps (store_clocks), and containers have the clock of their host": scenario.store_clocks,
        "a store's replica that is held back by a proxy of the lab (store_replica)": scenario.store_replica,
        "a store that writes each change to disk (store_persists)": scenario.store_persists,
    }
    run = f"make scenario STAGE={stage.name} SCENARIO={scenario.name}"
    local = f"A local run has it: {run}"
    if why := next((words for words, true in never.items() if true), None):
        raise BadInput(f"{scenario.name} does not work in containers: it needs {why}. {local}")
    if stage.store and stage.store not in PORTS:
        raise BadInput(f"{stage.name} does not run in containers: no service has its store, {stage.store}")
    refuse_faults(stage, scenario)
    for kind, why in place(stage).refusals(scenario.faults).items():
        raise BadInput(
            f"{scenario.name} does not work in containers: the fault {kind} cannot be injected, because {why}. {local}"
        )
    by_host = list(WITHOUT_CONTROL.refusals(scenario.faults))
    by_host += ["nodes_away"] if scenario.nodes_away else []
    if by_host and not control:
        reason = "no container of a Swarm can do to another; it works on one host" if has_hosts else "only the host can do"
        raise BadInput(
            f"{scenario.name} stops, kills or disconnects a container ({', '.join(by_host)}), which {reason}; "
            f"start it on the host: {run} ENGINE=docker"
        )


@contextlib.contextmanager
def cluster(
    _supervisor: Supervisor,
    stage: Stage,
    scenario: Scenario,
    run: str,
    folder: Path,
    has_hosts: bool = False,
) -> Iterator[Cluster]:
    """Yield the containers as a ``Cluster``, as ``lab.servers.cluster.cluster`` does with processes.

    has_hosts: whether they are on several hosts. Raises NotReady, and BadInput for a scenario that cannot work in containers.
    """
    control = HostControl.found()
    refuse(stage, scenario, control is not None, has_hosts)
    for path in (folder / "logs", folder / "journal"):
        path.mkdir(parents=True, exist_ok=True)
    secret = PASSWORD.read_text(encoding="utf-8").strip() if PASSWORD.exists() else ""
    by_store: dict[str, tuple[ContainerServer, ...]] = {}
    if store := stage.store:
        own = secret if store == "mysql" else ""
        by_store[store] = tuple(ContainerServer(name, PORTS[store], store, own, control) for name in names(store, scenario))
    in_lock_store = resources.kind(stage.resource).in_lock_store
    counter = None if in_lock_store else ContainerServer(COUNTER, PORTS["redis"], "redis", control=control)
    settings = replica_settings(scenario, run, stage)
    settings |= {f"{name}_url": _url(name, servers) for name, servers in by_store.items()}
    settings |= {"counter_url": counter.address} if counter else {}
    with contextlib.ExitStack() as ending:
        stores = [*chain(*by_store.values()), *([counter] if counter else [])]
        for server in stores:
            until_ready(server.name, server.version, STORES_UP_WITHIN_S, _how_to_start(server, has_hosts))
            ending.callback(server.restore)
        for server in by_store.get("mysql", ()):
            for statement in filter(str.strip, TABLES.split(";")):
                ask(server.port, statement, server.host, server.secret)
        replicas, workers = _replicas(scenario, has_hosts), _workers(scenario, has_hosts)
        clocks = ClockWatch(agent.boot(), [*replicas, *workers])
        _begin_run(replicas, settings, folder, clocks, ending)
        _see_all(replicas)
        known = Settings.read({}, **settings)
        nginx = ContainerServer(NGINX, NGINX_PORT, control=control)
        versions = {PROGRAMS[server.store]: server.version() for server in stores} | {NGINX: _nginx_version()}
        links = {}
        if control:
            ids = {replica.name: str(replica.ask("GET", "/")["container"]) for replica in replicas}
            links = {name: [ContainerPartition(container, control)] for name, container in ids.items()}
        target = FaultTarget(stage.store or "", by_store.get(stage.store or "", ()), replicas, links)
        system = Cluster(run, stage, known, by_store, counter, replicas, nginx, target, workers, clocks, versions)
        target.kill_nodes(scenario.nodes_away)
        yield system


def _url(store: str, servers: Sequence[ContainerServer]) -> str:
    secret = servers[0].secret
    return (f"root:{quote(secret, safe='')}@" if secret else "") + store_servers(store).url(servers)


def _how_to_start(server: ContainerServer, has_hosts: bool) -> str:
    profile = PROFILES.get(server.store)
    if not profile:
        return ""
    compose = f"docker compose --profile {profile} up -d {server.name}"
    swarm = "docker stack deploy -c docker-stack.yml -c docker-stack.stores.yml lab"
    return f"; start it as well: {swarm if has_hosts else compose}"


def _replicas(scenario: Scenario, has_hosts: bool) -> tuple[AgentServer, ...]:
    """Return all replicas that are up. Raises BadInput if the run needs more or fewer: nginx sends to all of them."""
    places = addresses(REPLICA)
    _check_number("replicas", REPLICAS, len(places), scenario.replicas, has_hosts)
    return tuple(AgentServer(f"replica-{number}", agent.REPLICA_PORT, place=place) for number, place in enumerate(places, 1))


def _workers(scenario: Scenario, has_hosts: bool) -> tuple[AgentServer, ...]:
    """Return all Locust workers that are up; none if Locust runs beside the judge. Raises BadInput for a wrong number."""
    places = addresses(WORKERS)
    if places or scenario.processes > 1:
        _check_number("processes", WORKERS, len(places), scenario.processes, has_hosts)
    return tuple(AgentServer(f"worker-{number}", agent.PORT, place=place) for number, place in enumerate(places, 1))


def _check_number(option: str, service: str, up: int, needed: int, has_hosts: bool) -> None:
    if up != needed:
        scale = "docker service scale lab_" if has_hosts else "docker compose up -d --scale "
        why = f" (docker service ps --no-trunc lab_{service} tells why no more are)" if has_hosts else ""
        raise BadInput(
            f"{up} containers of {service} are up{why}, and this run needs {needed}: {scale}{service}={needed}"
            + (f"; or give --{option} {up or 1}" if up or service == WORKERS else "")  # without a worker, Locust runs here, once
        )


def _begin_run(
    replicas: Sequence[AgentServer],
    settings: dict[str, str],
    folder: Path,
    clocks: ClockWatch,
    ending: contextlib.ExitStack,
) -> None:
    """Start all replicas for this run at the same time, and return when they answer.

    From then on, their journals and the notes of faults are copied into the folder.
    """
    faults, prepared = folder / "faults", _prepared(folder)

    def begin(number: int, replica: AgentServer) -> None:
        own = dict(prepared)
        for name in [name for place, name in enumerate(prepared) if place % len(replicas) != number]:
            own[name] = json.dumps(
                json.loads(own[name]) | {"failpoint": ""}
            )  # without a failpoint, the replica only notes the grant for which the fault waits
        replica.begin_run(name=replica.name, settings=settings, faults=own)
        until_ready(replica.name, lambda: _serves(replica, settings["run"]))

    for replica in replicas:
        ending.callback(replica.end_run)
    with ThreadPoolExecutor(len(replicas)) as pool:
        list(pool.map(begin, range(len(replicas)), replicas))
    for replica in replicas:
        record = folder / "journal" / f"{replica.name}.jsonl"
        peers = [peer for peer in replicas if peer is not replica]
        relay = Relay(replica, record, faults if prepared else None, clocks.ahead_ns(replica.name), peers)
        relay.start()
        ending.callback(relay.close)


def _prepared(folder: Path) -> dict[str, str]:
    """Return the faults of a run, by the names of their files."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((folder / "faults").glob(f"*{PREPARED}"))}


def _serves(replica: AgentServer, run: str) -> bool:
    """Return whether a replica serves this run. Raises OSError, and NotReady if the replica has ended."""
    if ended := replica.ask("GET", "/")["last_words"]:
        raise NotReady(f"{replica.name} could not be started; the end of its log:\n{ended}")
    state = health(replica.port, replica.host)
    return (state["run"], state["replica"]) == (run, replica.name)


def _see_all(replicas: Sequence[AgentServer]) -> None:
    """Wait until nginx sends to each replica: it resolves the replicas' name once a second. Raises NotReady."""
    replica_names = {replica.name for replica in replicas}
    seen: set[str] = set()

    def all_seen() -> bool:
        seen.add(str(health(NGINX_PORT, NGINX)["replica"]))
        return replica_names <= seen

    until_ready(NGINX, all_seen, SEEN_WITHIN_S, f" with all {len(replica_names)} replicas behind it")


def _nginx_version() -> str:
    with urllib.request.urlopen(f"http://{NGINX}:{NGINX_PORT}/health", timeout=SEEN_WITHIN_S) as answer:
        return str(answer.headers["Server"]).removeprefix("nginx/")


@contextlib.contextmanager
def load_workers(workers: Sequence[AgentServer], host: str, folder: Path) -> Iterator[None]:
    """Run the Locust workers within the block, and copy their records of requests. Raises OSError, NotReady.

    The workers get the run's faults: arrivals wait for the first fault.
    """
    prepared = _prepared(folder)
    options = {"host": f"http://{host}", "master-port": MASTER_PORT, "expect-workers": len(workers)}
    with contextlib.ExitStack() as ending:
        for worker in workers:
            ending.callback(worker.end_run)
            options["master-host"] = worker.lab_address()
            worker.begin_run(name=worker.name, options=options, faults=prepared)
            relay = Relay(worker, folder / RECORD, folder / "faults" if prepared else None)
            relay.start()
            ending.callback(relay.close)
        yield
