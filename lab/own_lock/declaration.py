"""The declaration of a lock: a file with a STAGE in the user's folder, which the lab writes once and then uses as it is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

from app.lock import Claim, Stage
from app.shelf import plugins, yours
from lab.commands.new import USUAL
from lab.errors import BadInput, choose_from
from lab.scenario.stages import find_stage
from lab.text import printable

WIDTH = 100  # the width of a line with claims
LOOK_S = 30  # for all trials, on a busy machine


def claims_of(names: str | None) -> str:
    """Return claims as the lines of a file; the usual ones if none are named. Raises BadInput."""
    known = [claim.name for claim in Claim]
    found = [choose_from("claim", name, known, "--claims") for name in re.split(r"[\s,]+", names or USUAL) if name]
    if not found:
        raise BadInput("--claims: no claim is named. The claims: " + ", ".join(known))
    return textwrap.fill(" ".join(found), WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8, break_long_words=False)


def stage_of(lock: str, claims: str | None, file: Path | None) -> Stage:
    """Return the stage of a lock, from its own file or from its declaration. Raises BadInput."""
    if ":" in lock and not lock.endswith(".py"):
        return of_a_lock(lock, claims, file)
    if claims:
        raise BadInput(f"--claims: {lock} has its claims in its STAGE; change them there")
    return find_stage(lock)


def of_a_lock(lock: str, claims: str | None, file: Path | None) -> Stage:
    """Return the stage of ``package.module:Name``, by its declaration. Raises BadInput.

    lock: the module is looked for from the current folder, and among installed packages; or the path of its file. file: of the
    declaration.
    """
    module, _, name = lock.rpartition(":")
    folder = Path.cwd()
    if is_file := module.endswith(".py"):
        if not (path := Path(module)).is_file():
            raise BadInput(f"{lock}: there is no file {module!r}")
        found = None if "." in path.stem or path.stem in (*yours.OURS, "__main__") else find_spec(path.stem)
        if "." in path.stem or (found and found.origin and Path(found.origin) != path.resolve()):  # Python takes that one
            raise BadInput(f"{lock}: {path.stem!r} cannot be the name of a module of yours. Rename the file")
        folder, module = path.resolve().parent, path.stem
    elif not all(part.isidentifier() for part in module.split(".")):
        raise BadInput(f"{lock}: {module!r} is not the name of a module. Give the path of its file: FILE.py:NAME")
    if module.partition(".")[0] in yours.OURS and not yours.take(folder):
        raise BadInput(f"{lock}: the lab has a package {module.partition('.')[0]!r} of its own, and there is none in {folder}")
    plain = re.sub(r"[^A-Za-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).strip("_").lower() or "lock"
    lock, file = f"{module}:{name}", file or Path(f"lab_{plain}.py")
    if file.exists():
        return _used(lock, file, claims, folder if is_file else None)
    text = _text(lock, claims_of(claims), folder, is_beside=file.resolve().parent == folder.resolve())
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    sys.stdout.write(printable(f"wrote {file}:\n\n{text}\n"))  # a question is asked sooner without the terminal's library
    return find_stage(str(file))


def _text(lock: str, claims: str, folder: Path, is_beside: bool) -> str:
    """Return the declaration of a lock. is_beside: whether it will be in the folder of the lock. Raises BadInput."""
    words = [sys.executable, "-P", "-m", "lab.own_lock.writer", lock, claims, str(folder), str(plugins.IMPORT_S)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=plugins.IMPORT_S + LOOK_S, check=False)
    except subprocess.TimeoutExpired:
        raise BadInput(f"{lock}: a look at it did not end. Write its file: docs/your-lock.md") from None
    if not done.stdout:  # the last line says why
        raise BadInput(f"{lock}: {(done.stderr.strip().splitlines() or ['it ended the process that looked at it'])[-1]}")
    first, _, rest = done.stdout.partition("\n")
    found = "" if is_beside else f"\nimport sys\n\nsys.path.append({json.dumps(str(folder))})\n"
    return f"{first}\n{found}{rest}"


def _used(lock: str, file: Path, claims: str | None, folder: Path | None) -> Stage:
    """Return the stage of a declaration that is there. Raises BadInput if it is one of another lock, or has other claims.

    folder: of the lock's file; None if the lock is in a module.
    """
    text = file.read_text(encoding="utf-8")
    first = text.partition("\n")[0].partition(",")[0].lstrip('"')
    if ":" in first and first != lock:
        raise BadInput(f"{file} declares {first}, and not {lock}. Give another file: --declaration FILE")
    there = re.findall(r"^sys\.path\.append\((.*)\)$", text, re.MULTILINE) or [json.dumps(str(file.resolve().parent))]
    if folder and json.dumps(str(folder)) not in there:
        raise BadInput(f"{file} declares {first} in {there[0]}, and not in {folder}. Give another file: --declaration FILE")
    stage = find_stage(str(file))
    if claims and {claim.name for claim in stage.claims} != set(claims_of(claims).split()):
        raise BadInput(f"--claims: {file} has other claims in its STAGE; change them there")
    return stage
