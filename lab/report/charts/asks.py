"""The commands that an increment of many runs needs at the lock's store, by family."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report import family_dots
from lab.report.chart import FEW, conditions, title
from lab.report.repeats import Spread, spread
from lab.report.run_data import Result
from lab.text import thousands


def fits(results: Sequence[Result]) -> bool:
    """Return whether the runs are many, and one of them used a store for its lock."""
    return len(results) > FEW and any(commands(result) for result in results)


def height(results: Sequence[Result]) -> float:
    return family_dots.height(results)


def commands(result: Result) -> Spread | None:
    """Return the commands per increment; None where the lock has no store."""
    numbers = [one.commands for one in result.repeats]
    return spread(numbers) if min(numbers) > 0 else None


def draw(axes: Axes, results: Sequence[Result]) -> None:
    family_dots.draw(axes, results, commands, lambda number: thousands(number) if number >= 10 else f"{number:.2g}")
    axes.set_xlabel("commands per increment at the lock's store (logarithmic; red: it lost some)")
    title(axes, _finding(results), conditions(results), family_dots.title_width(results))


def _finding(results: Sequence[Result]) -> str:
    found = [(asked.value, result) for result in results if (asked := commands(result))]
    if not found:
        return f"None of the {len(results)} runs used a store for its lock"
    most, dearest = max(found, key=lambda one: one[0])
    return f"{dearest.label} needs the most commands for its lock: {thousands(most)} per increment"
