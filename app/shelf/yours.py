"""Import packages of a user below ``yours`` if the lab has a package with the same name, such as Flask's usual ``app``.

``from yours.app.locks import MyLock`` imports the user's ``app.locks``. ``import app`` in a file of the user imports the user's
``app``. In a folder that has none of the lab's names, imports are unchanged.
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
FOLDERS: dict[Path, tuple[str, ...]] = {}  # the users' folders, with the names that the lab has too
STAGES: set[str] = set()  # the files of stages in these folders
IMPORT = builtins.__import__


def take(folder: Path, stage: Path | None = None) -> tuple[str, ...]:
    """Let a user's modules be imported, if the folder has names of ours. Return these names. stage: this file imports ours."""
    STAGES.add(str(stage))
    names = () if folder == HOME else tuple(name for name in OURS if _has_module(folder, name))
    if names:
        FOLDERS[folder] = names
        sys.modules.setdefault(YOURS, ModuleType(YOURS)).__path__ = [*map(str, FOLDERS)]
        builtins.__import__ = _import
    return names


def _has_module(folder: Path, name: str) -> bool:
    return (folder / name).is_dir() or (folder / f"{name}.py").is_file()


def meant(path: str, name: str) -> str:
    """Return the module that a name in a file stands for: the user's, below ``yours``, except in a stage or an environment."""
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
    """Import as Python does, but for a file of a user the module that ``meant`` returns. globals: the globals of the file."""
    module = name if level or not globals else meant(str(globals.get("__file__")), name)
    imported = IMPORT(module, globals, locals, fromlist or (), level)
    return imported if module == name or fromlist else getattr(imported, name.partition(".")[0])
