"""The lab's side of the supervisor: start, watch and signal servers through the process of ``supervisor_process.py``.

Lab and supervisor process each end all servers when the other one is gone. If the supervisor process was killed, the lab kills
the servers that still run, and ends as an interrupt ends it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.interrupts import Interrupted, interrupt, interruptible
from lab.paths import HOME
from lab.servers import ports, supervisor_process
from lab.servers.supervisor_process import LONGEST_END_S, adopt_orphans, descendants, kill_all

LONGEST_ANSWER_S = 100.0  # a supervisor process that answers later was stopped: it waits for a fork server, but not so long
FORKS = sys.platform == "linux"  # a forked program becomes a child of a subreaper, which other systems do not have


@dataclass(frozen=True)
class Forkable:
    """The modules that a program in Python imports before it begins. Such a program need not be started: it can be forked."""

    entry: str  # the program, as module:function
    modules: tuple[str, ...]  # imported before the fork
    home: str = str(HOME)  # the folder of the project's packages
    # how many processes fork it, in turn: programs forked from one process share its random numbers, such as the seed of hash()
    interpreters: int = 1


class SupervisorGone(Interrupted):
    """The supervisor process was killed from outside. The lab has ended all servers."""

    def __init__(self) -> None:
        super().__init__("the process that supervises the servers was killed, so the lab ended all servers")


class Supervisor:
    """Asks the supervisor process to start, watch and signal servers.

    When the supervisor process is gone, the first question ends all servers and raises SupervisorGone. From then on every
    server counts as killed, and none can be started.
    """

    def __init__(self, forks: bool = FORKS) -> None:
        """Start the supervisor process. forks: whether programs in Python are forked; otherwise all are started."""
        self._forks = forks
        held = ports.block().held  # each program inherits it
        adopt_orphans()  # when the supervisor process is killed, its descendants become the lab's
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-S", "-E", supervisor_process.__file__, str(theirs.fileno()), str(held)]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno(), held], start_new_session=True)
        self._socket = ours
        self._socket.settimeout(LONGEST_ANSWER_S)
        self._one_at_a_time = threading.Lock()  # the thread of the fault injector sends requests as well
        self._received = b""
        self._number = 0
        self._sessions: set[int] = set()  # each program leads a session, which its workers belong to
        self._gone = False
        self.pid = self._process.pid

    def prepare(self, forked: Forkable, env: dict[str, str]) -> None:
        """Let a fork server import a program's modules, and do not wait for it. Raises SupervisorGone."""
        if self._forks and not self._gone:
            self._ask(False, prepare=asdict(forked), env=env)

    def start(self, argv: list[str], env: dict[str, str], cwd: Path, log: Path, forked: Forkable | None = None) -> int:
        """Start a program in a session of its own, and return its pid. Raises OSError, SupervisorGone.

        The program's output is appended to ``log``. forked: fork the program from a process that has imported its modules.
        """
        if self._gone:
            raise SupervisorGone
        about = {"fork": asdict(forked)} if forked and self._forks else {}
        answer = self._ask(start=argv, env=env, cwd=str(cwd), log=str(log), **about)
        if "error" in answer:
            raise OSError(answer["error"])
        self._sessions.add(int(answer["pid"]))
        return int(answer["pid"])

    def exit_of(self, pid: int) -> int | None:
        """Return the exit status of a program (negative: the signal that ended it), or None while it runs."""
        status: int | None = -signal.SIGKILL if self._gone else self._ask(exit_of=pid)["exit"]
        return status

    def signal(self, pid: int, number: int) -> bool:
        """Send a signal to a program and its descendants. Return False if the program had ended."""
        return not self._gone and bool(self._ask(signal=number, pid=pid)["sent"])

    def end_all(self) -> None:
        """Kill all programs that still run. Return when they have ended. The supervisor process stays."""
        if not self._gone:
            self._ask(end_all=True)
        self._sessions.clear()

    def close(self) -> None:
        """Close the socket: the supervisor process kills all that still run and ends. Return when it has ended."""
        self._gone = True
        self._socket.close()
        try:
            self._process.wait(LONGEST_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        kill_all(self._orphans)

    def _ask(self, waits: bool = True, /, **request: Any) -> dict[str, Any]:
        try:
            with self._one_at_a_time:
                self._number += 1
                # not through a buffered file: an interrupt in it would leave half a line, or send a line twice
                self._socket.sendall(json.dumps(request | {"number": self._number}).encode() + b"\n")
                answer: dict[str, Any] = {}
                while waits and answer.get("number") != self._number:  # the answer to a request that did not wait
                    answer = json.loads(self._line())
                return answer
        except (OSError, ValueError):
            self._gone = True
            self._process.kill()  # it may only be stopped
            gone = SupervisorGone()
            interrupt(gone)  # it is raised in this thread alone, which may not be the main thread
            kill_all(self._orphans)
            raise gone from None

    def _line(self) -> bytes:
        """Return the next line of the supervisor process; empty when it has ended."""
        while b"\n" not in self._received:
            if not (more := self._socket.recv(65536)):
                return b""
            self._received += more
        line, _, self._received = self._received.partition(b"\n")
        return line

    def _orphans(self) -> list[int]:
        """Return the pids of servers that the lab has inherited, and of no other program that got the pid of a server."""
        found = []
        for pid in descendants(os.getpid()) if self._sessions else ():
            with contextlib.suppress(ProcessLookupError):
                found += [pid] if os.getsid(pid) in self._sessions else []
        return found


_of_all: list[Supervisor] = []  # the supervisor of all runs of this process, if they have one


@contextlib.contextmanager
def supervised() -> Iterator[Supervisor]:
    """Yield a supervisor for the servers that the block starts. An interrupt ends the block; no server outlives it."""
    with interruptible():
        supervisor = _of_all[0] if _of_all else Supervisor()
        try:
            yield supervisor
        finally:
            if _of_all:
                supervisor.end_all()
            else:
                supervisor.close()


@contextlib.contextmanager
def one_supervisor() -> Iterator[Supervisor]:
    """While the block runs, let the runs of this process have one supervisor, which is yielded: the modules that a fork server
    has imported for one run serve the next run.
    """
    _of_all.append(Supervisor())
    try:
        yield _of_all[0]
    finally:
        _of_all.pop().close()
