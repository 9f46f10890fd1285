"""The link from a primary to its replica, over a proxy that can hold it: asynchronous replication, as late as a run needs it.

A Sentinel watches both, and promotes a replica when the primary dies.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import redis

from app.stores.redis import PRIMARY
from lab.errors import NotReady
from lab.servers.programs.redis import info
from lab.servers.server import Server
from lab.servers.tcp_proxy import TcpProxy

WITHIN_S = 10.0
DOWN_AFTER_MS = 500  # after so long a silence the Sentinel takes the primary for dead; its default is 30 s
REPLICATION = b"PSYNC"  # the command by which a replica starts to follow


@dataclass(frozen=True)
class ReplicationLink:
    """The link of one pair of servers."""

    primary: Server
    replica: Server
    proxy: TcpProxy

    def hold(self) -> None:
        """Wait until the replica has all that the primary has; then let nothing more through. Raises NotReady."""
        wait_until(self._caught_up, f"{self.replica.name} does not catch up with {self.primary.name}")
        self.proxy.hold()

    def _caught_up(self) -> bool:
        sent = info(self.primary.port, "replication", self.primary.host)["master_repl_offset"]
        return bool(info(self.replica.port, "replication", self.replica.host)["slave_repl_offset"] >= sent)


def wait_until(true: Callable[[], bool], otherwise: str) -> None:
    """Wait until a condition is true. Raises NotReady, with the words in ``otherwise``."""
    until_s = time.monotonic() + WITHIN_S
    while time.monotonic() < until_s:
        if true():
            return
        time.sleep(0.02)
    raise NotReady(f"{otherwise} within {WITHIN_S:.0f} s")


@contextlib.contextmanager
def followed(primary: Server, replicas: Sequence[Server], sentinel: Server) -> Iterator[Sequence[ReplicationLink]]:
    """Let replicas follow their primary over a proxy, and let a Sentinel watch all. Raises NotReady."""
    proxy = TcpProxy(
        primary.port, REPLICATION
    )  # the Sentinel uses it as well: it corrects a replica that follows another address
    try:
        for replica in replicas:
            _command(replica.port, "REPLICAOF", "127.0.0.1", proxy.port)
        # The Sentinel asks the primary for its replicas at once, and then every ten seconds: the replica must be there before.
        for replica in replicas:
            wait_until(partial(_follows, replica.port), f"{replica.name} does not follow")
        _command(sentinel.port, "SENTINEL", "MONITOR", PRIMARY, "127.0.0.1", proxy.port, 1)
        _command(sentinel.port, "SENTINEL", "SET", PRIMARY, "down-after-milliseconds", DOWN_AFTER_MS, "failover-timeout", 2000)
        wait_until(
            lambda: info(sentinel.port, "sentinel")["master0"]["slaves"] == len(replicas), "the sentinel does not see the replica"
        )
        yield [ReplicationLink(primary, replica, proxy) for replica in replicas]
    finally:
        proxy.close()


def _follows(port: int) -> bool:
    """Return whether a replica has its primary's data, and receives more."""
    return bool(info(port, "replication")["master_link_status"] == "up")


def _command(port: int, *command: object) -> None:
    client = redis.Redis(port=port, socket_timeout=2.0)
    try:
        client.execute_command(*command)
    finally:
        client.close()
