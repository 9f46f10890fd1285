"""A server the lab starts: how to start it, when it is ready, how to stop it. Nothing else; the shelf has one a file."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil

from lab.errors import NotReady
from lab.prerequisites import program as path_of
from lab.prerequisites import search_path
from lab.servers.server import LOOPBACK
from lab.servers.supervisor import Supervisor

READY_WITHIN_S = 20.0
STOPPED_WITHIN_S = 1.0
TRIES = 3  # a port can be taken between choosing and binding it
PORTS = range(20_000, 32_000)  # below the range from which the kernel gives ports to outgoing connections


class Program(Protocol):
    """One server: a dataclass on the shelf whose fields are its parameters.

    One that leaves more behind than anybody will read has a ``tidy(folder)`` as well, asked when it was told to end.
    """

    @property
    def name(self) -> str:
        """Its own, by which its folder is called."""

    @property
    def executable(self) -> str:
        """The executable."""

    @property
    def stop_signal(self) -> signal.Signals:
        """What asks it to end."""

    def argv(self, port: int, folder: Path) -> list[str]:
        """The command line, for a port of 127.0.0.1 and a folder of its own to write in (made by then)."""

    def env(self, port: int) -> dict[str, str]:
        """What it needs in its environment, beside PATH."""

    def ready(self, port: int, pid: int) -> bool:
        """Whether *this* server, and no other that has its port, answers. May raise OSError while it does not."""


@dataclass
class Running:
    """A program that is up: its port and its pid, and the log it writes."""

    program: Program
    port: int
    pid: int
    log: Path
    supervisor: Supervisor = field(repr=False)
    killed: bool = False
    host: str = LOOPBACK
    secret: str = ""

    @property
    def name(self) -> str:
        """The program's."""
        return self.program.name

    @property
    def address(self) -> str:
        """``127.0.0.1:port``."""
        return f"{self.host}:{self.port}"

    def alive(self) -> bool:
        """Whether its process still runs, or was ended on purpose: it was not lost by accident."""
        return self.killed or self.running()

    def running(self) -> bool:
        """Whether its process runs."""
        return self.supervisor.exit_of(self.pid) is None

    def kill(self) -> None:
        """End it at once, on purpose; it may come back."""
        self.killed = True
        self.supervisor.signal(self.pid, signal.SIGKILL)
        while self.running():
            time.sleep(0.002)

    def start_again(self) -> None:
        """Start it again on the same port and with the same folder; returns when it is ready."""
        self.pid = launch(self.program, self.supervisor, self.port, self.log)
        Starting(self, self.log.parent.parent, tries_left=1).wait()
        self.killed = False

    def restart(self) -> None:
        """Kill it and have it come back."""
        self.kill()
        self.start_again()

    def pause(self) -> None:
        """Stop it where it is: it takes what it is sent, and answers nothing."""
        self.supervisor.signal(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self.supervisor.signal(self.pid, signal.SIGCONT)

    def resume_process(self, pid: int) -> None:
        """Resume one of its processes that stopped itself; do nothing if the process has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    def end_now(self) -> None:
        """Have it end at once, whoever is still inside."""
        self.supervisor.signal(self.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and make it end when it does not."""
        self.ask_to_end()
        self.end()

    def ask_to_end(self) -> None:
        """Tell it, and do not wait."""
        self.supervisor.signal(self.pid, signal.SIGCONT)  # a stopped process hears nothing else
        self.supervisor.signal(self.pid, self.program.stop_signal)

    def end(self) -> None:
        """Give it a moment to do as it was asked, and make it end when it does not."""
        until = time.monotonic() + STOPPED_WITHIN_S
        while self.running() and time.monotonic() < until:
            time.sleep(0.005)
        self.supervisor.signal(self.pid, signal.SIGKILL)
        getattr(self.program, "tidy", _nothing)(self.log.parent)  # what nobody will read, once it has ended


def stop_all(several: Iterable[Running]) -> None:
    """Stop servers that need not wait for each other."""
    with contextlib.ExitStack() as ending:  # an interrupt while one is awaited leaves none of the others
        for running in several:
            ending.callback(running.end)
            running.ask_to_end()


def _nothing(_folder: Path) -> None:
    """Of a program that leaves little."""


@dataclass
class Starting:
    """A program whose process runs and which is not ready yet: several can be started side by side."""

    running: Running
    folder: Path
    tries_left: int

    def wait(self) -> Running:
        """Block until it is ready. Raises NotReady with its last lines when it ends or takes too long."""
        until = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                if self.running.program.ready(self.running.port, self.running.pid):
                    return self.running
            if not self.running.running():
                break
            time.sleep(0.01)
        words = last_words(self.running.log)
        self.running.stop()
        if self.tries_left > 1 and "in use" in words.lower():
            return start(self.running.program, self.running.supervisor, self.folder, self.tries_left - 1).wait()
        raise NotReady(f"{self.running.program.name} did not come up; the end of its log:\n{words}")


def start(program: Program, supervisor: Supervisor, folder: Path, tries: int = TRIES) -> Starting:
    """Start it on a free port, with ``folder/<name>`` to write in and its log there. Raises MissingProgram, NotReady."""
    home = folder / program.name
    home.mkdir(parents=True, exist_ok=True)
    port = free_port()
    log = home / "log"
    return Starting(Running(program, port, launch(program, supervisor, port, log), log, supervisor), folder, tries)


def launch(program: Program, supervisor: Supervisor, port: int, log: Path) -> int:
    """Have the supervisor start the process; its pid. Raises MissingProgram, NotReady."""
    argv = program.argv(port, log.parent)
    env = {"PATH": search_path(), "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"} | program.env(port)
    try:
        return supervisor.start([path_of(program.executable), *argv], env, log.parent, log)
    except OSError as error:
        raise NotReady(f"{program.name} could not be started: {error}") from error


_offered: deque[int] = deque(maxlen=1000)  # by free_port of late, and perhaps not yet bound


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on now, nor was offered here of late: servers start side by side. Whoever
    starts one on it checks that it got it.
    """
    for port in random.sample(PORTS, 200):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            if port not in _offered:
                _offered.append(port)
                return port
    raise NotReady(f"no free port found between {PORTS.start} and {PORTS.stop} on 127.0.0.1")


def last_words(log: Path, lines: int = 12) -> str:
    """The end of a log, for an error message."""
    if not log.exists():
        return "(it wrote nothing)"
    with log.open(encoding="utf-8", errors="replace") as file:
        return "".join(deque(file, lines)).rstrip() or "(it wrote nothing)"


def ends_of_logs(names: Iterable[str], logs: Path) -> str:
    """Return servers with the end of each one's log, for an error message."""
    return "\n".join(f"{name}; the end of its log:\n{last_words(logs / name / 'log')}" for name in names)


def listens(pid: int, port: int) -> bool:
    """Return whether this process itself listens on the port; False where that cannot be seen any more.

    This is how a server is recognised that reports nothing of its identity.
    """
    try:
        found = psutil.Process(pid).net_connections(kind="tcp")
    except psutil.Error:
        return False
    return any(one.status == psutil.CONN_LISTEN and one.laddr.port == port for one in found)
