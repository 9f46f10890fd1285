"""Plug-ins: a package in which every file is one variant, found by its file's name."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
from types import ModuleType


def names(package: str) -> list[str]:
    """Return the names of a package's files, sorted. The package is given by its module name."""
    loaded = sys.modules.get(package)  # otherwise only looked for: importing some packages needs a store's library
    spec = None if loaded else importlib.util.find_spec(package)
    folders = loaded.__path__ if loaded else (spec and spec.submodule_search_locations) or []
    files = [file for folder in folders for file in os.listdir(folder)]  # noqa: PTH208 - quick, because it is asked often
    return sorted({file.removesuffix(".py") for file in files if file.endswith(".py")} - {"__init__"})


def file(package: str, name: str) -> ModuleType:
    """Import one file, and none of the libraries that the others need. Raises KeyError for a name without a file."""
    if name not in names(package):
        raise KeyError(name)
    return _imported(package, name)


def _imported(package: str, name: str) -> ModuleType:
    whole = f"{package}.{name}"
    loaded = sys.modules.get(whole)
    if loaded is not None and not getattr(loaded.__spec__, "_initializing", False):  # another thread may be importing it
        return loaded
    with contextlib.redirect_stdout(sys.stderr):  # what a file prints is not part of a command's output, which may be JSON
        return importlib.import_module(whole)


def files(package: str) -> dict[str, ModuleType]:
    """Import all files of a package, by name."""
    return {name: _imported(package, name) for name in names(package)}
