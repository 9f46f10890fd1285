"""The shelf of charts, one a file."""

from __future__ import annotations

from typing import cast

from app import plugins
from lab.report.chart import Chart


def charts(purpose: str) -> dict[str, Chart]:
    """The charts for ``one`` run or for ``many``, by file name; those for any are in both."""
    return {name: cast(Chart, file) for name, file in plugins.files(__name__).items() if file.FOR in (purpose, "any")}
