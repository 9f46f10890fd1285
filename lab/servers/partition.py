"""What a replica reaches the lock's store over, where that can be cut: both ends live on, and nothing gets through."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from lab.scenario.fault import Fault, Target
from lab.servers.server import Server
from lab.servers.tcp_proxy import TcpProxy


class Partition(Protocol):
    """A way from a replica to the lock's store. Its methods raise OSError when that cannot be done."""

    def cut(self) -> None:
        """Let nothing through, either way; neither end is told."""

    def mend(self) -> None:
        """Let through what comes from now on."""


@contextlib.contextmanager
def partitions(
    replicas: Iterable[str], servers: Sequence[Server], faults: Sequence[Fault]
) -> Iterator[Mapping[str, Sequence[TcpProxy]]]:
    """For each replica, by its name, a proxy to each of the servers on this machine, while the block runs; none where no fault
    cuts them.
    """
    cut = any(fault.target is Target.NETWORK for fault in faults)
    with contextlib.ExitStack() as laid:
        found = {name: [TcpProxy(server.port) for server in servers] for name in replicas if cut}
        for proxies in found.values():
            for proxy in proxies:
                laid.callback(proxy.close)
        yield found
