"""Reach servers in containers for a run: stores by their names, replicas and workers by their agents."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.failpoints import LEFT, NOTE, PASSED
from lab.containers import agent
from lab.containers.clocks import Reading, read
from lab.containers.host_control import KILL, PAUSE, START, UNPAUSE, HostControl
from lab.errors import NotReady
from lab.servers.programs.etcd import status
from lab.servers.programs.mariadb import ask
from lab.servers.programs.redis import info
from lab.servers.programs.zookeeper import four_letter
from lab.servers.server import Server

READY_WITHIN_S = 60.0  # a database that first makes its tables needs long
LOOKED_AT_S = 0.5  # a server that answered within this time is not checked again
FETCH_EVERY_S = 0.2
RELAY_EVERY_S = 0.01  # often, because a request at a failpoint waits for the lab's answer
PORTS = {"redis": 6379, "redis_nodes": 6379, "zookeeper": 2181, "etcd": 2379, "mysql": 3306}
PROGRAMS = {"redis": "redis-server", "redis_nodes": "redis-server", "zookeeper": "zookeeper", "etcd": "etcd", "mysql": "mariadbd"}


def _etcd_version(server: Server) -> str:
    answer = status(server.port, server.host)
    return str(answer["version"]) if answer["leader"] != "0" else ""


VERSIONS: dict[str, Callable[[Server], str]] = {  # empty until a server of the store is ready; they raise OSError
    "redis": lambda server: str(info(server.port, "server", server.host)["redis_version"]),
    "zookeeper": lambda server: four_letter(server.port, "srvr", server.host).partition("version: ")[2].partition(",")[0],
    "etcd": _etcd_version,
    "mysql": lambda server: str(ask(server.port, "SELECT VERSION()", server.host, server.secret)[0][0]),
}
VERSIONS["redis_nodes"] = VERSIONS["redis"]


def until_ready(name: str, ready: Callable[[], Any], within_s: float = READY_WITHIN_S, otherwise: str = "") -> None:
    """Wait until ``ready`` returns true. Raises NotReady."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if ready():
                return
        time.sleep(0.02)
    raise NotReady(f"{name} did not come up within {within_s:.0f} s{otherwise}")


@dataclass
class ContainerServer:
    """A server in another container."""

    name: str
    port: int
    store: str = ""  # the store's name; empty if the server is not a store
    secret: str = field(default="", repr=False)
    control: HostControl | None = None  # None: this container cannot stop or start others
    killed: bool = False
    paused: bool = False
    _seen_s: float = 0.0

    @property
    def host(self) -> str:
        return self.name

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def version(self) -> str:
        """Return the version of the store, as the server tells it; empty until it is ready. Raises OSError."""
        return VERSIONS[self.store](self)

    def alive(self) -> bool:
        """Return whether the server accepts connections. An unknown name is a container that has ended."""
        if self.killed or self.paused or time.monotonic() - self._seen_s < LOOKED_AT_S:
            return True
        try:
            socket.create_connection((self.host, self.port), timeout=2.0).close()
        except TimeoutError:
            return True  # slow is not dead
        except OSError:
            return False
        self._seen_s = time.monotonic()
        return True

    def kill(self) -> None:
        self.killed = True
        self._ask_control(KILL)

    def start_again(self) -> None:
        self._ask_control(START)
        until_ready(self.name, self.version)
        self.killed = False

    def pause(self) -> None:
        self.paused = True
        self._ask_control(PAUSE)

    def resume(self) -> None:
        if self.paused:
            self._ask_control(UNPAUSE)
            self.paused = False

    def resume_process(self, pid: int) -> None:
        """Do nothing: no process of a store stops itself."""

    def end_now(self) -> None:
        """Do nothing: the server stays for the next run."""

    def restore(self) -> None:
        """Undo the effects of a run's faults on the server: resume it, or start it again."""
        with contextlib.suppress(OSError):
            self.resume()
            if self.killed:
                self.start_again()

    def _ask_control(self, action: str) -> None:
        if self.control is None:
            raise OSError(
                f"cannot {action} {self.name}: this run was not started from the host, and containers may not control Docker; "
                "start it there: make scenario … ENGINE=docker"
            )
        self.control.do(action, self.name)


@dataclass
class AgentServer(ContainerServer):
    """A replica or a worker; its agent starts and ends it."""

    place: str = ""

    @property
    def host(self) -> str:
        return self.place

    def begin_run(self, **order: Any) -> None:
        """Start the process again for this run, with these settings or options. Raises OSError, NotReady."""
        self.ask("PUT", "/order", json.dumps(order))

    def clock(self) -> Reading:
        """Return the container's clock, compared with the lab's own. Raises OSError."""
        return read(lambda: self.ask("GET", "/"))

    def end_run(self) -> None:
        """Return to the process that the container has outside any run."""
        with contextlib.suppress(OSError):
            self.ask("DELETE", "/order")

    def alive(self) -> bool:
        if time.monotonic() - self._seen_s < LOOKED_AT_S:
            return True
        self._seen_s = time.monotonic()
        try:
            return bool(self.ask("GET", "/")["running"])
        except TimeoutError:
            return True
        except OSError:
            return False

    def resume_process(self, pid: int) -> None:
        self.ask("POST", f"/resume?pid={pid}")

    def end_now(self) -> None:
        with contextlib.suppress(OSError):
            self.ask("POST", "/kill")

    def record_from(self, start: int) -> bytes:
        """Return the record from a byte on. Raises OSError."""
        return self._ask("GET", f"/record?from={start}")

    def lab_address(self) -> str:
        """Return the address at which the agent's container reaches this container. Raises OSError."""
        with socket.create_connection((self.place, agent.PORT), timeout=2.0) as connection:
            return str(connection.getsockname()[0])

    def ask(self, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        """Send a request to the agent, and return its answer. Raises OSError."""
        answer: dict[str, Any] = json.loads(self._ask(method, path, body))
        return answer

    def _ask(self, method: str, path: str, body: str | None = None) -> bytes:
        connection = http.client.HTTPConnection(self.place, agent.PORT, timeout=10.0)
        try:
            connection.request(method, path, body)
            response = connection.getresponse()
            words = response.read()
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()
        if response.status != 200:
            raise OSError(f"{self.name}: {words.decode(errors='replace')}")
        return words


ONE_LATE_WRITE = threading.Lock()


class Relay(threading.Thread):
    """Copy a container's record into the run folder, and the notes of the run's faults in both directions."""

    def __init__(
        self, source: AgentServer, record: Path, faults: Path | None = None, ahead_ns: int = 0, peers: Sequence[AgentServer] = ()
    ) -> None:
        """Begin with an empty record.

        faults: the folder of the faults; None without faults. ahead_ns: how far the container's clock is ahead of the lab's:
        here, a note is stamped by the lab's clock, because the lab ends the fault by it. peers: all other replicas.
        """
        super().__init__(name=f"relay of {source.name}", daemon=True)
        self.source, self.path, self.faults, self.ahead_ns, self.peers = source, record, faults, ahead_ns, peers
        self._at, self._torn, self._fetched_s = 0, b"", 0.0
        self._over = threading.Event()
        record.touch()

    def run(self) -> None:
        while not self._over.wait(RELAY_EVERY_S if self.faults else FETCH_EVERY_S):
            with contextlib.suppress(OSError):
                if self.faults:
                    self.exchange(self.faults)
                if time.monotonic() - self._fetched_s >= FETCH_EVERY_S:
                    self.fetch()

    def exchange(self, faults: Path) -> None:
        """Copy new notes of faults from the container to the folder, and from the folder to the container. Raises OSError."""
        notes: dict[str, str] = self.source.ask("GET", "/faults")
        for name, text in notes.items():
            if not (faults / name).exists():
                draft = faults / f".{name}.{self.source.name}"
                draft.write_text(self._stamped_here(text) if name.endswith(NOTE) else text, encoding="utf-8")
                draft.rename(faults / name)
                if name.endswith(PASSED):
                    self._let_write_late(name.removesuffix(PASSED))
        for path in faults.glob("[!.]*"):
            if path.suffix in agent.NOTES and path.name not in notes:
                self.source.ask("PUT", f"/faults/{path.name}", path.read_text(encoding="utf-8"))

    def _let_write_late(self, fault: str) -> None:
        """Let a request of this replica write late, while no request of another replica is between its read and its write."""
        with ONE_LATE_WRITE:
            for peer in self.peers:
                with contextlib.suppress(OSError):  # the replica has ended, or a request stays inside
                    peer.ask("PUT", "/gate/closed")
            self.source.ask("PUT", "/gate/open")
            while f"{fault}{LEFT}" not in self.source.ask("GET", "/faults") and not self._over.wait(RELAY_EVERY_S):
                pass
            for replica in (*self.peers, self.source):
                with contextlib.suppress(OSError):
                    replica.ask("PUT", "/gate/shared")

    def _stamped_here(self, note: str) -> str:
        record = json.loads(note)
        return json.dumps(record | {"at_ns": record["at_ns"] - self.ahead_ns})

    def fetch(self) -> bool:
        """Copy the new part of the record, in complete lines. Return whether there was any. Raises OSError."""
        self._fetched_s = time.monotonic()
        fresh = self.source.record_from(self._at)
        self._at += len(fresh)
        lines, newline, self._torn = (self._torn + fresh).rpartition(b"\n")
        with self.path.open("ab") as file:
            file.write(lines + newline)
        return bool(fresh)

    def close(self) -> None:
        """Copy the rest of the record, and stop. Raises OSError if that fails: then evidence is missing."""
        self._over.set()
        self.join()
        while self.fetch():
            pass
