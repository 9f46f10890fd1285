"""The shelf of stages: every file here is one way to lock, and its name is the flag that chooses it.

Stages are copied, not inherited: the difference between a stage and the one it follows *is* the lesson.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path
from types import ModuleType

from app import plugins
from app.lock import Stage, Story


def stages() -> dict[str, Stage]:
    """All stages by name, in the order of the ladder: a stage comes after the one it follows, the longest branch first."""
    found = {name: _stage(file, name) for name, file in plugins.files(__name__).items()}
    children: dict[str | None, list[str]] = {}
    for name, stage in found.items():
        children.setdefault(stage.follows, []).append(name)

    def branch(name: str) -> list[str]:
        below = sorted((branch(child) for child in children.get(name, [])), key=len, reverse=True)
        return [name, *(step for steps in below for step in steps)]

    order = [step for root in children.get(None, []) for step in branch(root)]
    return {name: found[name] for name in order}


def stage(name: str) -> Stage:
    """One stage, by its name on the shelf or by the path of a file written like those here (``./my_lock.py``).

    Raises KeyError for a name that is not on the shelf, FileNotFoundError for a path that is not there.
    """
    if not name.endswith(".py"):
        return _stage(plugins.file(__name__, name), name)
    path = Path(name).resolve(strict=True)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be read as a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return _stage(module, path.stem)


def _stage(module: ModuleType, name: str) -> Stage:
    record = getattr(module, "STAGE", None)
    if not isinstance(record, Stage):
        raise ImportError(f"{module.__file__}: no STAGE = Stage(…) in it")  # noqa: TRY004 - the module is at fault, not a type
    return dataclasses.replace(record, name=name, story=Story.parse(module.__doc__ or ""))
