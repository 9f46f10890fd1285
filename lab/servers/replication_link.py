"""The link from a primary to its replica, over a proxy that can hold it: asynchronous replication, as late as a run needs it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from lab.errors import NotReady
from lab.servers.programs.redis import info
from lab.servers.server import Server
from lab.servers.tcp_proxy import TcpProxy

WITHIN_S = 10.0


@dataclass(frozen=True)
class ReplicationLink:
    """The link of one pair of servers."""

    primary: Server
    replica: Server
    proxy: TcpProxy

    def hold(self) -> None:
        """Wait until the replica has all that the primary has; then let nothing more through. Raises NotReady."""
        until(self._caught_up, f"{self.replica.name} does not catch up with {self.primary.name}")
        self.proxy.hold()

    def _caught_up(self) -> bool:
        sent = info(self.primary.port, "replication", self.primary.host)["master_repl_offset"]
        return bool(info(self.replica.port, "replication", self.replica.host)["slave_repl_offset"] >= sent)


def until(true: Callable[[], bool], otherwise: str) -> None:
    """Wait until a condition is true. Raises NotReady, with the words in ``otherwise``."""
    until_s = time.monotonic() + WITHIN_S
    while time.monotonic() < until_s:
        if true():
            return
        time.sleep(0.02)
    raise NotReady(f"{otherwise} within {WITHIN_S:.0f} s")
