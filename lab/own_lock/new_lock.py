"""``lab new``: a lock of your own to begin with, as a copy of a stage or as a worker."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from app.lock import Claim
from app.locks import A_NAME, stages
from lab.errors import BadInput, choose_from
from lab.own_lock.declaration import USUAL
from lab.paths import COMMAND, WORKERS

LADDER = ("follows", "gains", "loses", "claims")  # keys of a stage that a copy has as one list of claims
INTERPRETERS = {"python": ("python3", ".py", 0), "node": ("node", ".mjs", 0), "php": ("php", ".php", 1)}

OF_A_COPY = '''"""{name}: a copy of the stage {stage}, to be changed.

**Idea** Change the lock below, and test it: `lab test ./{name}.py`
"""
'''
CLAIMS = '''    # what the lock promises: `lab test` tests each of these. Delete what yours does not promise
    claims=claims("""
{claims}
    """),
)
'''
OF_A_WORKER = '''"""{name}: a lock in {language}, to be changed.

**Idea** The lock is in {lock}, and {worker} speaks with the lab. Test it: `lab test ./{name}.py`
"""

from app.lock import Stage, claims

STAGE = Stage(
    worker=["{program}", "{worker}", "{lock}"],
    worker_lanes={lanes},  # 1 where one program does one thing at a time
    key="{{key}}",  # what the library makes of the key, as in "lock:{{key}}"
    store="redis",
    ttl_ms=3000,
'''


def new_lock(name: str, like: str | None, worker: str | None) -> None:
    """Write the files of a new lock into the current folder, and print what to do next. Raises BadInput."""
    if not A_NAME.fullmatch(name):
        raise BadInput(f"{name!r} is no name for a file of a lock: use at most 64 letters, digits, _ and -")
    if name in stages():
        raise BadInput(f"the lab has a stage {name!r} of its own; give the lock another name")
    if like is not None and worker is not None:
        raise BadInput("--from copies a stage of the lab, and --worker begins a program of its own: give one of them")
    files = _of_a_worker(name, choose_from("worker", worker, INTERPRETERS)) if worker is not None else _copy(name, like or "lua")
    if there := [path for path in files if Path(path).exists()]:
        raise BadInput(f"{', '.join(there)} exists already, and is not written over")
    for path, text in files.items():
        Path(path).write_text(text, encoding="utf-8")
    sys.stdout.write(f"wrote {', '.join(files)}\nTest it: {COMMAND} test ./{name}.py\n")


def _copy(name: str, like: str) -> dict[str, str]:
    """Return the file of a stage as one of a user's own: with all its claims in a list."""
    stage = stages()[choose_from("stage", like, stages(), "--from")]
    text = Path(str(stage.path)).read_text(encoding="utf-8")
    record: Any = ast.parse(text).body[-1]  # STAGE = …, the last statement of each stage
    stated = [word for word in record.value.keywords if word.arg in LADDER]
    dropped = {number for word in stated for number in range(word.lineno, word.end_lineno + 1)}
    kept = "".join(line for number, line in enumerate(text.splitlines(keepends=True), 1) if number not in dropped)
    code = kept[kept.index('"""', 3) + 3 :].strip().removesuffix(")")
    code = re.sub(r"^from app", "from app.lock import claims\nfrom app", code, count=1, flags=re.MULTILINE)
    claims = CLAIMS.format(claims=_listed(claim.name for claim in Claim if claim in stage.claims))
    return {f"{name}.py": f"{OF_A_COPY.format(name=name, stage=like)}\n{code}{claims}"}


def _of_a_worker(name: str, language: str) -> dict[str, str]:
    """Return the files of a lock in another program: the stage, the lock, and the program that speaks with the lab."""
    program, ending, lanes = INTERPRETERS[language]
    lock, worker = f"{name}_lock{ending}", f"worker{ending}"
    about = {"name": name, "language": language, "program": program, "lock": lock, "worker": worker, "lanes": lanes}
    return {
        f"{name}.py": OF_A_WORKER.format(**about) + CLAIMS.format(claims=_listed(USUAL.split())),
        lock: (WORKERS / f"example{ending}").read_text(encoding="utf-8"),
        worker: (WORKERS / worker).read_text(encoding="utf-8"),
    }


def _listed(claims: Iterable[str]) -> str:
    return "\n".join(f"        {claim}" for claim in claims)
