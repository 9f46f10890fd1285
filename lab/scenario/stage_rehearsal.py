"""Read a user's stage file in a process of its own first: a file may end the process that reads it.

``raise SystemExit(0)`` or ``os._exit(0)`` at the top of a stage file would end the lab with status 0, as if a lock had kept its
promise.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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
def printing_to_stderr() -> Iterator[None]:
    """While the block runs, let what it prints go to standard error: the standard output of a command may be JSON."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
