"""The charts, one in each file."""

from __future__ import annotations

from typing import cast

from app.shelf import plugins
from lab.report.chart import Chart

FIRST = "lost"  # the chart that answers what the ladder is run for


def charts() -> dict[str, Chart]:
    """Return the charts, by file name, in the order in which a page shows them."""
    found = {name: cast(Chart, file) for name, file in plugins.files(__name__).items()}
    return {FIRST: found.pop(FIRST)} | found
