"""Record a Redis server's keyspace events, as evidence that does not come from the replicas."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from time import monotonic_ns
from typing import Any

import msgspec
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.journal import LineFile
from lab.evidence.history import KeyEvent
from lab.servers.programs.redis import LABS_OWN, reports
from lab.servers.server import LOOPBACK

CHANNELS = "__keyevent@0__:*"
ALL = frozenset("AE")  # events of all classes, on these channels


class RedisEvents:
    """Subscribes to a Redis server's keyspace events until it is closed. Each event becomes a line
    of ``server.jsonl``.
    """

    def __init__(self, port: int, path: Path, node: str = "", killed: bool = False, host: str = LOOPBACK) -> None:
        """Return when the subscription stands, so that no later event is missed.

        node: the server's name, where there are several. killed: the server does not run yet; the
        subscription follows when it does.
        """
        # no retries: they would take seconds after the server has ended, and the thread looks again by itself
        self._client = redis.Redis(
            host, port, socket_timeout=None, decode_responses=True, retry=Retry(NoBackoff(), 0), client_name=LABS_OWN
        )
        self._subscription = self._client.pubsub()
        self._subscribed = False
        if not killed:
            self._subscribe()
        self._node, self._port, self._host = node, port, host
        self._file = LineFile(path)
        self._encode = msgspec.json.Encoder().encode
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
        """Return whether somebody has made the server report less, as a lock that sets what it wants to hear itself."""
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
        self._file.append(self._encode(KeyEvent(monotonic_ns(), event, message["data"], self._node)) + b"\n")
