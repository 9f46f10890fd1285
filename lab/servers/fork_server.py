"""Serve as fork server: a process that has imported the modules of a program, and forks the program on request.

Three replicas would import the same libraries three times in each run, and that took most of the processor time of a short run.
The supervisor process (``supervisor_process.py``) starts this file, and sends requests as lines of JSON:
``{"modules": names}``, without an answer; and, if a program is to be forked, with ``"entry": "module:function"``, ``"argv"``,
``"env"``, ``"cwd"`` and ``"log"`` → ``{"pid"}``.

The forked program has a session, an environment, a folder and a log of its own. It is the supervisor process's child, and ends
with it, like a program that was started. No stage is imported before the fork, so no run gets the code of another run.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
ARG_START, ARG_END = 45, 46  # in /proc/self/stat, after the name of the command
LIBC = ctypes.CDLL(None)
fork, waitpid, close, sleep = (
    os.fork,
    os.waitpid,
    os.close,
    time.sleep,
)  # gevent, which Locust imports, replaces them by functions that need its event loop


def serve(line: int, supervisor: int) -> str:
    """Answer requests until the line closes, and end the process then. Return in a forked program only: the program to run.

    supervisor: the pid of the supervisor process.
    """
    with os.fdopen(os.dup(line), "rb") as requests:
        for text in requests:
            request = json.loads(text)
            try:
                load(request["modules"])
                answer: dict[str, Any] = {"pid": fork_program(request, supervisor)} if "argv" in request else {}
            except Exception as error:  # noqa: BLE001 - the supervisor process reports it
                answer = {"error": f"{type(error).__name__}: {error}"}
            if "argv" in request:
                if answer.get("pid") == 0:
                    break
                os.write(line, json.dumps(answer).encode() + b"\n")
        else:
            os._exit(0)
    close(line)
    return str(request["entry"])


def load(modules: Sequence[str]) -> None:
    """Import modules."""
    for name in modules:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a forked program then leaves these objects alone, and their memory stays shared


def fork_program(request: dict[str, Any], supervisor: int) -> int:
    """Fork a program, and return its pid; in the program itself, return 0.

    A process in the middle forks it and ends, so the program becomes a child of the supervisor process.
    """
    reading, writing = os.pipe()
    if middle := fork():
        close(writing)
        waitpid(middle, 0)  # from now on, the program is the supervisor process's child
        with os.fdopen(reading, "rb") as pid:
            return int(pid.readline())
    middle = os.getpid()
    try:
        if fork():
            os._exit(0)
        while os.getppid() == middle:
            sleep(0.001)
        os.setsid()
        _become(request, supervisor)
        os.write(writing, b"%d\n" % os.getpid())
        close(reading)
        close(writing)
    except BaseException:  # noqa: BLE001 - the code of the fork server must not run in this process
        traceback.print_exc()
        os._exit(1)
    return 0


def _become(request: dict[str, Any], supervisor: int) -> None:
    """Give this process, which was just forked, the environment and files of a program that is started."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != supervisor:  # it was killed before the call
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
    module, _, function = serve(line, os.getppid()).partition(":")
    sys.exit(getattr(importlib.import_module(module), function)())
