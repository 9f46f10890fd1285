"""The shelf of measurements, one a file."""

from __future__ import annotations

import importlib
import pkgutil

from lab.bench import Bench


def benches() -> dict[str, Bench]:
    """All measurements, by file name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}") for name in names}
