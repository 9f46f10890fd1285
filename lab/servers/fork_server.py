"""The fork server: a process that has imported what a program imports, and forks the program on request.

Three replicas would import the same libraries three times in each run, and that took most of the processor time of a short run.
The supervisor process (``supervisor_process.py``) starts this file, and sends requests as lines of JSON:
``{"import": modules}`` → ``{}``, ``{"entry": "module:function", "argv", "env", "cwd", "log"}`` → ``{"pid"}``,
``{"begin": pid}`` → ``{}``.

The forked program has a session, an environment, a folder and a log of its own. It is the supervisor process's child, and ends
with it, like a program that was started. No stage is imported before the fork, so no run gets the code of another run. When a
file of the project has changed since it was imported, this process ends, and the supervisor process starts another.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
OURS = ("app", "lab", "locustfiles")  # the project's packages: their files may change while the lab runs
ARG_START, ARG_END = 45, 46  # in /proc/self/stat, after the name of the command
LIBC = ctypes.CDLL(None)
fork, waitpid, close = os.fork, os.waitpid, os.close  # gevent, which Locust imports, replaces them by what needs its event loop


class Changed(Exception):  # noqa: N818 - says what happened
    """A file was edited after it had been imported."""


class ForkServer:
    """Imports modules, and forks."""

    def __init__(self, line: int, supervisor: int) -> None:
        self.line = line
        self.supervisor = supervisor  # the pid of the supervisor process
        self.stamps: dict[str, tuple[int, int]] = {}
        self.going = -1  # a byte into this pipe lets the program that was forked last begin

    def serve(self) -> str:
        """Answer requests until the line closes, and end the process then. Return in a forked program only: what it runs."""
        with os.fdopen(os.dup(self.line), "rb") as requests:
            for text in requests:
                request = json.loads(text)
                try:
                    answer = self.answer(request)
                except Exception as error:  # noqa: BLE001 - the supervisor process then starts the program itself
                    answer = {"error": f"{type(error).__name__}: {error}"}
                if answer is None:
                    break
                os.write(self.line, json.dumps(answer).encode() + b"\n")
            else:
                os._exit(0)
        close(self.line)
        return str(request["entry"])

    def answer(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a request; None in a forked program."""
        if "begin" in request:
            os.write(self.going, b".")
            close(self.going)
            return {}
        self.check()
        if "import" in request:
            self.load(request["import"])
            return {}
        pid = self.fork(request)
        return {"pid": pid} if pid else None

    def load(self, modules: Sequence[str]) -> None:
        """Import modules, and keep the stamps of the project's files."""
        for name in modules:
            importlib.import_module(name)
        files = [str(module.__file__) for name, module in sys.modules.items() if name.partition(".")[0] in OURS and _file(module)]
        self.stamps = {file: _stamp(file) for file in files} | self.stamps
        gc.collect()
        gc.freeze()  # a collection in a forked program then leaves these objects alone, and their memory stays shared

    def check(self) -> None:
        """Raise Changed if a file of the project is not what was imported."""
        for file, stamp in self.stamps.items():
            if _stamp(file) != stamp:
                raise Changed(file)

    def fork(self, request: dict[str, Any]) -> int:
        """Fork a program, and return its pid. In the program itself, return 0 when it may begin.

        A process in the middle forks it and ends, so the program becomes a child of the supervisor process. It begins when the
        supervisor process knows its pid. Otherwise a program could run that nobody knows, next to the one started in its place.
        """
        reading, writing = os.pipe()
        waiting, self.going = os.pipe()
        if middle := fork():
            close(writing)
            close(waiting)
            waitpid(middle, 0)  # from now on, the program is the supervisor process's child
            with os.fdopen(reading, "rb") as pid:
                return int(pid.readline())
        try:
            if fork():
                os._exit(0)
            os.setsid()
            os.write(writing, b"%d\n" % os.getpid())
            for end in (reading, writing, self.going):
                close(end)
            if not os.read(waiting, 1):
                os._exit(1)  # the fork server was killed, or the supervisor process did not wait for it
            close(waiting)
            self._become(request)
        except BaseException:  # noqa: BLE001 - nothing of the server may run in this process
            traceback.print_exc()
            os._exit(1)
        return 0

    def _become(self, request: dict[str, Any]) -> None:
        """Give this process, which was just forked, what a program that is started has."""
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != self.supervisor:  # it was killed before the call
            os._exit(1)
        log = os.open(request["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.dup2(log, 1)
        os.dup2(log, 2)
        close(log)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        _show_as(request["argv"])
        sys.argv = request["argv"][2 if request["argv"][1:2] == ["-m"] else 0 :]
        if "gevent" in sys.modules:
            importlib.import_module("gevent").reinit()


def _file(module: Any) -> str | None:
    return getattr(module, "__file__", None)


def _stamp(file: str) -> tuple[int, int]:
    try:
        about = os.stat(file)  # noqa: PTH116 - two hundred of them for each program
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_size


def _show_as(argv: Sequence[str]) -> None:
    """Let ``ps`` show a command line for this process: write it over the one that the process was started with."""
    LIBC.prctl(PR_SET_NAME, Path(argv[0]).name.encode()[:15], 0, 0, 0)
    stat = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    start, end = int(stat[ARG_START]), int(stat[ARG_END])
    if 0 < start < end:
        words = b"".join(word.encode() + b"\0" for word in argv)[: end - start - 1]
        ctypes.memmove(start, words.ljust(end - start, b"\0"), end - start)


if __name__ == "__main__":
    line, home = int(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, home)
    module, _, function = ForkServer(line, os.getppid()).serve().partition(":")
    sys.exit(getattr(importlib.import_module(module), function)())
