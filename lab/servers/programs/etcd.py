"""An etcd server, alone or as a member of an ensemble, with its data in the run's folder.

Version 3.4 has no option that turns fsync off (3.5 added one), so every write is on disk before it
is answered.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.servers.process import ServerProgram
from lab.servers.server import LOOPBACK

HEARTBEAT_MS = 50
ELECTION_MS = 500  # the shortest lease is 1.5 times this, in whole seconds: 1 s


@dataclass(frozen=True)
class EtcdServer(ServerProgram):
    """An etcd server."""

    name: str  # its own name
    peers: Mapping[str, int]  # by member, also itself: the port at which the members talk to it
    executable = "etcd"

    def argv(self, port: int, folder: Path) -> list[str]:
        peer = f"http://127.0.0.1:{self.peers[self.name]}"
        client = f"http://127.0.0.1:{port}"
        options = {
            "name": self.name,
            "data-dir": folder / "data",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": ",".join(f"{name}=http://127.0.0.1:{where}" for name, where in self.peers.items()),
            "heartbeat-interval": HEARTBEAT_MS,
            "election-timeout": ELECTION_MS,
            "log-level": "warn",
            "logger": "zap",
        }
        return [word for name, value in options.items() for word in (f"--{name}", str(value))]

    def ready(self, port: int, pid: int) -> bool:
        return bool(status(port)["leader"] != "0")


def ask(port: int, path: str, host: str = LOOPBACK, **words: Any) -> dict[str, Any]:
    """Return a member's answer to a request. Raises OSError."""
    request = urllib.request.Request(f"http://{host}:{port}/v3/{path}", json.dumps(words).encode())
    with urllib.request.urlopen(request, timeout=2.0) as answer:  # noqa: S310 - always http to the lab's own server
        content: dict[str, Any] = json.load(answer)
    return content


def status(port: int, host: str = LOOPBACK) -> dict[str, Any]:
    """Return a member's status: its leader ("0": none) and, in its header, its own id. Raises OSError."""
    return {"leader": "0"} | ask(port, "maintenance/status", host)


def metrics(port: int, host: str = LOOPBACK) -> str:
    """Return a member's metrics in Prometheus' text format. Raises OSError."""
    with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=2.0) as answer:
        return str(answer.read().decode())
