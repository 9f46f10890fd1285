"""Check the record ``STAGE`` of a file: name the first key with a value that is not allowed, and the allowed values.

A user's file is checked when it is read. Otherwise its mistakes would show only in the logs of the replicas.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.lock import Claim, Stage
from app.shelf import plugins
from app.shelf.plugins import suggestion

STORES, RESOURCES, LOCKS = "app.stores", "app.resources", "app.locks"
WITH_WORKERS = ("redis", "redis_nodes")
LONGEST_MS = 86_400_000  # a day
PARAMETERS = ("store", "key", "ttl_ms", "wait_ms", "retry_ms")
QUESTION = "# QUESTION: "  # in a declaration: a fact that the lab could not find out
CONNECT = "\ndef connect("  # a file of app/stores with this function is a store


def wrong(record: Any) -> str:
    """Return a sentence about the first key of a record with a wrong value; empty if all values are right."""
    if not isinstance(record, Stage):
        return f"STAGE must be Stage(…), not {_in_short(record)}"
    for key, (is_right, words) in VALUES.items():
        if not is_right(value := getattr(record, key)):
            return f"{key} must be {words}, not {_in_short(value)}"
    return next((sentence for check in CHECKS for sentence in check(record)), "")


def question(file: Path) -> str:
    """Return the first question of a declaration, with its line; empty if all are answered and deleted."""
    lines = enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
    return next((f"{file.name}:{number}: {line.partition(QUESTION)[2]}" for number, line in lines if QUESTION in line), "")


def stores() -> list[str]:
    """Return the names of all stores. The files are read and not imported: some need a library, some are parts of stores."""
    files = {name: str(getattr(find_spec(f"{STORES}.{name}"), "origin", "")) for name in plugins.names(STORES)}
    return [name for name, file in files.items() if CONNECT in Path(file).read_text(encoding="utf-8")]


def _lock(record: Stage) -> Iterator[str]:
    if record.worker:
        if record.lock:
            yield "give either lock, a class, or worker, the command of a program; not both"
        return
    if not record.lock:
        yield "lock is missing: give the class of the lock, or with worker the command of a program"
    elif not isinstance(record.lock, type) or not callable(getattr(record.lock, "run", None)):
        yield f"lock must be a class with the method run(work), not {_in_short(record.lock)}"
    elif not _takes(record.lock, *PARAMETERS, *(["lease_ms"] if record.lease is True else [])):
        lease = ", lease_ms" if record.lease is True else ""
        yield f"the lock must be made as Lock({', '.join(PARAMETERS)}{lease}), and {record.lock.__name__} cannot be"
    elif inspect.isfunction(record.lock.run) and not _takes(record.lock.run, "self", "work"):
        yield f"the method {record.lock.__name__}.run must take the work, as in run(self, work)"


def _takes(function: Callable[..., Any], *names: str) -> bool:
    """Return whether a function can be called with these arguments: an explicit lease by name, all others by position."""
    by_name = {name: None for name in names if name == "lease_ms"}
    try:
        plugins.signature(function).bind(*(None for name in names if name not in by_name), **by_name)
    except TypeError:
        return False
    return True


def _files(record: Stage) -> Iterator[str]:
    """Compare each key that names a file with the existing files."""
    for key, names, more in (
        ("follows", plugins.names(LOCKS), ["None"]),
        ("store", stores(), ["None"]),
        ("resource", plugins.names(RESOURCES), []),
    ):
        value = getattr(record, key)
        if value not in names and not (value is None and more):
            listed_by = "lab list stages" if key == "follows" else ""
            hint = suggestion(value if isinstance(value, str) else "", [*names, *more], listed_by)
            yield f"{key} = {_in_short(value)} is not known. {hint}"
    for store in stores():  # a resource with the name of a store is in that store
        if record.resource.startswith(f"{store}_") and record.store != store:
            yield f"resource = {record.resource!r} is in the store {store!r}, and store = {record.store!r}"


def _worker(record: Stage) -> Iterator[str]:
    if record.worker and record.by_lane:
        yield "by_lane is for a lock in the replica's own process: a worker has its lanes always"
    for key in ("worker", "by_lane"):
        if getattr(record, key) and record.store not in WITH_WORKERS:
            yield f"{key} needs store = {' or '.join(map(repr, WITH_WORKERS))}, not {record.store!r}: its commands must be seen"
    if not record.worker:
        return
    program = record.worker[0]
    if "/" in program:
        path = Path(record.path or "").parent / program
        if not path.is_file():
            yield f"the program {program!r} of the worker is not there: {path} is no file"
    elif shutil.which(program) is None:
        yield f"the program {program!r} of the worker is not installed"


def _is_form(key: Any) -> bool:
    try:
        return isinstance(key, str) and key.format(key="x") != ""
    except (LookupError, ValueError):
        return False


def _ttl(record: Stage) -> Iterator[str]:
    if record.ttl_ms is not None:
        if record.ttl_ms % record.ttl_step_ms:
            yield f"ttl_ms = {record.ttl_ms} is not a multiple of ttl_step_ms = {record.ttl_step_ms}"
    elif record.has_fixed_ttl:
        yield "has_fixed_ttl needs ttl_ms: the TTL that the lock always has"


def _is_whole(value: Any) -> bool:
    return type(value) is int and 1 <= value <= LONGEST_MS


SWITCH = (lambda value: isinstance(value, bool)), "True or False"
WHOLE = "a whole number of milliseconds, at least 1, at most 86\u2009400\u2009000"
# the rules for the value of a key by itself
VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("lease", "has_fixed_ttl", "waiters_may_sleep_on", "by_lane"), SWITCH),
    "worker": (
        lambda value: isinstance(value, tuple) and all(isinstance(word, str) for word in value),
        'the words of a command, as in ["node", "worker.mjs"]',
    ),
    "worker_lanes": (lambda value: type(value) is int and value in (0, 1), "1, or 0 for all lanes in one program"),
    "key": (_is_form, 'a text such as "lock:{key}", or the key itself if it is always the same'),
    "claims": (
        lambda value: isinstance(value, frozenset) and all(isinstance(claim, Claim) for claim in value),
        'claims("exclusive …"), with the names in one text',
    ),
    "ttl_ms": (lambda value: value is None or _is_whole(value), WHOLE),
    "ttl_step_ms": (_is_whole, WHOLE),
}
# the rules for a value together with the values of other keys, and with the existing files
CHECKS: tuple[Callable[[Stage], Iterator[str]], ...] = (_worker, _lock, _files, _ttl)


def _in_short(value: object) -> str:
    """Return a value in one short line, without the address in memory that differs from run to run."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    text = repr(value)
    if " at 0x" in text:
        return f"an object of the class {type(value).__name__}"
    return text.replace("\n", " ") if len(text) <= 80 else f"{text[:78]} …".replace("\n", " ")
