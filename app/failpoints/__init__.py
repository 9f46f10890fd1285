"""Define the failpoints, the moments of a request at which a fault can be injected, and the files of a fault.

A failpoint is a phase and a moment, for example ``release.before_last``. The phases follow from ``run(work)`` of a stage's
``Lock``:

- ``acquire`` is before the work;
- ``read``, ``think`` and ``write`` are in the work, and ``write_again`` if the work has two writes;
- ``release`` is after the work;
- ``renew`` is the phase of every command that a thread sends outside a request.

The moments of a phase are:

- ``before`` its first command, and ``after`` its last: the beginning and the end of the phase. ``renew.before`` is before each
  renewal: the phase has no beginning;
- ``after_first``: after the first command to which the store said yes.
  Of a script only the lock knows which answer is a yes, so it is learned from the requests that entered their work before;
- ``after_second``: after the answer to the second command, yes or no;
- ``before_last``: before the last command to which the store says yes, as in the latest request that sent a command in this
  phase; if it said yes to none, before the last command. Commands that a release sends after it has freed the lock do not count.

In ``acquire``, ``release`` and ``renew``, only commands with a key of the lock count
(``Failpoints.are_of_the_lock``): no fault is injected at a command that counts tries, an EXEC without commands, or a message.

A fault is prepared as a file, an ``Injection``, which a replica reads when it starts. It is injected at most once in a run: a
replica that is started again does not inject it a second time. Replicas (``injection.py``) and the lab's injector tell each
other its state by files in the run's folder ``faults``, with the fault's name and these endings:

- ``.json``: the fault is prepared;
- ``.spent``: the same file, renamed by the replica that has taken the fault;
- ``.reached``: the replica's note, the first part of the fault record: the request that reached the failpoint, and the time;
- ``.injected``: the injector's answer to the note. The lab has done its part of the fault;
- ``.granted``: another request has begun to read since the fault was taken; for a late write: has read since the fault was due.
  Only faults that wait for such a request have this file.
- ``.due``: the fault of a late write has lasted long enough. It ends when another request is between its read and its write.
- ``.passed``: the request with the late write has gone on, to its write or its end. So the request that waited for it goes on.
- ``.left``: the request with the late write has written, or ends.

A request waits for the answer because the lab can be late on a busy machine. Otherwise the request would go on, and the lab would
take the lock away from a later holder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns

PHASES = ("acquire", "read", "think", "write", "write_again", "renew", "release")
ACQUIRE, READ, THINK, WRITE, WRITE_AGAIN, RENEW, RELEASE = PHASES
MOMENTS = ("before", "after_first", "after_second", "before_last", "after")
BEFORE, AFTER_FIRST, AFTER_SECOND, BEFORE_LAST, AFTER = MOMENTS

PREPARED, SPENT, NOTE, ANSWER, GRANTED = ".json", ".spent", ".reached", ".injected", ".granted"
DUE, PASSED, LEFT = ".due", ".passed", ".left"
GATE = "late_write.gate"  # the file of ``injection.Gate``
ANSWERED_WITHIN_S = 30.0  # a request waits no longer for the lab; if the lab is later, the run fails
GRANTED_WITHIN_S = 2.0  # a request waits no longer for the next grant: a lock that is renewed is granted to no other request
PASSED_WITHIN_S = 0.4  # a request waits no longer for the request with the late write: its own lease must not end
WITHIN_S = {ANSWER: ANSWERED_WITHIN_S, GRANTED: GRANTED_WITHIN_S, PASSED: PASSED_WITHIN_S}
LOOK_EVERY_S = 0.002


@dataclass(frozen=True, slots=True)
class Injection:
    """A fault to inject: into the first request that reaches the failpoint after ``skip`` grants have begun to read.

    Its file has the same fields.
    """

    name: str
    # ``phase.moment``
    failpoint: str
    # a key of ``app.failpoints.injection.ACTIONS``
    action: str
    # how long the fault lasts
    for_ms: int = 0
    # how many grants of this replica must have begun to read. At a failpoint after the grant, the current grant counts: at
    # ``read.after``, 3 means the third grant, and 0 means the same as 1. At ``acquire.before``, 3 means the fourth.
    skip: int = 0
    # whether the request first waits until the lab has done its part of the fault; ``for_ms`` counts from then on
    lab_first: bool = False
    # whether the fault delays the request's write: the write then waits until no other request is between its read and its write
    writes_late: bool = False
    # whether the request waits until another request has begun to read, at most GRANTED_WITHIN_S
    awaits_grant: bool = False


def prepared(folder: Path) -> list[Injection]:
    """Return the faults that are prepared in a folder."""
    return [Injection(**json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob(f"*{PREPARED}")]


def take(folder: Path, name: str, replica: str, request: str, keys: Sequence[str] = ()) -> bool:
    """Take a prepared fault, and leave the note. Return False if another process has taken it before.

    keys: the keys of the command to the lock's store at which the fault is injected, if it is at a command.
    """
    fault = {"name": name, "replica": replica, "pid": os.getpid(), "keys": list(keys)}
    record = fault | {"request": request, "at_ns": monotonic_ns()}
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


def is_first_to_come(folder: Path) -> bool:
    """Return whether faults are prepared and none has begun: no note has an answer."""
    ends = {path.suffix for path in folder.glob("*.*")}
    return bool(ends & {PREPARED, SPENT}) and ANSWER not in ends


def meet(folder: Path, name: str) -> None:
    """Let a fault that is due end while this request is inside: wait until the stopped request has gone on."""
    if (folder / f"{name}{DUE}").exists() and not (granted := folder / f"{name}{GRANTED}").exists():
        granted.touch()
        wait_for(folder, name, PASSED)


def may_end(folder: Path, name: str) -> bool:
    """Note that a fault has lasted long enough. Return whether the request for which it waits has come."""
    (folder / f"{name}{DUE}").touch()
    return (folder / f"{name}{GRANTED}").exists()


def wait_for(folder: Path, name: str, ending: str) -> None:
    """Wait until a fault has the file with this ending, one of WITHIN_S, but no longer than that."""
    until_s = time.monotonic() + WITHIN_S[ending]
    while not (folder / f"{name}{ending}").exists() and time.monotonic() < until_s:
        time.sleep(LOOK_EVERY_S)
