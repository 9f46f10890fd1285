"""Hold each thread of each replica at each of its commands, until it gets an order (``app/request/steps.py``)."""

from __future__ import annotations

import contextlib
import http.client
import json
import selectors
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic_ns
from typing import Any

from app.journal import LineFile
from app.request.steps import GO, REPLY
from lab.evidence.history import REQUESTS, Request, outcome_of
from lab.servers.ports import free_port
from lab.servers.server import LOOPBACK, Server

CHUNK = 1 << 16


@dataclass(eq=False)
class HeldThread:
    """One thread of a replica, and the command at which it waits."""

    connection: socket.socket
    unread: bytes = b""
    # the replica's name and process, and the request that it serves; empty for a thread that serves none
    replica: str = ""
    pid: int = 0
    request: str = ""
    # the words of the command at which it waits; empty while it runs
    words: tuple[str, ...] = ()
    # the replies since its last order
    replies: list[Any] = field(default_factory=list)
    gone: bool = False


class Controller:
    """A server to which each thread of each replica connects. Only ``wait_until`` reads the reports; no thread runs here."""

    def __init__(self) -> None:
        self.threads: list[HeldThread] = []
        # whether no thread is held any more
        self.is_free = False
        self._server = socket.create_server((LOOPBACK, free_port()), backlog=64)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._server, selectors.EVENT_READ)

    @property
    def address(self) -> str:
        """Return the address, as ``host:port``."""
        return f"{LOOPBACK}:{self._server.getsockname()[1]}"

    def wait_until(self, ready: Callable[[], bool], within_s: float) -> bool:
        """Read the reports of the replicas until ``ready`` returns True. Return False when the time is over."""
        until_s = time.monotonic() + within_s
        while not ready():
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return False
            for key, _ in self._selector.select(min(left_s, 0.05)):
                if key.data is None:
                    self._accept()
                else:
                    self._read(key.data)
        return True

    def pass_time(self, seconds: float) -> None:
        """Read the reports of the replicas for this many seconds."""
        self.wait_until(lambda: False, seconds)

    def order(self, thread: HeldThread, order: str = GO) -> None:
        """Let a thread continue. order: how its command is executed."""
        thread.words = ()
        thread.replies.clear()
        with contextlib.suppress(OSError):  # its process may have been killed
            thread.connection.sendall(order.encode() + b"\n")

    def free(self) -> None:
        """Let all threads continue, now and at all later commands."""
        self.is_free = True
        for thread in self.threads:
            if thread.words:
                self.order(thread)

    def close(self) -> None:
        """Close all connections. Replicas without a controller do not wait."""
        self._selector.close()
        self._server.close()
        for thread in self.threads:
            thread.connection.close()

    def _accept(self) -> None:
        connection, _ = self._server.accept()
        thread = HeldThread(connection)
        self.threads.append(thread)
        self._selector.register(connection, selectors.EVENT_READ, thread)

    def _read(self, thread: HeldThread) -> None:
        try:
            data = thread.connection.recv(CHUNK)
        except OSError:
            data = b""
        if not data:
            thread.gone = True
            self._selector.unregister(thread.connection)
            return
        *lines, thread.unread = (thread.unread + data).split(b"\n")
        for line in lines:
            self._take(thread, json.loads(line))

    def _take(self, thread: HeldThread, report: dict[str, Any]) -> None:
        thread.replica, thread.pid, thread.request = report["replica"], report["pid"], report["request"]
        if report["at"] == REPLY:
            thread.replies.append(report["reply"])
        else:
            thread.words = tuple(report["words"])
            if self.is_free:
                self.order(thread)


def send_request(request: str, replica: Server, folder: Path, timeout_s: float) -> None:
    """Send one request, and record it when it has ended."""
    start_ns = monotonic_ns()
    status, name, value = 0, "", None
    connection = http.client.HTTPConnection(replica.host, replica.port, timeout=timeout_s)
    # without an answer, or with half of one, the outcome is unknown
    with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException, ValueError):
        connection.request("POST", "/increment", headers={"X-Request-ID": request})
        response = connection.getresponse()
        status, body = response.status, json.loads(response.read())
        name, value = body.get("replica", ""), body.get("value")
    times = start_ns, start_ns, monotonic_ns()
    LineFile(folder / REQUESTS).append(Request(request, *times, outcome_of(status, name), status, name, value))
