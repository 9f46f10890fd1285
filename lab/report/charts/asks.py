"""The commands that an increment of many runs needs at the lock's store, by family."""

from __future__ import annotations

from lab.report.family_dots import FamilyDots
from lab.report.run_data import Result
from lab.report.statistics import Spread, mean
from lab.text import thousands


def commands(result: Result) -> Spread | None:
    """Return the commands per increment; None where the lock has no store."""
    numbers = [one.commands for one in result.repeats]
    return mean(numbers) if min(numbers) > 0 else None


CHART = FamilyDots(commands, lambda number: thousands(number) if number >= 10 else f"{number:.2g}", "asks")
fits, height, draw = CHART.fits, CHART.height, CHART.draw
