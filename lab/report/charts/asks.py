"""The commands that an increment of many runs needs at the lock's store, by family."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.language.choice import Language
from lab.report import family_dots
from lab.report.chart import FEW, conditions, title
from lab.report.repeats import Spread, spread
from lab.report.run_data import Result
from lab.story.say import ENGLISH, text
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


def draw(axes: Axes, results: Sequence[Result], language: Language = ENGLISH) -> None:
    family_dots.draw(axes, results, language, commands, lambda number: thousands(number) if number >= 10 else f"{number:.2g}")
    axes.set_xlabel(text("chart", "asks", language))
    title(axes, _finding(results, language), conditions(results, language), family_dots.title_width(results, language))


def _finding(results: Sequence[Result], language: Language) -> str:
    found = [(asked.value, result) for result in results if (asked := commands(result))]
    if not found:
        return text("chart", "asks_none", language, len(results))
    most, dearest = max(found, key=lambda one: one[0])
    return text("chart", "asks_most", language, stage=dearest.label, most=thousands(most))
