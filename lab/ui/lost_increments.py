"""The picture of Locust's tab *Lost increments*: of all runs since the pages were opened, so it grows with each run."""

from __future__ import annotations

from pathlib import Path

import msgspec

from lab.report import chart, run_data
from lab.report.charts import lost
from lab.report.run_data import Result


class LostIncrements:
    """The runs so far, and their picture in a file of this folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lost.svg"
        self._runs: list[Result] = []

    def add(self, run: Path) -> str:
        """Add the run of a folder, and return the picture of all runs as SVG."""
        self._runs.append(run_data.load(run))
        scenarios = {one.record.scenario["name"] for one in self._runs}
        named = [_named(one) if len(scenarios) > 1 else one for one in self._runs]
        return chart.save(lost, named, self._path).read_text(encoding="utf-8")


def _named(result: Result) -> Result:
    return msgspec.structs.replace(result, given_label=f"{result.named()} · {result.record.scenario['name']}")
