"""The charts, one in each file."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import cast

from app import plugins
from lab.report.chart import OPTIONAL, Chart


def charts(purpose: str) -> dict[str, Chart]:
    """Return the charts for ``one`` run or for ``many``, by file name. Charts for ``any`` are in both."""
    return {name: _complete(file) for name, file in plugins.files(__name__).items() if file.FOR in (purpose, "any")}


def _complete(file: ModuleType) -> Chart:
    """Return the chart of a file, with the default of each optional member that the file leaves out."""
    return cast(Chart, SimpleNamespace(**(OPTIONAL | vars(file))))
