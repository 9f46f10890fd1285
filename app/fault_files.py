"""The files in which replicas and the injector speak of a fault. They are in the run's folder ``faults``, by the fault's name.

- ``.json``: the fault is prepared. A replica reads the file when it starts.
- ``.spent``: the same file, when a replica has taken the fault. So a fault is injected at most once in a run.
- ``.reached``: the replica's note, the first part of the fault record: which request reached the failpoint, and when.
- ``.injected``: the injector's answer to the note. The lab has done its part of the fault.
- ``.granted``: another request has begun to read since the fault was taken. Only faults that wait for it have this file.

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

PREPARED, SPENT, NOTE, ANSWER, GRANTED = ".json", ".spent", ".reached", ".injected", ".granted"
ANSWERED_WITHIN_S = 30.0  # a request waits no longer for the lab; where the lab is later, the run fails
GRANTED_WITHIN_S = 2.0  # a request waits no longer for the grant of another: a lock that is renewed is granted to nobody
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
    _wait_for(folder / f"{name}{ANSWER}", ANSWERED_WITHIN_S)


def tell_granted(folder: Path, name: str) -> None:
    """Note that a request has begun to read, if the fault has been taken."""
    if (folder / f"{name}{SPENT}").exists():
        (folder / f"{name}{GRANTED}").touch()


def is_granted(folder: Path, name: str) -> bool:
    """Return whether another request has begun to read since the fault was taken."""
    return (folder / f"{name}{GRANTED}").exists()


def wait_for_grant(folder: Path, name: str) -> None:
    """Wait until another request has begun to read since the fault was taken."""
    _wait_for(folder / f"{name}{GRANTED}", GRANTED_WITHIN_S)


def _wait_for(file: Path, within_s: float) -> None:
    until_s = time.monotonic() + within_s
    while not file.exists() and time.monotonic() < until_s:
        time.sleep(LOOK_EVERY_S)
