"""The ways that a fault can hold: from a replica to the server that keeps the counter, and to the lock's store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from app import resources
from app.lock import Stage
from lab.scenario.fault import Fault, Target
from lab.servers.server import Server
from lab.servers.stores import store_servers
from lab.servers.tcp_proxy import DelayedWrite, TcpProxy

# By these bytes the proxy knows a command to the counter. A holder that is about to write sends no other.
IN_REDIS, IN_THE_DATABASE = b":counter", b"UPDATE counter SET"


class CounterWay:
    """A proxy that exists for the duration of a run. A command to the counter begins with ``marker``, or contains it."""

    def __init__(self, proxy: TcpProxy, store: str, marker: bytes) -> None:
        self.proxy = proxy
        # the lock's store, where it keeps the counter as well; empty for a counter that has its own Redis
        self.store = store
        self.marker = marker
        self._write: DelayedWrite | None = None

    @property
    def settings(self) -> dict[str, str]:
        """Return the setting of the replica that leads over the proxy."""
        return (
            {f"{self.store}_url": store_servers(self.store).url([self.proxy])}
            if self.store
            else {"counter_url": self.proxy.address}
        )

    def delay_write(self) -> None:
        """Delay the next write, until ``deliver_write``."""
        self._write = self.proxy.delay_write(self.marker)

    def break_off_write(self) -> None:
        """Let the sender learn that no answer will come."""
        if self._write is not None:
            self._write.break_off()

    def deliver_write(self) -> int:
        """Let the delayed write arrive. Return how many writes arrived late: one, or none."""
        return self._write.deliver() if self._write is not None else 0


@contextlib.contextmanager
def counter_ways(
    replicas: Iterable[str], stage: Stage, lock_store: Sequence[Server], counter_redis: Server | None, faults: Sequence[Fault]
) -> Iterator[Mapping[str, CounterWay]]:
    """Yield the way of each replica, by its name, for the duration of the block; none where no fault needs them."""
    in_lock_store = resources.kind(stage.resource).in_lock_store
    server = next(iter(lock_store), None) if in_lock_store else counter_redis
    with contextlib.ExitStack() as laid:
        ways = {}
        if server is not None and any(fault.target is Target.COUNTER for fault in faults):
            store, marker = (stage.store or "", IN_THE_DATABASE) if in_lock_store else ("", IN_REDIS)
            for name in replicas:
                proxy = TcpProxy(server.port)
                laid.callback(proxy.close)
                ways[name] = CounterWay(proxy, store, marker)
        yield ways


class Partition(Protocol):
    """A connection from a replica to the lock's store that can be cut. Its methods raise OSError when that fails."""

    def cut(self) -> None:
        """Let nothing through, in either direction. Neither end is notified."""

    def mend(self) -> None:
        """Let everything through again."""


@contextlib.contextmanager
def partitions(
    replicas: Iterable[str], servers: Sequence[Server], faults: Sequence[Fault]
) -> Iterator[Mapping[str, Sequence[TcpProxy]]]:
    """Yield, by replica, a proxy to each server on this machine, for the duration of the block.

    The proxies exist only where a fault of the scenario cuts them.
    """
    cut = any(fault.target is Target.NETWORK for fault in faults)
    with contextlib.ExitStack() as laid:
        found = {name: [TcpProxy(server.port) for server in servers] for name in replicas if cut}
        for proxies in found.values():
            for proxy in proxies:
                laid.callback(proxy.close)
        yield found
