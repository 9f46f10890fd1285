"""The shelf of checks: a file for each claim, of the claim's name."""

from __future__ import annotations

import importlib
import pkgutil

from lab.check import Check


def checks() -> dict[str, Check]:
    """All checks, by the name of the claim they check."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").violations for name in names}
