"""``lab new``: a lock of your own in a program of any language, to begin with."""

from __future__ import annotations

import sys
from pathlib import Path

from app.locks import A_NAME, stages
from lab.errors import BadInput, choose_from
from lab.paths import COMMAND, WORKERS

# the usual promises of a lock with a time to live: tested if the user does not list the promises of the lock
USUAL = (
    "exclusive_in_process exclusive acquires_atomically releases_only_its_own releases_atomically counts_once "
    "serves_most_requests freed_after_crash freed_after_failure freed_after_hang"
)
INTERPRETERS = {"python": ("python3", ".py", 0), "node": ("node", ".mjs", 0), "php": ("php", ".php", 1)}

OF_A_WORKER = '''"""{name}: a lock in {language}, to be changed.

**Idea** The lock is in {lock}, and {worker} speaks with the lab. Test it: `lab test ./{name}.py`
"""

from app.lock import Stage, claims

STAGE = Stage(
    worker=["{program}", "{worker}", "{lock}"],
    worker_lanes={lanes},  # 1 if one program does one thing at a time
    key="{{key}}",  # what the library makes of the key, as in "lock:{{key}}"
    store="redis",
    ttl_ms=3000,
    # what the lock promises: `lab test` tests each of these. Delete what yours does not promise
    claims=claims("""
{claims}
    """),
)
'''


def new_lock(name: str, worker: str) -> None:
    """Write the files of a new lock into the current folder, and print the next commands. Raises BadInput."""
    if not A_NAME.fullmatch(name):
        raise BadInput(f"{name!r} is no name for a file of a lock: use at most 64 letters, digits, _ and -")
    if name in stages():
        raise BadInput(f"the lab has a stage {name!r} of its own; give the lock another name")
    files = _of_a_worker(name, choose_from("worker", worker, INTERPRETERS))
    if there := [path for path in files if Path(path).exists()]:
        raise BadInput(f"{', '.join(there)} exists already, and is not written over")
    for path, text in files.items():
        Path(path).write_text(text, encoding="utf-8")
    sys.stdout.write(f"wrote {', '.join(files)}\nTest it: {COMMAND} test ./{name}.py\n")


def _of_a_worker(name: str, language: str) -> dict[str, str]:
    """Return the files of a lock in another program: the stage, the lock, and the program that speaks with the lab."""
    program, ending, lanes = INTERPRETERS[language]
    lock, worker = f"{name}_lock{ending}", f"worker{ending}"
    about = {"name": name, "language": language, "program": program, "lock": lock, "worker": worker, "lanes": lanes}
    return {
        f"{name}.py": OF_A_WORKER.format(**about, claims="\n".join(f"        {claim}" for claim in USUAL.split())),
        lock: (WORKERS / f"example{ending}").read_text(encoding="utf-8"),
        worker: (WORKERS / worker).read_text(encoding="utf-8"),
    }
