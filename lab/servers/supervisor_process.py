"""The supervisor process: it starts the lab's servers, and ends all of them when the lab is gone. ``supervisor.py`` is the lab's
side of it.

It runs in a session of its own, so neither Ctrl-C nor a kill of the lab's process group reaches it.
It is a child subreaper, so the orphans of its children become its own children. It holds one end
of a socket, and the lab holds the other end. When the lab's end closes, however the lab ended, the supervisor kills every
descendant and exits. (Supervisors such as supervisord or circus keep processes running, and none of them is a subreaper.)

If the supervisor process itself is killed, nothing above happens. So the kernel kills each program that it started
(PR_SET_PDEATHSIG), and the lab ends the rest. The signal reaches only direct children. So nginx has no worker process, and
the workers of gunicorn and Locust ask for the same signal. Nothing stays even if the lab and the supervisor are killed at once.

Requests and answers are lines of JSON. Each request has a ``number``, which the answer repeats.

    {"start": argv, "env", "cwd", "log"}     → {"pid"}; with "fork" the program is forked by ``fork_server.py``
    {"prepare": fork, "env"}                 → {}: a fork server begins to import the modules of a program
    {"exit_of": pid}                         → {"exit"}, null while it runs
    {"signal": number, "pid"}                → {"sent"}
    {"end_all": true}                        → {}: all but the fork servers were ended

The module uses the standard library only, so that it starts fast.

The subreaper exists on Linux only. On macOS an orphan becomes a child of launchd, and the supervisor no
longer finds it. So a worker is ended there only if its parent still runs when the supervisor lists the
processes, or if the lab signals the process group before.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LONGEST_END_S = 5.0
LIBC = ctypes.CDLL(None, use_errno=True)
OPEN_FILES = 65_536  # each connection of a server is one
FORKED_WITHIN_S = 90.0  # with its imports, on a crowded machine
ROOM = "-" * 4096  # an argument of a fork server: the place in which a forked program writes its own command line


class ForkingProcess:
    """A process that has imported the modules of a program, and forks the program on request."""

    def __init__(self, about: dict[str, Any], env: dict[str, str], held: int, in_child: Callable[[], None]) -> None:
        """Start the process. Raises OSError."""
        self.line, theirs = socket.socketpair()
        self.line.settimeout(FORKED_WITHIN_S)
        file = Path(__file__).with_name("fork_server.py")
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(file), str(theirs.fileno()), about["home"], ROOM],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno(), held],
                start_new_session=True,
                preexec_fn=in_child,  # noqa: PLW1509 - this process has one thread
            )
        self.answers = self.line.makefile("rb")

    def load(self, modules: Sequence[str], **program: object) -> None:
        """Let the process import the modules that it lacks, and then fork a program if there is one. Do not wait."""
        self.line.sendall(json.dumps({"modules": modules} | program).encode() + b"\n")

    def fork(self, request: dict[str, Any], about: dict[str, Any]) -> int:
        """Return the pid of a forked program. Raises OSError if that is not possible, or if an import failed."""
        words = {"argv": request["start"], "env": request["env"], "cwd": request["cwd"], "log": request["log"]}
        self.load(about["modules"], entry=about["entry"], **words)
        answer = json.loads(self.answers.readline() or b'{"error": "the process that forks it has ended"}')
        if "error" in answer:
            raise OSError(answer["error"])
        return int(answer["pid"])

    def end(self) -> None:
        """Kill the process. The programs that it forked continue to run."""
        self.answers.close()
        self.line.close()
        self.process.kill()
        self.process.wait()


class SupervisorProcess:
    """The servers that the supervisor process has started, and their end."""

    def __init__(self, held: int) -> None:
        """held: a file descriptor that each program inherits: while one of them lives, the ports of the run are taken."""
        self.held = held
        self.exits: dict[int, int | None] = {}  # the exit status of each program; None while it runs
        self.started: list[subprocess.Popen[bytes]] = []  # kept: Python takes in the exit of one that it forgets
        self.fork_servers: dict[tuple[str, int], ForkingProcess] = {}  # by entry and interpreter
        self.turn = 0  # the place of the interpreter that forks the next program
        self.pid = os.getpid()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "start" in request:
            self.reap()
            return self.fork(request, request["fork"]) if "fork" in request else self.start(request)
        if "prepare" in request:
            about = request["prepare"]
            with contextlib.suppress(OSError):  # the fork will say so
                for number in range(about["interpreters"]):
                    self._fork_server(about, request["env"], number).load(about["modules"])
            return {}
        if "exit_of" in request:
            self.reap()
            return {"exit": self.exits[request["exit_of"]]}
        if "signal" in request:
            return {"sent": self.signal(request["pid"], request["signal"])}
        if "end_all" in request:
            self.end_all({one.process.pid for one in self.fork_servers.values()})
            self.exits.clear()
            self.started.clear()
        return {}

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
                    pass_fds=[self.held],
                    start_new_session=True,
                    preexec_fn=self._in_child,  # noqa: PLW1509 - this process has one thread
                )
        except (OSError, subprocess.SubprocessError) as error:
            return {"error": str(error)}
        self.started.append(process)
        self.exits[process.pid] = None
        return {"pid": process.pid}

    def fork(self, request: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
        """Fork a program. A fork server that cannot do it is ended: another one forks the next program."""
        self.turn += 1
        number = self.turn % about["interpreters"]
        try:
            pid = self._fork_server(about, request["env"], number).fork(request, about)
        except OSError as error:
            if server := self.fork_servers.pop((about["entry"], number), None):
                server.end()
            return {"error": str(error)}
        self.exits[pid] = None
        return {"pid": pid}

    def _fork_server(self, about: dict[str, Any], env: dict[str, str], number: int) -> ForkingProcess:
        """Return one fork server of a program."""
        known = about["entry"], number
        if known not in self.fork_servers or self.fork_servers[known].process.poll() is not None:
            plain = {name: text for name, text in env.items() if not name.startswith("LAB_")}
            self.fork_servers[known] = ForkingProcess(about, plain, self.held, self._in_child)
        return self.fork_servers[known]

    def _in_child(self) -> None:
        """Let the program end with the supervisor, and let it have as many open files as its connections need."""
        if sys.platform == "linux":
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != self.pid:  # the supervisor was killed before the call
                os._exit(1)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(OPEN_FILES, hard)), hard))

    def signal(self, pid: int, number: int) -> bool:
        """Signal the group of a program, and its descendants elsewhere: each process of PostgreSQL leads a group of its own."""
        self.reap()
        if self.exits[pid] is not None:
            return False
        below = descendants(pid)  # before a signal ends the program: then its children are no longer below it
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
        for one in below:
            with contextlib.suppress(ProcessLookupError):
                if os.getpgid(one) != pid:
                    os.kill(one, number)
        return True

    def reap(self) -> None:
        """Take in the exit of each child that has ended. An orphan would stay a zombie while the lab runs."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                if pid in self.exits:
                    self.exits[pid] = os.waitstatus_to_exitcode(status)

    def end_all(self, spared: Collection[int] = ()) -> None:
        """Kill all descendants. On Linux, orphans are our children."""
        kill_all(lambda: set(descendants(os.getpid())).difference(spared))


def kill_all(left: Callable[[], Collection[int]]) -> None:
    """Kill processes until none is left, and take in the exits of children. SIGKILL also ends stopped processes."""
    until = time.monotonic() + LONGEST_END_S
    while (pids := left()) and time.monotonic() < until:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.005)


def adopt_orphans() -> None:
    """Let orphans below this process become its children. Do nothing if the system cannot do that."""
    if sys.platform == "linux":
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


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
    for name in os.listdir("/proc"):  # noqa: PTH208 - each signal to a server reads all of them: paths take as long as the kernel
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb", buffering=0) as stat:  # noqa: PTH123
            pairs.append((int(name), int(stat.read().rpartition(b")")[2].split(None, 2)[1])))
    return pairs


def serve(line: socket.socket, held: int) -> None:
    """Serve requests until the lab's end of the socket closes; then end everything. held: as in SupervisorProcess."""
    adopt_orphans()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    process = SupervisorProcess(held)
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
    serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
