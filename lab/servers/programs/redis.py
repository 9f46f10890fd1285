"""A Redis server that keeps nothing on disk by default, and can publish its keyspace events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.servers.process import ServerProgram
from lab.servers.server import LOOPBACK

REPORTS = "notify-keyspace-events"


@dataclass(frozen=True)
class RedisServer(ServerProgram):
    """A Redis server."""

    name: str  # lock-redis or counter-redis
    notify: bool = False  # publish keyspace events, the evidence about leases
    persists: bool = False  # write each change to a file
    syncs: str = "always"  # when that file is synced to disk: always (before the answer), everysec, no

    @property
    def executable(self) -> str:
        return "redis-server"

    def argv(self, port: int, folder: Path) -> list[str]:
        options = {
            "port": port,
            "bind": "127.0.0.1",
            "save": "",
            "appendonly": "no",
            "dir": folder,
            "maxclients": 10_000,
            "repl-diskless-sync-delay": 0,  # a replica follows at once; by default it waits five seconds for others
        }
        if self.persists:
            options |= {"appendonly": "yes", "appendfsync": self.syncs}
        options[REPORTS] = "KEA" if self.notify else ""
        return [word for name, value in options.items() for word in (f"--{name}", str(value))]

    def ready(self, port: int, pid: int) -> bool:
        return int(info(port, "server")["process_id"]) == pid


def server_time_ms(port: int) -> float:
    """Return the server's own wall clock. Raises OSError when it does not answer."""
    with _asking(port) as client:
        seconds, microseconds = client.time()
    return seconds * 1000 + microseconds / 1000


def info(port: int, section: str, host: str = LOOPBACK) -> dict[str, Any]:
    """Return a section of the server's own statistics. Raises OSError when it does not answer."""
    with _asking(port, host) as client:
        return dict(client.info(section))


def reports(port: int, host: str = LOOPBACK) -> frozenset[str]:
    """Return the classes of events that a server publishes, each a letter. Raises OSError when it does not answer."""
    with _asking(port, host) as client:
        return frozenset(client.config_get(REPORTS)[REPORTS])


@contextmanager
def _asking(port: int, host: str = LOOPBACK) -> Iterator[Any]:
    """Yield a client that tries once: by default, it needs four seconds to notice that no server listens. Raises OSError."""
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    client = redis.Redis(host, port, socket_timeout=2.0, retry=Retry(NoBackoff(), 0))
    try:
        yield client
    except redis.RedisError as error:
        raise OSError(str(error)) from error
    finally:
        client.close()


@dataclass(frozen=True)
class Sentinel(ServerProgram):
    """A Sentinel: it watches a primary, and promotes the replica when the primary is gone. It is configured while it runs.

    One is enough here: the lab tests which data a promotion loses, not how Sentinels vote.
    """

    name: str = "sentinel"
    executable = "redis-server"

    def argv(self, port: int, folder: Path) -> list[str]:
        config = folder / "sentinel.conf"  # Sentinel needs a file that it can rewrite
        config.write_text(f"port {port}\nbind 127.0.0.1\ndir .\n", encoding="utf-8")
        return [str(config), "--sentinel"]

    def ready(self, port: int, pid: int) -> bool:
        return int(info(port, "server")["process_id"]) == pid
