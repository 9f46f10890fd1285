"""Read a user's stage file in a process of its own first: a file may end the process that reads it.

``raise SystemExit(0)`` or ``os._exit(0)`` at the top of a stage file would end the lab with status 0, as if a lock had kept its
promise.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.errors import BadInput

WITHIN_S = 30.0
READ = 77  # the status of the process when the file was read to its end, or raised an ordinary error
ENDS = 78  # the status when the file raised what ends a process; the output ends with it
CODE = f"""
import json, os, sys
place = os.dup(1)
os.dup2(2, 1)
sys.path[:] = json.loads(sys.argv[2])

def trace(frame, event, _):
    if frame.f_code.co_filename == sys.argv[1]:
        if event == "line":
            os.write(place, b"line %d: " % frame.f_lineno)
        return trace

sys.settrace(trace)
try:
    from app.locks import stage
    stage(sys.argv[1])
except Exception:
    os._exit({READ})
except BaseException as error:
    os.write(place, " ".join((type(error).__name__ + ": " + str(error)).split()).encode())
    os._exit({ENDS})
os._exit({READ})
"""


def rehearse(name: str) -> None:
    """Read a stage file in another process. Raises BadInput if it ends that process, or is not read to its end."""
    words = [sys.executable, "-P", "-c", CODE, str(Path(name).resolve()), json.dumps(sys.path)]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=WITHIN_S, check=False)
    except subprocess.TimeoutExpired:
        raise BadInput(f"{name} cannot be loaded: it was not read to its end within {WITHIN_S:.0f} s") from None
    if done.returncode != READ:
        how = f"signal {signal.Signals(-done.returncode).name}" if done.returncode < 0 else f"status {done.returncode}"
        line = re.split("(?=line [0-9]+: )", done.stdout.decode(errors="replace"))[-1]  # the last line that ran
        what = "" if done.returncode == ENDS else f"it ends the process that reads it, with {how}"
        raise BadInput(f"{name} cannot be loaded: {line}{what}")


@contextlib.contextmanager
def without_traces(name: str) -> Iterator[None]:
    """While the block reads a stage file, keep the lab as it is.

    What the file prints goes to standard error: the standard output of a command may be JSON. What it sets in ``sys`` is set
    back. Its exit handlers are not run by the lab, for they could change the exit status. The lab does not wait for its threads.
    """
    kept = {one: getattr(sys, one) for one in ("stdin", "stdout", "stderr", "excepthook")}
    path, words = list(sys.path), list(sys.argv)
    register: Any = atexit.register
    thread = threading.current_thread()
    file, is_daemon, here = str(Path(name).resolve()), thread.daemon, Path.cwd()

    def register_others(function: Any, *args: Any, **named: Any) -> Any:
        its_own = sys._getframe(1).f_code.co_filename == file  # noqa: SLF001 - a library may register what it needs
        return function if its_own else register(function, *args, **named)

    sys.stdout.flush()
    sys.stderr.flush()
    numbers = {number: os.dup(number) for number in (1, 2)}
    os.dup2(2, 1)
    setattr(atexit, "register", register_others)  # noqa: B010 - its type is that of the real one
    thread._daemonic = True  # type: ignore[attr-defined]  # noqa: SLF001 - a thread is what the thread that starts it is
    try:
        with open(os.dup(2), "w", encoding="utf-8") as printed:  # noqa: PTH123 - not a path: the file may close its output
            sys.stdout = sys.stderr = printed
            yield
    finally:
        thread._daemonic = is_daemon  # type: ignore[attr-defined]  # noqa: SLF001 - as above
        atexit.register = register
        for number, copy in numbers.items():
            os.dup2(copy, number)
            os.close(copy)
        for one, value in kept.items():
            setattr(sys, one, value)
        sys.path[:], sys.argv[:] = path, words
        os.chdir(here)
