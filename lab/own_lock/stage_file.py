"""A file with a STAGE for a lock that has none: a class or a function of somebody's package, or a worker.

Replicas and the explorer read a stage from a file, so one is written. It is an ordinary stage: it can be kept and changed.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import json
import re
import shlex
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

from app.foreign.adapter import EITHER, HOST, PORT, TIMES, TTL, URL, WAIT, meant
from app.foreign.shapes import Unknown, is_async
from app.lock import Claim, Stage
from app.settings import Settings
from lab.errors import BadInput, choose_from
from lab.interrupts import Interrupted, staying
from lab.own_lock.look import TTL_MS, KeyGone, Watched, ends_in_ms, idle_server, keeps_its_client, waits_in_ms, watched
from lab.scenario.stages import find_stage

# what a lock with a time to live is usually asked to keep: what is tested where nobody says what the lock promises
USUAL = (
    "exclusive_in_process exclusive acquires_atomically releases_only_its_own releases_atomically counts_once "
    "serves_most_requests freed_after_crash freed_after_failure freed_after_hang"
)
HALF_MS, WHOLE_MS = 1500, 1000  # of a TTL with a fraction of a second; the step of one without
FIXED, STEP = "has_fixed_ttl", f"\n    ttl_step_ms={WHOLE_MS},"
OWN_FUNCTION = "A function of your own can make the lock: module:make"
OF_ITS_PACKAGE = re.compile(rb"^\s*from\s+\.", re.MULTILINE)  # such an import needs the package of its file
OURS = ("app", "lab", "locustfiles")  # the lab's own packages, which hide others of the same name

OF_A_CLASS = '''"""{lock}, tested by the lab.

**Idea** {lock} as its package has it.
"""

import sys

sys.path.append({folder})

from app.foreign.adapter import adapted
from app.lock import Stage, claims
from {module} import {name}

STAGE = Stage(
    lock=adapted({name}, key={key}{how}),
    store="redis",
    ttl_ms={ttl_ms},{fixed}{lane}
    library={library},
    claims=claims("""
{claims}
    """),
)
'''
OF_A_WORKER = '''"""A lock in a program of its own, tested by the lab.

**Idea** {command}
"""

from app.lock import Stage, claims

STAGE = Stage(
    worker={worker},
    worker_lanes={lanes},
    worker_folder={folder},
    key={key},
    store="redis",
    ttl_ms={ttl_ms},{fixed}
    claims=claims("""
{claims}
    """),
)
'''


def claims_of(names: str | None) -> str:
    """Return claims as the lines of a file; the usual ones where none are named. Raises BadInput."""
    known = [claim.name for claim in Claim]
    found = [choose_from("claim", name, known, "--claims") for name in re.split(r"[\s,]+", names or USUAL) if name]
    if not found:
        raise BadInput("--claims: no claim is named. The claims: " + ", ".join(known))
    return "\n".join(f"        {name}" for name in found)


def of_a_class(lock: str, claims: str | None, folder: Path) -> tuple[Stage, list[str]]:
    """Write the stage of ``package.module:Class``, and return it with notes on how it is made. Raises BadInput.

    lock: the module is looked for from the current folder, and among installed packages; or the path of its file.
    """
    module, _, name = lock.rpartition(":")
    place = Path.cwd()
    if module.endswith(".py"):
        place, module = _place_of(Path(module), lock)
    if not all(part.isidentifier() for part in module.split(".")):
        raise BadInput(f"{lock}: {module!r} is not the name of a module. Give the path of its file: FILE.py:NAME")
    if module.partition(".")[0] in OURS:
        raise BadInput(
            f"{lock}: the lab has a package {module.partition('.')[0]!r} of its own. Give the path of a file with a STAGE"
        )
    made = _imported(lock, module, name, place)
    try:
        about = meant(made, {})
    except Unknown as error:
        raise BadInput(f"{lock} cannot be made: {error} {OWN_FUNCTION}") from None
    values: dict[str, Any] = {"lock": lock, "module": module, "name": name, "folder": str(place)}
    values |= {"claims": claims_of(claims), "library": _library(module)}
    has_own_client = bool({HOST, PORT, URL} & set(about.values()))
    values["lane"] = "\n    by_lane=True," if has_own_client else ""
    with idle_server() as idle:
        fitting = _Fitting(lock, values, folder / f"{_plain(name)}.py", idle)
        fitting.may_need_a_loop = not isinstance(made, type) or is_async(made)
        try:
            stage, seen = fitting.fitted()
        except BadInput as error:
            if not fitting.may_need_a_loop:
                raise
            stage, seen = fitting.fitted_in_one_loop(error)
        keeps = has_own_client and keeps_its_client(stage, idle)
        if keeps:
            values["lane"] = ""
            stage, seen = fitting.look()
    taken_for = seen.taken_for or about
    words = ", ".join(
        f"{parameter}=the {what}{' of the scenario' if what in TIMES else ''}" for parameter, what in taken_for.items()
    )
    kept = ["it keeps its client: a command counts for the request whose thread or task sends it"] if keeps else []
    return stage, [f"{name}({words}); others keep their defaults", *_about(seen, stage), *kept]


class _Fitting:
    """The stage of a class, written as often as a look at it shows what its parameters and its answers mean."""

    def __init__(self, lock: str, values: dict[str, Any], path: Path, idle: Settings) -> None:
        self.lock, self.values, self.path, self.idle = lock, values, path, idle
        self.means: dict[str, str] = {}
        self.says_yes = self.wants_text = self.one_loop = self.may_need_a_loop = False

    def look(self) -> tuple[Stage, Watched]:
        """Write it, and look at it. Raises BadInput."""
        how = [f"means={json.dumps(self.means)}"] if self.means else []
        how += [f"{name}=True" for name in ("says_yes", "wants_text", "one_loop") if getattr(self, name)]
        self.values["how"] = "".join(f", {one}" for one in how)
        return _written(OF_A_CLASS, self.values, self.path, self.idle)

    def first_look(self) -> tuple[Stage, Watched]:
        """Look with a client that answers with bytes; if that frees nothing, with one of texts. Raises BadInput."""
        for self.wants_text in (False, True):
            with contextlib.suppress(BadInput):
                if (found := self.look())[1].is_freed:
                    return found
        self.wants_text = False
        return self.look()

    def fitted_in_one_loop(self, error: BadInput) -> tuple[Stage, Watched]:
        """Try it again with one event loop for all requests. Raises the error of before where that does not help."""
        self.one_loop, self.may_need_a_loop = True, False
        self.means, self.says_yes = {}, False
        try:
            return self.fitted()
        except BadInput:
            raise error from None

    def fitted(self) -> tuple[Stage, Watched]:
        """Find out what its parameters and its answers mean. Raises BadInput."""
        try:
            stage, seen = self.first_look()
            taken_for, is_brief = seen.taken_for, 0 < seen.ttl_ms < TTL_MS // 100
        except KeyGone as gone:
            taken_for, is_brief = gone.taken_for, True
            if TTL not in taken_for.values():
                raise
        ttl = next((name for name, what in taken_for.items() if what is TTL), "")
        if ttl and is_brief:  # seconds were milliseconds
            self.means[ttl] = "ttl_ms"
            stage, seen = self.look()
        try:
            self.values |= _ttl_of(stage, seen, self.idle)
        except BadInput:
            if self.may_need_a_loop:
                raise
            self.values |= {"ttl_ms": TTL_MS, "fixed": STEP}
        if FIXED in self.values["fixed"] and ttl:  # what that parameter is given is no TTL
            if ttl not in EITHER:
                raise BadInput(
                    f"{self.lock}: its key lives for {seen.ttl_ms} ms, whatever the parameter {ttl!r} is given. {OWN_FUNCTION}"
                )
            self.means[ttl] = ttl.replace("timeout", "wait")
        self.says_yes = seen.says_yes
        stage, seen = self.look()
        if seen.failure:
            raise BadInput(f"{self.lock}: its release failed on an idle server: {seen.failure}. {OWN_FUNCTION}")
        if waits_in_ms(stage, self.idle, self.values["ttl_ms"]):
            self.means[next(name for name, what in seen.taken_for.items() if what is WAIT)] = "wait_ms"
            stage, seen = self.look()
        return self._in_steps(stage, seen)

    def _in_steps(self, stage: Stage, seen: Watched) -> tuple[Stage, Watched]:
        """Look again with whole seconds, where a lease that is not its key's TTL counts those. One look can miss it by chance."""
        if seen.ttl_ms or TTL not in seen.taken_for.values() or all(ends_in_ms(stage, self.idle, HALF_MS) for _ in range(2)):
            return stage, seen
        self.values["fixed"] = STEP
        return self.look()


def _ttl_of(stage: Stage, seen: Watched, idle: Settings) -> dict[str, Any]:
    """Return what a file says of the TTL: it is always the same, whatever the lock is given; or it has whole seconds only.

    Raises BadInput where the lock takes no fraction of a second.
    """
    values = {"ttl_ms": TTL_MS, "fixed": ""}
    if not seen.ttl_ms:
        return values
    half_ms = watched(stage, idle, HALF_MS).ttl_ms
    if abs(half_ms - seen.ttl_ms) < HALF_MS // 10:
        return {"ttl_ms": seen.ttl_ms, "fixed": f"\n    {FIXED}=True,"}
    is_in_proportion = half_ms * TTL_MS == seen.ttl_ms * HALF_MS  # also where the key lives for longer than the lease
    return values if is_in_proportion or half_ms % WHOLE_MS else values | {"fixed": STEP}


def of_a_worker(command: str, claims: str | None, lanes: int, folder: Path) -> tuple[Stage, list[str]]:
    """Write the stage of a worker, and return it with notes. The worker is started in the current folder."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"--worker: {command!r} is not a command: {error}") from None
    if not words:
        raise BadInput('--worker: give a command, as in --worker "node my_worker.mjs"')
    if not Path(words[0]).is_file() and shutil.which(words[0]) is None:
        raise BadInput(f"--worker: the program {words[0]!r} is neither a file nor installed")
    worker = [str(Path(word).resolve()) if Path(word).is_file() else word for word in words]
    name = _plain(next((Path(word).stem for word in reversed(words) if Path(word).is_file()), Path(words[0]).stem))
    values: dict[str, Any] = {"command": command.replace("\\", "/"), "worker": worker, "lanes": lanes}
    values |= {"claims": claims_of(claims), "folder": str(Path.cwd())}
    path = folder / f"{name}.py"
    with idle_server() as idle:
        stage, seen = _written(OF_A_WORKER, values, path, idle)
        if seen.failure:
            raise BadInput(f"{command}: its release failed on an idle server: {seen.failure}")
        try:
            values |= _ttl_of(stage, seen, idle)
        except BadInput:
            values |= {"fixed": STEP}
        if values["fixed"]:
            stage, seen = _written(OF_A_WORKER, values, path, idle)
    return stage, _about(seen, stage)


def _about(seen: Watched, stage: Stage) -> list[str]:
    """Return what was found by watching one acquire, as notes."""
    key = [f"its key: {seen.key.format(key='KEY')}"] if seen.key != "{key}" else []
    fixed = [f"its TTL: always {stage.ttl_ms} ms; scenarios have it, too"] if stage.has_fixed_ttl else []
    means = [f"{name} is taken for {what}" for name, what in getattr(stage.lock, "means", {}).items()]
    is_other = not stage.has_fixed_ttl and seen.ttl_ms not in (0, TTL_MS)
    other = [f"its key lives for {seen.ttl_ms} ms where it is given {TTL_MS}"] if is_other else []
    whole = ["its TTL: whole seconds; scenarios have such, too"] if stage.ttl_step_ms == WHOLE_MS else []
    text = ["its client answers with texts (decode_responses=True): with bytes it frees nothing"]
    text = text if getattr(stage.lock, "wants_text", False) else []
    loop = ["all requests of a process share one event loop: in a loop of their own they fail"]
    loop = loop if getattr(stage.lock, "loop", None) else []
    yes = [f"acquire answers a grant with a value of type {type(seen.answer).__name__}: None and 0 are refusals"]
    yes = yes if seen.says_yes else []
    return [*key, *fixed, *other, *means, *whole, *text, *loop, *yes]


def _place_of(file: Path, lock: str) -> tuple[Path, str]:
    """Return the folder of a file, and the name by which it can be imported from there. Raises BadInput.

    A file that imports its neighbours by a dot is imported as a module of its package.
    """
    if not file.is_file():
        raise BadInput(f"{lock}: there is no file {str(file)!r}")
    if not file.stem.isidentifier() or file.stem in sys.stdlib_module_names:
        raise BadInput(f"{lock}: {file.stem!r} cannot be the name of a module of yours. Rename the file")
    folder, names = file.resolve().parent, [file.stem]
    while OF_ITS_PACKAGE.search(file.read_bytes()) and (folder / "__init__.py").is_file():
        names.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(names)


def _imported(lock: str, module: str, name: str, place: Path) -> Any:
    """Import what a lock is named by, from a folder or from among the installed packages. Raises BadInput."""
    if str(place) not in sys.path:
        sys.path.append(str(place))
    sockets = socket.socket
    try:
        with staying():
            found = importlib.import_module(module)
    except Interrupted:  # by the user, and not by the module
        raise
    except BaseException as error:  # noqa: BLE001 - whatever somebody's module raises, also an end of the process
        raise BadInput(f"{lock}: {module} cannot be imported: {type(error).__name__}: {error}") from None
    if socket.socket is not sockets:
        raise BadInput(
            f"{lock}: {module} replaces the sockets of its process, as gevent.monkey does. Give the lock a process of its own: "
            "a worker (lab new my_lock --worker python)"
        )
    callables = [one for one, value in vars(found).items() if callable(value) and not one.startswith("_")]
    made = getattr(found, choose_from("class or function", name, callables, lock))
    if not (inspect.isclass(made) or inspect.isroutine(made) or isinstance(made, functools.partial)):
        raise BadInput(f"{lock} is neither a class nor a function")
    return made


def _library(module: str) -> str:
    """Return the installed package of a module with its version; empty where it is not of one."""
    from importlib import metadata

    packages = metadata.packages_distributions().get(module.partition(".")[0], [])
    return f"{packages[0]} {metadata.version(packages[0])}" if packages else ""


def _plain(name: str) -> str:
    """Return a name that a stage can have."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).strip("_-").lower() or "lock"
    from app.locks import stages

    return f"my_{plain}" if plain in stages() or plain in sys.stdlib_module_names else plain


def _written(form: str, values: dict[str, Any], path: Path, idle: Settings) -> tuple[Stage, Watched]:
    """Write a stage, look which key it locks, and write it again where that is another one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = {"ttl_ms": TTL_MS, "fixed": ""} | values
    quoted = {name: json.dumps(values[name]) for name in ("folder", "library", "worker") if name in values}
    path.write_text(form.format(**values | quoted, key='"{key}"'), encoding="utf-8")
    stage = _found(values, path)
    seen = watched(stage, idle)
    if seen.key != "{key}":
        path.write_text(form.format(**values | quoted, key=json.dumps(seen.key)), encoding="utf-8")
        stage = _found(values, path)
    return stage, seen


def _found(values: dict[str, Any], path: Path) -> Stage:
    """Return the stage. Each has a loop of its own, and what a module keeps of another loop is of no use: it is imported anew."""
    if "one_loop" in values.get("how", ""):
        root = values["module"].partition(".")[0]
        for name in [name for name in sys.modules if name.partition(".")[0] == root]:
            del sys.modules[name]
    return find_stage(str(path))
