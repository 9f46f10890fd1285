"""A server that is up, wherever it runs: as a process of the lab's own (``lab/servers/process.py``), or in a container."""

from __future__ import annotations

from typing import Any, Protocol

LOOPBACK = "127.0.0.1"


class Reachable(Protocol):
    """Something to connect to."""

    @property
    def address(self) -> str:
        """``host:port``."""


class Server(Protocol):
    """What the lab reads off a server, and what a fault may do to it. away: it was ended on purpose."""

    @property
    def name(self) -> str:
        """Its own, among the servers of a run."""

    @property
    def host(self) -> str:
        """Where the lab reaches it."""

    @property
    def port(self) -> int:
        """And at which port."""

    @property
    def address(self) -> str:
        """``host:port``, where the replicas and the load reach it."""

    @property
    def secret(self) -> str:
        """The password of the lab's own questions; empty where none is asked for."""

    @property
    def killed(self) -> bool:
        """Whether it was ended on purpose, perhaps to come back."""

    def alive(self) -> bool:
        """Whether it still runs, or was ended on purpose: it was not lost by accident."""

    def kill(self) -> None:
        """End it at once, on purpose; it may come back."""

    def start_again(self) -> None:
        """Start it again at its address; returns when it is ready."""

    def restart(self) -> None:
        """Kill it and have it come back."""

    def pause(self) -> None:
        """Stop it where it is: it takes what it is sent, and answers nothing."""

    def resume(self) -> None:
        """Let it go on."""

    def resume_process(self, pid: int) -> None:
        """Resume one of its processes that stopped itself; do nothing if the process has ended."""

    def end_now(self) -> None:
        """Have it end at once, whoever is still inside."""


class LoadWorker(Protocol):
    """A Locust worker in a container of its own."""

    @property
    def name(self) -> str:
        """Its own, among the workers of a run."""

    def begin_run(self, **order: Any) -> None:
        """Have it start anew for this run. Raises OSError, NotReady."""

    def end_run(self) -> None:
        """End its part in this run."""

    def ask(self, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        """Ask the worker's agent. Raises OSError."""

    def record_from(self, start: int) -> bytes:
        """Return its record from a byte on, where that is not in a shared folder. Raises OSError."""

    def lab_address(self) -> str:
        """Return the lab's address as this worker reaches it. Raises OSError."""
