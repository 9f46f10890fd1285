"""A Redis Sentinel: it watches a primary, and when that is gone makes its replica one. What to watch it is told when it runs."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

from lab.servers.programs.redis import info


@dataclass(frozen=True)
class Sentinel:
    """One is enough here: what is tested is what a promotion loses, not who decides it."""

    name: str = "sentinel"
    executable: str = "redis-server"
    stop_signal: signal.Signals = signal.SIGKILL

    def argv(self, port: int, folder: Path) -> list[str]:
        config = folder / "sentinel.conf"  # it insists on a file that it can rewrite
        config.write_text(f"port {port}\nbind 127.0.0.1\ndir .\n", encoding="utf-8")
        return [str(config), "--sentinel"]

    def env(self, port: int) -> dict[str, str]:
        return {}

    def ready(self, port: int, pid: int) -> bool:
        return int(info(port, "server")["process_id"]) == pid
