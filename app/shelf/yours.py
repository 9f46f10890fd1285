"""Packages of somebody's whose names the lab has as well, such as Flask's usual ``app``: they are imported below ``yours``.

``from yours.app.locks import MyLock`` is their ``app.locks``. If one of their own files says ``import app``, it gets theirs. A
folder without such a name is left alone.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

YOURS = "yours"
OURS = ("app", "lab", "locustfiles", "scenarios", "workers")
HOME = Path(__file__).parents[2]
FOLDERS: dict[Path, tuple[str, ...]] = {}  # of somebody's, with the names in them
STAGES: set[str] = set()  # the files of stages in them
IMPORT = builtins.__import__


def take(folder: Path, stage: Path | None = None) -> tuple[str, ...]:
    """Let the modules of a folder be imported, if it has names of ours. Return these names. stage: its file means ours."""
    STAGES.add(str(stage))
    names = () if folder == HOME else tuple(one for one in OURS if (folder / one).is_dir() or (folder / f"{one}.py").is_file())
    if names:
        FOLDERS[folder] = names
        sys.modules.setdefault(YOURS, ModuleType(YOURS)).__path__ = [*map(str, FOLDERS)]
        builtins.__import__ = _import
    return names


def meant(path: str, name: str) -> str:
    """Return the module that a file means by a name: its own below ``yours``, if it is not of a stage or of an environment."""
    names = next((names for folder, names in FOLDERS.items() if path.startswith(f"{folder}/")), ())
    is_theirs = name.partition(".")[0] in names and path not in STAGES and "/site-packages/" not in path
    return f"{YOURS}.{name}" if is_theirs else name


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,  # noqa: A002 - Python's name
    locals: Mapping[str, object] | None = None,  # noqa: A002 - as above
    fromlist: Sequence[str] | None = None,
    level: int = 0,
) -> ModuleType:
    """Import as Python does, but the module that the file means whose globals these are."""
    module = name if level or not globals else meant(str(globals.get("__file__")), name)
    found = IMPORT(module, globals, locals, fromlist or (), level)
    return found if module == name or fromlist else getattr(found, name.partition(".")[0])
