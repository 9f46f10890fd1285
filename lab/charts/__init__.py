"""The shelf of charts, one a file."""

from __future__ import annotations

import importlib
import pkgutil

from lab.chart import Chart


def charts(purpose: str) -> dict[str, Chart]:
    """The charts for ``one`` run or for ``many``, by file name; those for any are in both."""
    modules = {module.name: importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)}
    return {name: module for name, module in sorted(modules.items()) if module.FOR in (purpose, "any")}
