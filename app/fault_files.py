"""The files in which replicas and the injector speak of a fault. They are in the run's folder ``faults``, by the fault's name.

- ``.json``: the fault is prepared. A replica reads the file when it starts.
- ``.spent``: the same file, when a replica has taken the fault. So a fault is injected at most once in a run.
- ``.reached``: the replica's note, the first part of the fault record: which request reached the failpoint, and when.
- ``.injected``: the injector's answer to the note. The lab has done its part of the fault.

On a busy machine the lab can be late. A request that did not wait for the answer would go on, and the lab would take the lock
away from a later holder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from time import monotonic_ns

PREPARED, SPENT, NOTE, ANSWER = ".json", ".spent", ".reached", ".injected"
ANSWERED_WITHIN_S = 30.0  # a request waits no longer for the lab; where the lab is later, the run fails
LOOK_EVERY_S = 0.002


def take(folder: Path, name: str, replica: str, request: str, command: str = "", keys: Sequence[str] = ()) -> bool:
    """Take a prepared fault, and leave the note. Return False if another process has taken it before.

    command, keys: what the fault is injected at, where that is a command to the lock's store.
    """
    about = {"name": name, "replica": replica, "pid": os.getpid(), "command": command, "keys": list(keys)}
    record = about | {"request": request, "at_ns": monotonic_ns()}
    note = folder / f".{name}.{os.getpid()}"
    note.write_text(json.dumps(record), encoding="utf-8")
    try:
        (folder / f"{name}{PREPARED}").rename(folder / f"{name}{SPENT}")
    except FileNotFoundError:
        note.unlink()
        return False
    note.rename(folder / f"{name}{NOTE}")
    return True


def answer(folder: Path, name: str) -> None:
    """Let the request that left the note go on."""
    (folder / f"{name}{ANSWER}").touch()


def wait_for_answer(folder: Path, name: str) -> None:
    """Wait until the lab has done its part of a fault."""
    until_s = time.monotonic() + ANSWERED_WITHIN_S
    while not (folder / f"{name}{ANSWER}").exists() and time.monotonic() < until_s:
        time.sleep(LOOK_EVERY_S)
