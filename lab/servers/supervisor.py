"""The supervisor: a process that starts the lab's servers and outlives the lab just long enough to end them.

It runs in a session of its own, so that neither Ctrl-C nor a kill of the lab's process group reaches it; it is a child
subreaper, so that what its children leave behind becomes its own; and it holds the other end of a socket to the lab. When
that end closes, however the lab went, it kills every descendant and goes. (PR_SET_PDEATHSIG alone leaves the workers of
nginx and gunicorn behind; supervisors such as supervisord or circus keep processes up, not down, and none is a subreaper.)

Requests and answers are lines of JSON: ``{"start": argv, "env", "cwd", "log"}`` → ``{"pid"}``,
``{"exit_of": pid}`` → ``{"exit"}`` (null while it runs), ``{"signal": number, "pid"}`` → ``{"sent"}``,
``{"descendants": 0}`` → ``{"pids"}``; each with a ``number`` that the answer repeats. Standard library only: it must start
in a blink.

Linux only for the subreaper; on macOS a server's orphaned workers are found by their session instead.
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
    """The lab's end of the line: asks the supervisor process to start, watch and signal servers."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-S", "-E", __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()], start_new_session=True)
        self._socket = ours
        self._asking = threading.Lock()  # the thread that watches faults asks as well
        self._heard = b""
        self._asked = 0
        self.pid = self._process.pid

    def start(self, argv: list[str], env: dict[str, str], cwd: Path, log: Path) -> int:
        """Start a program in a session of its own, its output appended to ``log``; its pid. Raises OSError if it cannot."""
        answer = self._ask(start=argv, env=env, cwd=str(cwd), log=str(log))
        if "error" in answer:
            raise OSError(answer["error"])
        return int(answer["pid"])

    def exit_of(self, pid: int) -> int | None:
        """The exit status of a program started here (negative: the signal that ended it); None while it runs."""
        status: int | None = self._ask(exit_of=pid)["exit"]
        return status

    def signal(self, pid: int, number: int) -> bool:
        """Send a signal to a program started here and to all of its session; False if it had ended."""
        return bool(self._ask(signal=number, pid=pid)["sent"])

    def descendants(self) -> list[int]:
        """The pids of all that was started here, and of what those started."""
        return list(self._ask(descendants=0)["pids"])

    def close(self) -> None:
        """Let go: the supervisor kills what is left and ends. Returns when it has."""
        self._socket.close()
        try:
            self._process.wait(LONGEST_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, **request: Any) -> dict[str, Any]:
        try:
            with self._asking:
                self._asked += 1
                # by the socket's own calls: an interrupt in a buffered file's leaves half a line in it, or sends one twice
                self._socket.sendall(json.dumps(request | {"number": self._asked}).encode() + b"\n")
                while True:
                    answer: dict[str, Any] = json.loads(self._line())
                    if answer["number"] == self._asked:  # any other is to a request whose wait an interrupt cut short
                        return answer
        except (OSError, ValueError) as error:
            raise ConnectionError("the supervisor of the servers is gone") from error

    def _line(self) -> bytes:
        """The supervisor's next one; empty when it is gone."""
        while b"\n" not in self._heard:
            if not (more := self._socket.recv(65536)):
                return b""
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        return line


class SupervisorProcess:
    """The supervisor process's side: what it started, and how to end all of it."""

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
        """Kill until nothing is left; a stopped process dies of SIGKILL as well, and orphans have come to us."""
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
    """The pids below ``ancestor``, without zombies of other parents; read from one listing of /proc (or of ps)."""
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
    """Serve requests until the lab's end of the line closes; then end everything."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    process = SupervisorProcess()
    try:
        # two files: one that is read and written forgets, when it is written, what it has read and not yet given
        with line.makefile("r", encoding="utf-8") as asked, line.makefile("w", encoding="utf-8") as answers:
            for text in asked:
                request = json.loads(text)
                answer = process.answer(request) | {"number": request["number"]}
                print(json.dumps(answer), file=answers, flush=True)
    except OSError:
        pass  # the lab is gone in the middle of a line: the same as the end
    finally:
        process.end_all()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
