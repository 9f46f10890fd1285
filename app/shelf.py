"""A shelf: a package of which every file is one of a kind, and is asked for by its name."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def names(shelf: str) -> list[str]:
    """The files on a shelf, by the shelf's own module name."""
    return sorted(module.name for module in pkgutil.iter_modules(importlib.import_module(shelf).__path__))


def file(shelf: str, name: str) -> ModuleType:
    """One of them, and no other's libraries with it. Raises KeyError for a name that is not there."""
    if name not in names(shelf):
        raise KeyError(name)
    return importlib.import_module(f"{shelf}.{name}")


def files(shelf: str) -> dict[str, ModuleType]:
    """All of them by name."""
    return {name: importlib.import_module(f"{shelf}.{name}") for name in names(shelf)}
