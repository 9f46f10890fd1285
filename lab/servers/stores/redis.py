"""One Redis server, which keeps nothing on disk unless the scenario requires it, and publishes its
keyspace events: evidence that does not come from the replicas.

If the scenario requires it there is also a replica, or two of them, and a Sentinel that promotes
one when the primary dies. The link to the replica can be held: by default from the first request on.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic_ns
from typing import TYPE_CHECKING, Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.journal import LineFile
from lab.evidence.history import KeyEvent
from lab.scenario.scenario import Scenario
from lab.servers.process import ServerProgram
from lab.servers.programs.redis import RedisServer, Sentinel, info, reports
from lab.servers.server import LOOPBACK, Reachable, Server
from lab.servers.store import EventRecorder

if TYPE_CHECKING:
    from lab.servers.replication_link import ReplicationLink

COMMANDS_OF_THE_LAB = [
    "info",
    "ping",
    "hello",
    "client",
    "config",
    "psubscribe",
    "punsubscribe",
    "script",
    "replicaof",
    "psync",
    "replconf",
]
SENTINEL = Sentinel().name


def programs(scenario: Scenario) -> list[ServerProgram]:
    primary = primary_named("lock-redis", scenario)
    names = ["lock-replica", "lock-replica-2"] if scenario.store_second_replica else ["lock-replica"]
    replicas = [RedisServer(name, notify=True) for name in names]
    return [primary, *replicas, Sentinel()] if scenario.store_replica else [primary]


def primary_named(name: str, scenario: Scenario) -> RedisServer:
    """Return a server that takes writes, as the scenario requires it."""
    kind: type[RedisServer] = RedisServer
    if scenario.store_clocks:
        from lab.servers.programs.shifted_redis import ShiftedRedis

        kind = ShiftedRedis
    return kind(name, notify=True, persists=scenario.store_persists, syncs=scenario.store_syncs)


def url(running: Sequence[Reachable]) -> str:
    return f"sentinel://{running[-1].address}" if len(running) > 1 else running[0].address


def commands(running: Sequence[Server]) -> dict[str, int]:
    calls: dict[str, int] = {}
    for one in running:
        for key, figures in info(one.port, "commandstats", one.host).items() if not one.killed and not is_sentinel(one) else ():
            command = key.removeprefix("cmdstat_").partition("|")[0]
            if command not in COMMANDS_OF_THE_LAB:
                calls[command] = calls.get(command, 0) + int(figures["calls"])
    return calls


def is_sentinel(server: Server) -> bool:
    """Return whether a server is a Sentinel: it has no keys."""
    return server.name.startswith(SENTINEL)


def event_recorders(running: Sequence[Server], path: Path) -> list[EventRecorder]:
    several = len(running) > 1
    return [RedisEvents(one.port, path, one.name if several else "", host=one.host) for one in running if not is_sentinel(one)]


@contextlib.contextmanager
def joined(running: Sequence[Server]) -> Iterator[Sequence[ReplicationLink]]:
    """Let the replicas follow the primary, and let the Sentinel watch all. Yield the links from the primary to the replicas.

    Raises NotReady when the servers do not find each other.
    """
    if len(running) == 1:
        yield ()
        return
    from lab.servers.replication_link import followed  # with its proxy: a server without a replica needs none

    primary, *replicas, sentinel = running
    with followed(primary, replicas, sentinel) as links:
        yield links


CHANNELS = "__keyevent@0__:*"
ALL = frozenset("AE")  # events of all classes, on these channels


class RedisEvents:
    """Subscribes to a Redis server's keyspace events until it is closed. Each event becomes a line
    of ``server.jsonl``.
    """

    def __init__(self, port: int, path: Path, node: str = "", killed: bool = False, host: str = LOOPBACK) -> None:
        """Return when the subscription is made, so that no later event is missed.

        node: the server's name, if there are several. killed: the server does not run yet; the
        subscription follows when it does.
        """
        # no retries: they would take seconds after the server has ended, and the thread looks again by itself
        self._client = redis.Redis(host, port, socket_timeout=None, decode_responses=True, retry=Retry(NoBackoff(), 0))
        self._subscription = self._client.pubsub()
        self._subscribed = False
        if not killed:
            self._subscribe()
        self._node, self._port, self._host = node, port, host
        self._file = LineFile(path)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="redis events", daemon=True)
        self._thread.start()

    def ask_to_end(self) -> None:
        """Let the thread end when it has written the events received so far, and do not wait."""
        self._closing.set()

    def close(self) -> None:
        """Write the events received so far, and end the subscription."""
        self.ask_to_end()
        self._thread.join(timeout=2.0)
        self._subscription.close()
        self._client.close()
        self._file.close()

    @property
    def failure(self) -> OSError | None:
        """Return why an event could not be written; None if all were."""
        return self._file.failure

    @property
    def is_silenced(self) -> bool:
        """Return whether a client has made the server report less, such as a lock that sets the reports it wants to hear."""
        with contextlib.suppress(OSError):
            return not reports(self._port, self._host) >= ALL
        return False

    def _subscribe(self) -> None:
        self._subscription.psubscribe(CHANNELS)
        self._subscription.get_message(timeout=5.0)
        self._subscribed = True

    def _listen(self) -> None:
        while not self._closing.is_set():
            try:
                if not self._subscribed:
                    self._subscribe()
                while (message := self._subscription.get_message(timeout=0.1)) or not self._closing.is_set():
                    if message and message["type"] == "pmessage":
                        self._write(message)
            except (redis.RedisError, OSError, ValueError):
                self._closing.wait(0.02)  # the server has ended and may start again

    def _write(self, message: dict[str, Any]) -> None:
        event = message["channel"].rpartition(":")[2]
        self._file.append(KeyEvent(monotonic_ns(), event, message["data"], self._node))
