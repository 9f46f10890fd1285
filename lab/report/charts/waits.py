"""The long waits of many runs: what 1 in 100 grants waited longer than, by family."""

from __future__ import annotations

from lab.report.family_dots import FamilyDots
from lab.report.run_data import Result
from lab.report.statistics import Spread, mean
from lab.text import thousands


def p99(result: Result) -> Spread | None:
    """Return the wait that 1 in 100 grants exceeded; None where no request waited for a lock."""
    waits = [one.wait_p99_ms for one in result.repeats]
    return mean(waits) if result.series.wait_ms and min(waits) > 0 else None


CHART = FamilyDots(p99, lambda ms: thousands(ms) if ms >= 1 else f"{ms:.1g}", "waits")
fits, height, draw = CHART.fits, CHART.height, CHART.draw
