"""The supervisor: a process that starts the lab's servers, and ends all of them when the lab is
gone.

It runs in a session of its own, so neither Ctrl-C nor a kill of the lab's process group reaches it.
It is a child subreaper, so the orphans of its children become its own children. It holds one end
of a socket, and the lab holds the other. When the lab's end closes, however the lab ended, the supervisor kills every
descendant and exits. (PR_SET_PDEATHSIG alone leaves the workers of nginx and gunicorn running.
Supervisors such as supervisord or circus keep processes running, and none of them is a subreaper.)

Requests and answers are lines of JSON: ``{"start": argv, "env", "cwd", "log"}`` → ``{"pid"}``,
``{"exit_of": pid}`` → ``{"exit"}`` (null while it runs), ``{"signal": number, "pid"}`` →
``{"sent"}``, ``{"descendants": 0}`` → ``{"pids"}``. Each request has a ``number``, which the answer
repeats. The module uses the standard library only, so that it starts fast.

The subreaper exists on Linux only. On macOS an orphan becomes a child of launchd, and the supervisor no
longer finds it. So a worker is ended there only if its parent still runs when the supervisor lists the
processes, or if the lab signals the process group before.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

PR_SET_CHILD_SUBREAPER = 36
LONGEST_END_S = 5.0


class Supervisor:
    """The lab's side: asks the supervisor process to start, watch and signal servers."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-S", "-E", __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], start_new_session=True)
        self._socket = ours
        self._one_at_a_time = threading.Lock()  # the thread of the fault injector sends requests as well
        self._received = b""
        self._number = 0
        self.pid = self._process.pid

    def start(self, argv: list[str], env: dict[str, str], cwd: Path, log: Path) -> int:
        """Start a program in a session of its own, and return its pid. Raises OSError.

        The program's output is appended to ``log``.
        """
        answer = self._ask(start=argv, env=env, cwd=str(cwd), log=str(log))
        if "error" in answer:
            raise OSError(answer["error"])
        return int(answer["pid"])

    def exit_of(self, pid: int) -> int | None:
        """Return the exit status of a program (negative: the signal that ended it), or None while it runs."""
        status: int | None = self._ask(exit_of=pid)["exit"]
        return status

    def signal(self, pid: int, number: int) -> bool:
        """Send a signal to the process group of a program. Return False if the program had ended."""
        return bool(self._ask(signal=number, pid=pid)["sent"])

    def descendants(self) -> list[int]:
        """Return the pids of all programs that were started here, and of their descendants."""
        return list(self._ask(descendants=0)["pids"])

    def close(self) -> None:
        """Close the socket: the supervisor process kills all that still run and ends. Return when it has ended."""
        self._socket.close()
        try:
            self._process.wait(LONGEST_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, **request: Any) -> dict[str, Any]:
        try:
            with self._one_at_a_time:
                self._number += 1
                # not through a buffered file: an interrupt in it would leave half a line, or send a line twice
                self._socket.sendall(json.dumps(request | {"number": self._number}).encode() + b"\n")
                while True:
                    answer: dict[str, Any] = json.loads(self._line())
                    if answer["number"] == self._number:  # another number answers an earlier request, whose wait was interrupted
                        return answer
        except (OSError, ValueError) as error:
            raise ConnectionError("the process that supervises the servers has ended") from error

    def _line(self) -> bytes:
        """Return the next line of the supervisor process; empty when it has ended."""
        while b"\n" not in self._received:
            if not (more := self._socket.recv(65536)):
                return b""
            self._received += more
        line, _, self._received = self._received.partition(b"\n")
        return line


class SupervisorProcess:
    """The supervisor process's side: what it started, and how it ends all of it."""

    def __init__(self) -> None:
        self.started: dict[int, subprocess.Popen[bytes]] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "start" in request:
            return self.start(request)
        if "exit_of" in request:
            return {"exit": self.started[request["exit_of"]].poll()}
        if "signal" in request:
            return {"sent": self.signal(request["pid"], request["signal"])}
        return {"pids": descendants(os.getpid())}

    def start(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            with Path(request["log"]).open("ab") as log:
                process = subprocess.Popen(
                    request["start"],
                    env=request["env"],
                    cwd=request["cwd"],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            return {"error": str(error)}
        self.started[process.pid] = process
        return {"pid": process.pid}

    def signal(self, pid: int, number: int) -> bool:
        if self.started[pid].poll() is not None:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
        return True

    def end_all(self) -> None:
        """Kill until no descendant is left. SIGKILL also ends stopped processes. On Linux, orphans are our children."""
        until = time.monotonic() + LONGEST_END_S
        while (pids := descendants(os.getpid())) and time.monotonic() < until:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            time.sleep(0.005)


def descendants(ancestor: int) -> list[int]:
    """Return the pids below ``ancestor``, zombies included, from one listing of /proc (or of ps)."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    frontier = [ancestor]
    while frontier:
        frontier = [child for pid in frontier for child in children.get(pid, [])]
        found += frontier
    return found


def _parents() -> list[tuple[int, int]]:
    if not Path("/proc/self/stat").exists():
        listing = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        return [(int(pid), int(parent)) for pid, parent in (line.split() for line in listing.splitlines())]
    pairs = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = (entry / "stat").read_text(errors="replace")
                pairs.append((int(entry.name), int(stat.rpartition(")")[2].split()[1])))
    return pairs


def serve(line: socket.socket) -> None:
    """Serve requests until the lab's end of the socket closes; then end everything."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    process = SupervisorProcess()
    try:
        # two file objects: one for both directions would drop its unread input on each write
        with line.makefile("r", encoding="utf-8") as requests, line.makefile("w", encoding="utf-8") as answers:
            for text in requests:
                request = json.loads(text)
                answer = process.answer(request) | {"number": request["number"]}
                print(json.dumps(answer), file=answers, flush=True)
    except OSError:
        pass  # the lab ended in the middle of a line
    finally:
        process.end_all()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
