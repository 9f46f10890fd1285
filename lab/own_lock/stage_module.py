"""A file with a STAGE as a module, and the record of a published library in it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from app.foreign.library import Library
from lab.errors import BadInput


def module_in(path: Path) -> ModuleType:
    """Execute a file, and return what it defines. Raises BadInput."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise BadInput(f"{path} cannot be read as a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def library_in(path: Path) -> Library | None:
    """Return the record of the library in a file with a STAGE; None where the file has none."""
    found = getattr(module_in(path), "LIBRARY", None)
    return found if isinstance(found, Library) else None
