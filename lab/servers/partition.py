"""Network partitions between a replica and the lock's store: both ends keep running, and nothing gets through."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from lab.scenario.fault import Fault, Target
from lab.servers.server import Server
from lab.servers.tcp_proxy import TcpProxy


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
