"""The shelf of sweeps, one a file."""

from __future__ import annotations

import importlib
import pkgutil

from lab.sweep import Sweep


def names() -> list[str]:
    """The sweeps there are."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Sweep:
    """A sweep by its file's name, which must be one of ``names()``."""
    sweep: Sweep = importlib.import_module(f"{__name__}.{name}").SWEEP
    return sweep
