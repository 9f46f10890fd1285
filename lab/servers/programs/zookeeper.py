"""A ZooKeeper server, alone or as a member of an ensemble, with its data in the run's folder; also one with a shifted clock. Each
write is on disk before it is answered.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from lab.errors import MissingProgram
from lab.prerequisites import ZOOKEEPER_JARS, how_to_install
from lab.servers.process import ServerProgram
from lab.servers.server import LOOPBACK
from lab.servers.shifted_clock import Shifted

CONFIG = """
tickTime={tick_ms}
initLimit=100
syncLimit=40
minSessionTimeout=200
maxSessionTimeout=120000
dataDir=./data
clientPort={port}
clientPortAddress=127.0.0.1
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=srvr,mntr,dump
"""
TICK_MS = 50  # the server notices a session's end within a tick
# a small heap, a single thread of garbage collection, and little optimising: it runs for seconds
JVM = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.awt.headless=true")


@dataclass(frozen=True)
class ZooKeeperServer(ServerProgram):
    """A ZooKeeper server."""

    name: str  # its own name
    number: int = 1  # its number among the peers, from 1
    # for each peer the ports of its members' meetings and of their votes; None: a server alone
    peers: Mapping[int, tuple[int, int]] | None = None
    executable = "java"

    def argv(self, port: int, folder: Path) -> list[str]:
        data = folder / "data"
        data.mkdir(exist_ok=True)
        peers = self.peers or {}
        members = [f"server.{number}=127.0.0.1:{meet}:{vote}" for number, (meet, vote) in peers.items()]
        config = folder / "zoo.cfg"
        config.write_text(CONFIG.format(tick_ms=TICK_MS, port=port) + "\n".join(members) + "\n", encoding="utf-8")
        (data / "myid").write_text(f"{self.number}\n", encoding="utf-8")
        settings = [
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dzookeeper.preAllocSize=1024",
        ]  # KiB that the transaction log grows by
        jars = [_jar(), "/usr/share/java/slf4j-simple.jar"]
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        return [*JVM, *settings, "-cp", ":".join(jars), main, str(config)]

    def ready(self, port: int, pid: int) -> bool:
        return "Mode:" in four_letter(port, "srvr")


def _jar() -> str:
    """Return the path of ZooKeeper's archive. Raises MissingProgram, with how to install it."""
    found = next((path for path in ZOOKEEPER_JARS if Path(path).exists()), None)
    if found is None:
        raise MissingProgram(f"zookeeper.jar is not installed. {how_to_install('zookeeper.jar')}")
    return found


def four_letter(port: int, word: str, host: str = LOOPBACK) -> str:
    """Return a server's answer to a four-letter command. Raises OSError."""
    with socket.create_connection((host, port), timeout=2.0) as connection:
        connection.sendall(word.encode())
        parts = []
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts).decode()


@dataclass(frozen=True)
class ShiftedZooKeeper(Shifted, ZooKeeperServer):
    """A ZooKeeper server with an adjustable clock."""

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
