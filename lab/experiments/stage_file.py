"""A file with a STAGE for a lock that has none: a class or a function of somebody's package, or a worker.

Replicas and the explorer read a stage from a file, so one is written. It is an ordinary stage: it can be kept and changed.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import shlex
import sys
import threading
import time
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from app.adapter import HOST, PORT, TIMES, TTL, URL, Unknown, meant
from app.journal import Journal
from app.lock import Claim, Grant, Stage
from app.settings import Settings
from app.stage_check import WITH_WORKERS
from app.stores import lock_store
from lab.errors import BadInput, MissingProgram, NotReady, choose_from
from lab.explore.server import servers
from lab.scenario.stages import find_stage

# what a lock with a time to live is usually asked to keep: what is tested where nobody says what the lock promises
USUAL = (
    "exclusive_in_process exclusive acquires_atomically releases_only_its_own releases_atomically counts_once "
    "serves_most_requests freed_after_crash freed_after_failure freed_after_hang"
)
TTL_MS, WAIT_MS, RETRY_MS = 3000, 10_000, 30
HALF_MS, WHOLE_MS = 1500, 1000  # of a TTL with a fraction of a second; the step of one without
STEPS_MS = (60_000, 10_000, 5000, 1000, 500, 100, 50, 10, 1)  # people choose a TTL on such a step
WATCHED = "lab-watched"
WITHIN_S = 15.0  # for one acquire on an idle server
OURS = ("app", "lab", "locustfiles")  # the lab's own packages, which hide others of the same name

OF_A_CLASS = '''"""{lock}, tested by the lab.

**Idea** {lock} as its package has it.
"""

import sys

sys.path.append({folder})

from app.adapter import adapted
from app.lock import Stage, claims
from {module} import {name}

STAGE = Stage(
    lock=adapted({name}, key={key}{how}),
    store={store},
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
    key={key},
    store={store},
    ttl_ms={ttl_ms},
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


def of_a_class(lock: str, store: str, claims: str | None, folder: Path) -> tuple[Stage, list[str]]:
    """Write the stage of ``package.module:Class``, and return it with notes on how it is made. Raises BadInput.

    lock: the module is looked for from the current folder, and among installed packages.
    """
    module, _, name = lock.partition(":")
    if module.partition(".")[0] in OURS:
        raise BadInput(
            f"{lock}: the lab has a package {module.partition('.')[0]!r} of its own. Give the path of a file with a STAGE"
        )
    made = _imported(lock, module, name)
    try:
        about = meant(made)
    except Unknown as error:
        raise BadInput(f"{lock} cannot be made: {error} A function of your own can make the lock: module:make") from None
    values: dict[str, Any] = {"lock": lock, "module": module, "name": name, "folder": str(Path.cwd()), "store": store}
    values |= {"claims": claims_of(claims), "ttl_ms": TTL_MS, "library": _library(module)}
    has_own_client = store in WITH_WORKERS and bool({HOST, PORT, URL} & set(about.values()))
    values |= {"fixed": "", "how": "", "lane": "\n    by_lane=True," if has_own_client else ""}
    path = folder / f"{_plain(name)}.py"
    try:
        stage, seen = _written(OF_A_CLASS, values, path)
        is_brief = TTL in about.values() and 0 < seen.ttl_ms < TTL_MS // 100
    except KeyGone:
        if TTL not in about.values():
            raise
        is_brief = True
    if is_brief:  # seconds were milliseconds
        values["how"] = ", ttl_in_ms=True"
        stage, seen = _written(OF_A_CLASS, values, path)
    if TTL not in about.values() and seen.ttl_ms:
        values |= {"fixed": "\n    has_fixed_ttl=True,", "ttl_ms": seen.ttl_ms}
    elif TTL in about.values() and seen.ttl_ms and not _takes_half_a_second(stage):
        values["fixed"] = "\n    ttl_step_ms=1000,"
    if seen.says_yes:
        values["how"] += ", says_yes=True"
    if values["fixed"] or seen.says_yes:
        stage, seen = _written(OF_A_CLASS, values, path)
    words = ", ".join(f"{parameter}=the {what}{' of the scenario' if what in TIMES else ''}" for parameter, what in about.items())
    return stage, [f"{name}({words}); others keep their defaults", *_about(seen, stage)]


def of_a_worker(command: str, store: str, claims: str | None, lanes: int, folder: Path) -> tuple[Stage, list[str]]:
    """Write the stage of a worker, and return it with notes. Words that are files of the current folder are taken from there."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"--worker: {command!r} is not a command: {error}") from None
    if not words:
        raise BadInput('--worker: give a command, as in --worker "node my_worker.mjs"')
    worker = [str(Path(word).resolve()) if Path(word).is_file() else word for word in words]
    name = _plain(next((Path(word).stem for word in reversed(words) if Path(word).is_file()), Path(words[0]).stem))
    values: dict[str, Any] = {"command": command.replace("\\", "/"), "worker": worker, "lanes": lanes, "store": store}
    values |= {"claims": claims_of(claims), "ttl_ms": TTL_MS}
    stage, seen = _written(OF_A_WORKER, values, folder / f"{name}.py")
    return stage, _about(seen, stage)


def _about(seen: Watched, stage: Stage) -> list[str]:
    """Return what was found by watching one acquire, as notes."""
    key = [f"its key: {seen.key.format(key='KEY')}"] if seen.key != "{key}" else []
    fixed = [f"its TTL: always {stage.ttl_ms} ms; scenarios have it, too"] if stage.has_fixed_ttl else []
    in_ms = ["its TTL is in milliseconds"] if getattr(stage.lock, "ttl_in_ms", False) else []
    whole = ["its TTL: whole seconds; scenarios have such, too"] if stage.ttl_step_ms == WHOLE_MS else []
    yes = [f"acquire answers a grant with a {type(seen.answer).__name__}: None and 0 are refusals"] if seen.says_yes else []
    return [*key, *fixed, *in_ms, *whole, *yes]


def _imported(lock: str, module: str, name: str) -> Any:
    """Import what a lock is named by. Raises BadInput."""
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        found = importlib.import_module(module)
    except Exception as error:  # noqa: BLE001 - whatever somebody's module raises
        raise BadInput(f"{lock}: {module} cannot be imported: {type(error).__name__}: {error}") from None
    callables = [one for one, value in vars(found).items() if callable(value) and not one.startswith("_")]
    made = getattr(found, choose_from("class or function", name, callables, lock))
    if not callable(made) or not (inspect.isclass(made) or inspect.isroutine(made)):
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


def _written(form: str, values: dict[str, Any], path: Path) -> tuple[Stage, Watched]:
    """Write a stage, look which key it locks, and write it again where that is another one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    quoted = {name: json.dumps(values[name]) for name in ("folder", "store", "library", "worker") if name in values}
    path.write_text(form.format(**values | quoted, key='"{key}"'), encoding="utf-8")
    stage = find_stage(str(path))
    seen = watched(stage)
    if seen.key != "{key}":
        path.write_text(form.format(**values | quoted, key=json.dumps(seen.key)), encoding="utf-8")
        stage = find_stage(str(path))
    return stage, seen


class Watched(NamedTuple):
    """What one acquire showed."""

    # what the lock makes of the key that it is given, as in ``lock:{key}``
    key: str = "{key}"
    # the TTL of that key; 0 where it has none
    ttl_ms: int = 0
    # what ``acquire`` of somebody's class answered; None of other locks
    answer: Any = None

    @property
    def says_yes(self) -> bool:
        """Return whether a grant is answered with something true: then what is not true is a refusal."""
        return bool(self.answer)


class KeyGone(BadInput):
    """While the lock was held, there was no key."""


def watched(stage: Stage, ttl_ms: int = TTL_MS) -> Watched:
    """Watch one acquire, with such a TTL. A lock that sets one key of another name has that key, whatever it is given.

    Raises BadInput where the lock cannot be had on an idle server, or sets no key there; NotReady for a worker that fails.
    """
    if stage.store != "redis":
        return Watched()
    seen: list[tuple[dict[str, int], int, Any]] = []
    failures: list[BaseException] = []
    with servers(1) as (server,):
        settings = Settings.read(environ={}, redis_url=f"{server.host}:{server.port}")

        def once() -> None:
            def work(_: Grant) -> None:
                left = _keys(settings)
                seen.append((left, ceil((time.monotonic() - asked_s) * 1000), getattr(lock, "answer", None)))

            try:
                lock = _lock(stage, settings, ttl_ms)
                lock.run(work)
            except BaseException as error:  # noqa: BLE001 - reported by the thread that waits
                failures.append(error)

        thread = threading.Thread(target=once, daemon=True)
        asked_s = time.monotonic()
        thread.start()
        thread.join(WITHIN_S)
    if not seen:
        raise _no_grant(stage, failures)
    left, passed_ms, answer = seen[0]  # more than that of a TTL has not passed
    keys = [key for key in left if WATCHED in key] or (list(left) if len(left) == 1 else [])
    if not keys:
        others = f"It set {', '.join(left)}" if left else "It set no key"
        kind = BadInput if left else KeyGone
        raise kind(f"{stage.name}: no key with the name that the lock was given is set while it is held. {others}.")
    key = min(keys, key=len)
    form = key.replace("{", "{{").replace("}", "}}").replace(WATCHED, "{key}")
    return Watched(form, roundest_ms(left[key], left[key] + passed_ms) if left[key] > 0 else 0, answer)


def _takes_half_a_second(stage: Stage) -> bool:
    """Return whether the lock has a TTL of one and a half seconds when it is given that, and not of one or two."""
    try:
        seen = watched(stage, HALF_MS)
    except BadInput:
        return False
    return seen.ttl_ms == HALF_MS


def roundest_ms(least_ms: int, most_ms: int) -> int:
    """Return the time of this range on the largest step: the TTL that was chosen, when a part of it has passed."""
    return next(-(-least_ms // step_ms) * step_ms for step_ms in STEPS_MS if -(-least_ms // step_ms) * step_ms <= most_ms)


def _keys(settings: Settings) -> dict[str, int]:
    """Return what is left of the TTL of each key, in milliseconds; a negative number where a key has none."""
    store: Any = lock_store("redis", settings, Journal(None))
    return {key: store.pttl(key) for key in sorted(store.keys("*"))}


def _lock(stage: Stage, settings: Settings, ttl_ms: int) -> Any:
    store = lock_store(stage.store, settings, Journal(None))
    if not stage.worker:
        return stage.lock(store, WATCHED, ttl_ms, WAIT_MS, RETRY_MS)
    from app.wire.lock import Workers

    return Workers(stage, store, Journal(None)).lock(WATCHED, ttl_ms, WAIT_MS, RETRY_MS)


def _no_grant(stage: Stage, failures: Sequence[BaseException]) -> BadInput | NotReady | MissingProgram:
    why = f"{type(failures[0]).__name__}: {failures[0]}" if failures else f"it waited for more than {WITHIN_S:.0f} s"
    kind = NotReady if stage.worker else BadInput
    return kind(f"{stage.name} was not granted on an idle server: {why}")
