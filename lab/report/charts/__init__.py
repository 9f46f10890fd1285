"""The charts, one in each file."""

from __future__ import annotations

from typing import cast

from app import plugins
from lab.report.chart import Chart


def charts() -> dict[str, Chart]:
    """Return the charts, by file name."""
    return {name: cast(Chart, file) for name, file in plugins.files(__name__).items()}
