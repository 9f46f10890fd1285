"""A server as a process of the lab: how a program starts, when it is ready, and how it stops. Each
program has a file in ``programs/``.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lab.errors import NotReady
from lab.prerequisites import program as path_of
from lab.prerequisites import search_path
from lab.servers.ports import free_port
from lab.servers.server import LOOPBACK
from lab.servers.supervisor import Forkable, Supervisor

READY_WITHIN_S = 20.0
STOPPED_WITHIN_S = 1.0


class ServerProgram:
    """A program that the lab can start: a dataclass in ``programs/`` whose fields are its parameters."""

    # the server's name. Its folder has the same name
    name: str
    # the signal that asks the server to end: nothing that the lab's servers keep needs saving
    stop_signal = signal.SIGKILL
    fixed_port: int = 0  # 0: any free one

    @property
    def forkable(self) -> Forkable | None:
        """Return the modules that a program in Python imports first, to be forked from a process that has them, if possible."""
        return None

    @property
    def executable(self) -> str:
        """Return the name or path of the executable file."""
        raise NotImplementedError

    def argv(self, port: int, folder: Path) -> list[str]:
        """Return the arguments, for a port of 127.0.0.1 and for the server's own folder, which exists by then."""
        raise NotImplementedError

    def env(self, port: int) -> dict[str, str]:
        """Return the environment variables that the server needs in addition to PATH."""
        return {}

    def ready(self, port: int, pid: int) -> bool:
        """Return whether *this* server answers, and not another one on its port. Raises OSError while it does not answer."""
        raise NotImplementedError

    def tidy(self, folder: Path) -> None:
        """Delete the large files that are not needed any more. Called when the server has ended."""
        shutil.rmtree(folder / "data", ignore_errors=True)


@dataclass
class Running:
    """A server that runs as a process of the lab."""

    program: ServerProgram
    port: int  # on 127.0.0.1
    pid: int
    log: Path  # the file of its output
    supervisor: Supervisor = field(repr=False)
    killed: bool = False  # ended on purpose; it may be started again
    host: str = LOOPBACK
    secret: str = ""  # the lab's servers have no passwords

    @property
    def name(self) -> str:
        """Return the program's name."""
        return self.program.name

    @property
    def address(self) -> str:
        """Return ``127.0.0.1:port``."""
        return f"{self.host}:{self.port}"

    def wait(self) -> Running:
        """Wait until the server is ready. Return it. Raises NotReady, with the end of its log, if it ends or takes too long."""
        until = time.monotonic() + READY_WITHIN_S
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                if self.program.ready(self.port, self.pid):
                    return self
            if not self.running():
                break
            time.sleep(0.01)
        self.ask_to_end()
        self.end()
        raise NotReady(f"{self.name} did not come up; the end of its log:\n{last_words(self.log)}")

    def alive(self) -> bool:
        """Return whether the process runs, or was ended on purpose. False means that it was lost by accident."""
        # asked again at the end: it may have been killed before the second question, and started again before the third
        return self.running() or self.killed or self.running()

    def running(self) -> bool:
        """Return whether the process runs."""
        return self.supervisor.exit_of(self.pid) is None

    def kill(self) -> None:
        """End the process at once, on purpose. It may be started again."""
        self.killed = True
        self.supervisor.signal(self.pid, signal.SIGKILL)
        while self.running():
            time.sleep(0.002)

    def start_again(self) -> None:
        """Start the program again on the same port and in the same folder. Return when it is ready."""
        self.pid = launch(self.program, self.supervisor, self.port, self.log)
        self.wait()
        self.killed = False

    def pause(self) -> None:
        """Stop the process with SIGSTOP: it accepts commands, and answers none."""
        self.supervisor.signal(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Resume the process after a pause."""
        self.supervisor.signal(self.pid, signal.SIGCONT)

    def resume_process(self, pid: int) -> None:
        """Resume one process of the server that stopped itself. Do nothing if the process has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    def end_now(self) -> None:
        """End the process at once, even while requests are in it."""
        self.supervisor.signal(self.pid, signal.SIGKILL)

    def ask_to_end(self) -> None:
        """Send the signal that asks the process to end, and do not wait."""
        self.supervisor.signal(self.pid, signal.SIGCONT)  # a stopped process handles no other signal
        self.supervisor.signal(self.pid, self.program.stop_signal)

    def end(self) -> None:
        """Give the process a moment to end as it was asked to, then kill it."""
        until = time.monotonic() + STOPPED_WITHIN_S
        while self.running() and time.monotonic() < until:
            time.sleep(0.005)
        self.supervisor.signal(self.pid, signal.SIGKILL)
        self.program.tidy(self.log.parent)


def stop_all(several: Iterable[Running]) -> None:
    """Stop several servers at the same time."""
    with contextlib.ExitStack() as ending:  # an interrupt during the wait for one server still ends the rest
        for running in several:
            ending.callback(running.end)
            running.ask_to_end()


def start(program: ServerProgram, supervisor: Supervisor, folder: Path) -> Running:
    """Start a program on a free port, and do not wait until it is ready: several can start at the same time.

    Its folder is ``folder/<name>``, with its log inside. Raises MissingProgram, NotReady.
    """
    home = folder / program.name
    home.mkdir(parents=True, exist_ok=True)
    port, log = program.fixed_port or free_port(), home / "log"
    return Running(program, port, launch(program, supervisor, port, log), log, supervisor)


def launch(program: ServerProgram, supervisor: Supervisor, port: int, log: Path) -> int:
    """Start the process through the supervisor, and return its pid. Raises MissingProgram, NotReady."""
    argv = program.argv(port, log.parent)
    command, env = [path_of(program.executable), *argv], _plain() | program.env(port)
    try:
        return supervisor.start(command, env, log.parent, log, program.forkable)
    except OSError as error:
        raise NotReady(f"{program.name} could not be started: {error}") from error


def prepare(forkable: Forkable, supervisor: Supervisor) -> None:
    """Let a program's modules be imported, while other servers start."""
    supervisor.prepare(forkable, _plain())


def _plain() -> dict[str, str]:
    """Return the environment of all programs."""
    return {"PATH": search_path(), "LC_ALL": "C.UTF-8", "PYTHONUNBUFFERED": "1"}


def last_words(log: Path, lines: int = 12) -> str:
    """Return the end of a log, for an error message."""
    if not log.exists():
        return "(it wrote nothing)"
    with log.open(encoding="utf-8", errors="replace") as file:
        return "".join(deque(file, lines)).rstrip() or "(it wrote nothing)"


def ends_of_logs(names: Iterable[str], logs: Path) -> str:
    """Return servers with the end of each one's log, for an error message."""
    return "\n".join(f"{name}; the end of its log:\n{last_words(logs / name / 'log')}" for name in names)
