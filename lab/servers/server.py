"""A server that is running, wherever it runs: as a process of the lab (``lab/servers/process.py``)
or in a container.
"""

from __future__ import annotations

from typing import Protocol

LOOPBACK = "127.0.0.1"


class Reachable(Protocol):
    """An address that a client can connect to."""

    @property
    def address(self) -> str:
        """Return ``host:port``."""


class Server(Protocol):
    """The figures that the lab reads from a server, and the actions of faults on it."""

    @property
    def name(self) -> str:
        """Return the server's name, unique among the servers of a run."""

    @property
    def host(self) -> str:
        """Return the host at which the lab reaches the server."""

    @property
    def port(self) -> int:
        """Return the port at which the lab reaches the server."""

    @property
    def address(self) -> str:
        """Return ``host:port``, at which the replicas and the load reach the server."""

    @property
    def secret(self) -> str:
        """Return the password for the lab's own queries; empty if the server needs none."""

    @property
    def killed(self) -> bool:
        """Return whether the lab ended the server on purpose. It may be started again."""

    def alive(self) -> bool:
        """Return whether the server runs, or was ended on purpose. False means that it was lost by accident."""

    def kill(self) -> None:
        """End the server at once, on purpose. It may be started again."""

    def start_again(self) -> None:
        """Start the server again at its address. Return when it is ready."""

    def pause(self) -> None:
        """Stop the server with SIGSTOP: it accepts commands, and answers none."""

    def resume(self) -> None:
        """Resume the server after a pause."""

    def resume_process(self, pid: int) -> None:
        """Resume one process of the server that stopped itself. Do nothing if the process has ended."""

    def end_now(self) -> None:
        """End the server at once, even while requests are in it."""
