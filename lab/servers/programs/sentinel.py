"""A Redis Sentinel: it watches a primary, and promotes the replica when the primary is gone. It
gets its configuration while it runs.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

from lab.servers.programs.redis import info


@dataclass(frozen=True)
class Sentinel:
    """A Sentinel. One is enough here: the lab tests what a promotion loses, not how Sentinels vote."""

    name: str = "sentinel"
    executable: str = "redis-server"
    stop_signal: signal.Signals = signal.SIGKILL

    def argv(self, port: int, folder: Path) -> list[str]:
        config = folder / "sentinel.conf"  # Sentinel needs a file that it can rewrite
        config.write_text(f"port {port}\nbind 127.0.0.1\ndir .\n", encoding="utf-8")
        return [str(config), "--sentinel"]

    def env(self, port: int) -> dict[str, str]:
        return {}

    def tidy(self, folder: Path) -> None:
        """Delete nothing: a Sentinel leaves little."""

    def ready(self, port: int, pid: int) -> bool:
        return int(info(port, "server")["process_id"]) == pid
