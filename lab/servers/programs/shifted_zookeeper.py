"""A ZooKeeper server whose wall clock can jump, by libfaketime: a JVM reads the clock through the C library."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from lab.servers import shifted_clock
from lab.servers.programs.zookeeper import ZooKeeperServer
from lab.servers.server import LOOPBACK


@dataclass(frozen=True)
class ShiftedZooKeeper(ZooKeeperServer):
    """A ZooKeeper server with an adjustable clock."""

    def argv(self, port: int, folder: Path) -> list[str]:
        shifted_clock.begin(folder)
        return super().argv(port, folder)

    def env(self, port: int) -> dict[str, str]:
        return super().env(port) | shifted_clock.env()

    def clock_ms(self, port: int) -> float:
        """Return the time at which the ensemble makes a node now: it is the clock of its leader, whichever server is asked."""
        client = KazooClient(f"{LOOPBACK}:{port}", timeout=5.0)
        try:
            client.start(timeout=5.0)
            made_ms: float = client.create(f"/clock-{uuid4().hex}", ephemeral=True, include_data=True)[1].ctime
            return made_ms
        except (KazooException, KazooTimeoutError) as error:
            raise OSError(f"ZooKeeper's clock cannot be read: {error}") from error
        finally:
            client.stop()
            client.close()
