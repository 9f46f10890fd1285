"""The system on which faults act: the replicas, the lock's store and the ways between them (``lab.scenario.fault.System``)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol

import psutil

from app import resources
from app.lock import Stage
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Fault, Need, Target
from lab.servers.process import Running
from lab.servers.replication_link import ReplicationLink
from lab.servers.server import Server
from lab.servers.shifted_clock import jump_clock
from lab.servers.stores import store_servers
from lab.servers.synced_files import SyncedFiles, watched
from lab.servers.tcp_proxy import TcpProxy

# By these bytes the proxy knows a command to the counter. A holder that is about to write sends no other.
IN_REDIS, IN_THE_DATABASE = b":counter", b"UPDATE counter SET"


class CounterWay(NamedTuple):
    """The way of a replica to the counter, over a proxy that exists for the duration of a run."""

    proxy: TcpProxy
    # the bytes by which a command to the counter is known
    marker: bytes
    # the setting of the replica that leads over the proxy
    settings: dict[str, str]


class Partition(Protocol):
    """A connection from a replica to the lock's store that can be cut. Its methods raise OSError when that fails."""

    def cut(self) -> None:
        """Let nothing through, in either direction. Neither end is notified."""

    def mend(self) -> None:
        """Let everything through again."""


@dataclass(frozen=True)
class FaultTarget:
    """The servers of one run."""

    # the name of the lock's store; empty for a stage without a store
    store: str
    # its servers
    nodes: Sequence[Server]
    replicas: Sequence[Server]
    # by replica, its connections to the lock's store, if they can be cut
    partitions: Mapping[str, Sequence[Partition]]
    # by server of the lock's store, its files, if a fault can drop unsynced data
    files: Mapping[str, SyncedFiles] = field(default_factory=dict)
    # the links from its primaries to their replicas
    links: Sequence[ReplicationLink] = ()
    # by replica, its way to the counter, if a write can be delayed
    counter_ways: Mapping[str, CounterWay] = field(default_factory=dict)

    def settings_of(self, replica: str) -> dict[str, str]:
        """Return the settings of a replica whose ways to the lock's store or to the counter a fault can cut or delay."""
        proxies = [one for one in self.partitions.get(replica, ()) if isinstance(one, TcpProxy)]
        settings = {f"{self.store}_url": store_servers(self.store).url(proxies)} if proxies else {}
        return settings | (self.counter_ways[replica].settings if replica in self.counter_ways else {})

    def resume_replica(self, record: FaultRecord) -> None:
        for replica in self.replicas:
            if replica.name == record.replica:
                replica.resume_process(record.pid)

    def lose_power(self) -> None:
        for node in self.nodes:  # all at once: no server may sync after another has lost its power
            node.kill()
        for node in self.nodes:
            self.files[node.name].lose_unsynced()
        _start_again(self.nodes)

    def kill_nodes(self, nodes: Sequence[int]) -> None:
        for node in self._chosen(nodes):
            node.kill()

    def silence_nodes(self, nodes: Sequence[int]) -> None:
        for node in self._chosen(nodes):
            node.pause()

    def recover_nodes(self, nodes: Sequence[int]) -> None:
        chosen = self._chosen(nodes)
        _start_again([node for node in chosen if node.killed])
        for node in chosen:
            node.resume()

    def jump_clocks(self, nodes: Sequence[int], by_ms: int) -> int:
        """Let the clocks jump all at once: one after another they would need a good part of a TTL on a busy machine."""
        chosen = [node for node in self._chosen(nodes) if isinstance(node, Running)]
        with ThreadPoolExecutor(max(1, len(chosen))) as together:
            return sum(together.map(partial(jump_clock, by_ms=by_ms), chosen))

    def cut_off(self, record: FaultRecord) -> None:
        for partition in self.partitions[record.replica]:
            partition.cut()

    def reconnect(self, record: FaultRecord) -> None:
        for partition in self.partitions[record.replica]:
            partition.mend()

    def delay_write(self, record: FaultRecord) -> None:
        way = self.counter_ways[record.replica]
        way.proxy.delay_write(way.marker)

    def break_off_write(self, record: FaultRecord) -> None:
        self.counter_ways[record.replica].proxy.delayed.break_off()

    def deliver_write(self, record: FaultRecord) -> int:
        return self.counter_ways[record.replica].proxy.delayed.deliver()

    def hold_replication(self) -> None:
        """Let the replicas receive nothing more. Raises NotReady when they do not catch up first."""
        for link in self.links:
            link.hold()

    def split(self, record: FaultRecord) -> None:
        connections = psutil.Process(record.pid).net_connections("tcp")
        for way in self.partitions[record.replica]:
            if isinstance(way, TcpProxy):
                way.keep_only()
        for link in self.links:  # a connection to another server can have the port of another replica's connection to this one
            link.proxy.keep_only({one.laddr.port for one in connections if one.raddr and one.raddr.port == link.proxy.port})

    def kill_lock_leader(self) -> None:
        """Kill the server that leads the lock's store. It is not started again. Raises OSError when no server leads."""
        store_servers(self.store).leader(self.nodes).kill()

    def end_sessions(self, record: FaultRecord) -> int:
        return store_servers(self.store).end_session(self.nodes, record)

    def _chosen(self, nodes: Sequence[int]) -> list[Server]:
        return [self.nodes[number - 1] for number in nodes if number <= len(self.nodes)]


@contextlib.contextmanager
def prepared(
    replicas: Sequence[str],
    stage: Stage,
    lock_store: Sequence[Running],
    counter_redis: Running | None,
    faults: Sequence[Fault],
    links: Sequence[ReplicationLink],
) -> Iterator[FaultTarget]:
    """Yield the system on which faults act before the replicas are up, with the proxies and the watch on files that they need."""
    targets, disks = {fault.target for fault in faults}, any(Need.DISK in fault.needs for fault in faults)
    in_lock_store = resources.kind(stage.resource).in_lock_store
    counter = next(iter(lock_store), None) if in_lock_store else counter_redis
    with contextlib.ExitStack() as laid:

        def proxy(server: Server) -> TcpProxy:
            one = TcpProxy(server.port)
            laid.callback(one.close)
            return one

        def counter_way(server: Server) -> CounterWay:
            way = proxy(server)
            if in_lock_store:
                url = store_servers(stage.store or "").url([way])
                return CounterWay(way, IN_THE_DATABASE, {f"{stage.store}_url": url})
            return CounterWay(way, IN_REDIS, {"counter_url": way.address})

        cut = {name: [proxy(server) for server in lock_store] for name in replicas if Target.NETWORK in targets}
        delayed = replicas if Target.COUNTER in targets else ()
        ways = {name: counter_way(counter) for name in delayed if counter is not None}
        files = laid.enter_context(watched(lock_store if disks else ()))
        yield FaultTarget(stage.store or "", lock_store, (), cut, files, links, ways)


def _start_again(nodes: Sequence[Server]) -> None:
    """Start servers at the same time: a member of an ensemble is ready only when a majority runs."""
    with ThreadPoolExecutor(max(1, len(nodes))) as pool:
        list(pool.map(lambda node: node.start_again(), nodes))
