"""The shelf of faults, one a file."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def faults() -> dict[str, Any]:
    """The harms, by file name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").Harm for name in names}
