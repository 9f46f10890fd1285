"""Read the stages: every file here is one way to lock, and its name is the flag that chooses it.

Stages are copied, not inherited: the difference between a stage and the stage it follows is the lesson. A stage imports from
another only the parts that were its lesson: the owner from ``request_owner``, the renewal from ``watchdog``, or
the whole lock if only the resource changes.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
from pathlib import Path
from types import ModuleType

from app.lock import Stage, StageStory
from app.shelf import plugins, stage_check, yours

# The parts of the ladder, and the stages of each, as they are taught. A stage that is missing here comes right after the stage it
# follows.
PARTS: dict[str, tuple[str, ...]] = {
    "no_lock": ("none", "local", "incr"),
    "one_key": ("setnx", "setnx_no_else", "setnx_expire", "setnx_finally", "ttl", "uuid", "lua"),
    "named_holder": (
        *("reentrant", "request_owner", "idempotent"),
        *("watchdog", "watchdog_once", "watchdog_cancelled", "watchdog_abort"),
        *("fencing", "fencing_owner"),
    ),
    "waiting": ("pubsub", "queued", "fair", "cohort", "bucketed"),
    "several_servers": ("redlock", "redlock_cohort"),
    "database": ("mysql_insert", "mysql_upsert", "mysql_for_update", "mysql_version"),
    "consensus": (
        *("zookeeper", "zookeeper_no_recheck", "zookeeper_orphan", "zookeeper_abort", "zookeeper_fenced"),
        *("etcd", "etcd_fenced"),
    ),
}

OTHERS = "others"  # the part of all stages that follow none of these

A_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")  # the name of a stage: it is used in folders, keys and commands


class NotAStage(ImportError):  # noqa: N818 - a fact about the file
    """A file was read, and its record ``STAGE`` is missing or wrong. The message names the key, but not the file."""


def names() -> list[str]:
    """Return the names of all stages, in the order of the ladder. Only files that are missing in PARTS are imported."""
    existing = plugins.names(__name__)
    order = [name for part in PARTS.values() for name in part if name in existing]
    late = {name: _stage(plugins.file(__name__, name), name).follows for name in existing if name not in order}
    while late:  # the stage that a late stage follows may be late as well
        name = next((name for name, before in late.items() if before in order), next(iter(late)))
        before = late.pop(name)
        order.insert(order.index(before) + 1 if before in order else len(order), name)
    return order


def stages() -> dict[str, Stage]:
    """Return all stages by name, in the order of the ladder."""
    files = plugins.files(__name__)
    return {name: _stage(files[name], name) for name in names()}


def followers(name: str) -> list[str]:
    """Return the names of the stages whose files state that they follow this one. The files are read, and not imported."""
    folder = Path(__file__).parent
    return [follower for follower in names() if f'follows="{name}"' in (folder / f"{follower}.py").read_text(encoding="utf-8")]


def part(name: str) -> str:
    """Return the part of the ladder to which a stage, or the stage that it follows, belongs; ``others`` without one."""
    own_part = next((part_name for part_name, names in PARTS.items() if name in names), "")
    before = stage(name).follows
    return own_part or (part(before) if before else OTHERS)


def stage(name: str) -> Stage:
    """Read one stage, by its name or by the path of a file that has a ``STAGE``, such as ``./my_lock.py``.

    Raises KeyError for an unknown name, FileNotFoundError for a path without a file, NotAStage for a wrong record,
    NotInstalled if the packages of its library are not installed.
    """
    if not name.endswith(".py"):
        return _checked(plugins.file(__name__, name), name)
    path = Path(name).resolve(strict=True)
    if not A_NAME.fullmatch(path.stem):
        raise NotAStage("the file's name is the name of the stage; use at most 64 letters, digits, _ and - in it")
    if path.stem in plugins.names(__name__) and path.parent not in [Path(folder).resolve() for folder in __path__]:
        raise NotAStage(f"the lab has a stage {path.stem!r} of its own; give the file another name")
    if question := stage_check.question(path):
        raise NotAStage(f"answer a question of the lab, and delete it:\n  {question}")
    # at the end of the path, so that a file next to it hides no module of Python, of a library or of the lab
    sys.path += [str(folder) for folder in (yours.HOME, path.parent) if str(folder) not in sys.path]
    yours.take(path.parent, path)
    module = plugins.read(path)
    record = _stage(module, path.stem, lookup=str(path))
    if record.environment:
        from app.foreign import library

        library.enter(record.environment)
    return _checked(module, path.stem, lookup=str(path))


@functools.lru_cache(maxsize=100)  # a docstring is parsed once; the limit frees old versions while a page is open for days
def _stage(module: ModuleType, name: str, lookup: str = "") -> Stage:
    record = getattr(module, "STAGE", None)
    if record is None:
        raise NotAStage("no STAGE = Stage(…) in it. To test one of its classes or functions: lab test FILE.py:NAME")
    if not isinstance(record, Stage):
        raise NotAStage(stage_check.wrong(record))
    path = Path(str(module.__file__))
    return dataclasses.replace(record, name=name, lookup=lookup or name, path=path, story=StageStory.parse(module.__doc__ or ""))


@functools.lru_cache(maxsize=100)  # a right record stays right; an error is not cached, so a wrong one is checked again
def _checked(module: ModuleType, name: str, lookup: str = "") -> Stage:
    record = _stage(module, name, lookup)
    if sentence := stage_check.wrong(record):
        raise NotAStage(sentence)
    return record
